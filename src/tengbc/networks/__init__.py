"""Networks u_θ(x) = head · body(x): what is linear in its parameters is told from what is not."""

from tengbc.networks.activations import activation_names as activation_names
from tengbc.networks.basis import Basis as Basis
from tengbc.networks.body import AbstractBody as AbstractBody
from tengbc.networks.crowding import CrowdedAxes as CrowdedAxes
from tengbc.networks.crowding import Crowding as Crowding
from tengbc.networks.deformed_waves import DeformedWaves as DeformedWaves
from tengbc.networks.embedding import PeriodicEmbedding as PeriodicEmbedding
from tengbc.networks.layers import DenseLayers as DenseLayers
from tengbc.networks.network import Network as Network
from tengbc.networks.network import mlp as mlp
from tengbc.networks.parameters import Parameters as Parameters
from tengbc.networks.random_features import random_features as random_features
