"""tengbc: march a neural network through time, boundary conditions included, error stated.

Names are imported when first used, so that the command line answers before JAX is loaded.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tengbc import problems as problems
    from tengbc.conditions import Condition as Condition
    from tengbc.conditions import Dirichlet as Dirichlet
    from tengbc.conditions import Neumann as Neumann
    from tengbc.conditions import Robin as Robin
    from tengbc.equations import AllenCahn as AllenCahn
    from tengbc.equations import Burgers as Burgers
    from tengbc.equations import Equation as Equation
    from tengbc.equations import Heat as Heat
    from tengbc.equations import Reaction as Reaction
    from tengbc.equations import ReactionDiffusion as ReactionDiffusion
    from tengbc.equations import Source as Source
    from tengbc.equations import Transport as Transport
    from tengbc.errors import CheckpointError as CheckpointError
    from tengbc.errors import DivergedError as DivergedError
    from tengbc.errors import NonFiniteError as NonFiniteError
    from tengbc.errors import OutputError as OutputError
    from tengbc.errors import OutsideError as OutsideError
    from tengbc.errors import ProblemError as ProblemError
    from tengbc.errors import TengbcError as TengbcError
    from tengbc.errors import ToleranceError as ToleranceError
    from tengbc.errors import UsageError as UsageError
    from tengbc.fields import directional_derivative as directional_derivative
    from tengbc.fields import divergence as divergence
    from tengbc.fields import gradient as gradient
    from tengbc.fields import laplacian as laplacian
    from tengbc.fields import normal_derivative as normal_derivative
    from tengbc.geometry import AnnularSector as AnnularSector
    from tengbc.geometry import Annulus as Annulus
    from tengbc.geometry import Ball as Ball
    from tengbc.geometry import BoundaryPoints as BoundaryPoints
    from tengbc.geometry import Box as Box
    from tengbc.geometry import Disk as Disk
    from tengbc.geometry import Domain as Domain
    from tengbc.geometry import Interval as Interval
    from tengbc.geometry import PeriodicBox as PeriodicBox
    from tengbc.geometry import Points as Points
    from tengbc.geometry import Polygon as Polygon
    from tengbc.geometry import Rectangle as Rectangle
    from tengbc.networks import Basis as Basis
    from tengbc.networks import Network as Network
    from tengbc.networks import mlp as mlp
    from tengbc.networks import random_features as random_features
    from tengbc.outcome import Outcome as Outcome
    from tengbc.outcome import Result as Result
    from tengbc.problem import Problem as Problem
    from tengbc.reference import Reference as Reference
    from tengbc.report.write import write_report as write_report
    from tengbc.solution import Solution as Solution
    from tengbc.solver import solve as solve
    from tengbc.storage import load as load

_HOMES = {
    "conditions": ("Condition", "Dirichlet", "Neumann", "Robin"),
    "equations": (
        "AllenCahn",
        "Burgers",
        "Equation",
        "Heat",
        "Reaction",
        "ReactionDiffusion",
        "Source",
        "Transport",
    ),
    "errors": (
        "CheckpointError",
        "DivergedError",
        "NonFiniteError",
        "OutputError",
        "OutsideError",
        "ProblemError",
        "TengbcError",
        "ToleranceError",
        "UsageError",
    ),
    "fields": (
        "directional_derivative",
        "divergence",
        "gradient",
        "laplacian",
        "normal_derivative",
    ),
    "geometry": (
        "AnnularSector",
        "Annulus",
        "Ball",
        "BoundaryPoints",
        "Box",
        "Disk",
        "Domain",
        "Interval",
        "PeriodicBox",
        "Points",
        "Polygon",
        "Rectangle",
    ),
    "networks": ("Basis", "Network", "mlp", "random_features"),
    "problem": ("Problem",),
    "reference": ("Reference",),
    "report.write": ("write_report",),
    "outcome": ("Outcome", "Result"),
    "solution": ("Solution",),
    "solver": ("select_strategy", "solve"),
    "storage": ("load",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = [*_HOME_OF, "problems"]


def __getattr__(name: str):
    if name == "problems":
        return importlib.import_module("tengbc.problems")
    if name not in _HOME_OF:
        raise AttributeError(f"tengbc has no {name!r}")
    value = getattr(importlib.import_module(f"tengbc.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)
