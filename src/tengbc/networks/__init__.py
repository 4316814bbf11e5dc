"""Networks u_θ(x) = head · body(x): what is linear in its parameters is told from what is not."""

from tengbc.networks.basis import Basis as Basis
from tengbc.networks.body import AbstractBody as AbstractBody
from tengbc.networks.layers import Dense as Dense
from tengbc.networks.layers import DenseLayers as DenseLayers
from tengbc.networks.maps import GradedAxes as GradedAxes
from tengbc.networks.maps import GradedAxis as GradedAxis
from tengbc.networks.maps import PeriodicEmbedding as PeriodicEmbedding
from tengbc.networks.network import Network as Network
from tengbc.networks.network import Parameters as Parameters
from tengbc.networks.network import mlp as mlp
from tengbc.networks.patches import PatchBody as PatchBody
from tengbc.networks.potential import DeformedWaves as DeformedWaves
from tengbc.networks.potential import PotentialMap as PotentialMap
from tengbc.networks.waves import random_features as random_features
