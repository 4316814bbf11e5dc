"""Equations ∂ₜu = L(u, x, t): one small file each, all of them additive."""

from tengbc.equations.allen_cahn import AllenCahn as AllenCahn
from tengbc.equations.base import AbstractEquation as AbstractEquation
from tengbc.equations.base import Equation as Equation
from tengbc.equations.burgers import Burgers as Burgers
from tengbc.equations.diffusion import Diffusion as Diffusion
from tengbc.equations.heat import Heat as Heat
from tengbc.equations.reaction_diffusion import Reaction as Reaction
from tengbc.equations.reaction_diffusion import ReactionDiffusion as ReactionDiffusion
from tengbc.equations.source import Source as Source
from tengbc.equations.transport import Transport as Transport
