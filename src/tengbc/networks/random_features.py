"""One hidden layer of random ridges: features that need no training for smooth problems."""

from tengbc.geometry.domain import Domain
from tengbc.networks.network import Network, mlp


def random_features(
    domain: Domain, count: int, components: int = 0, *, activation: str = "tanh", seed: int = 0
) -> Network:
    """`count` features σ(wᵀx + b), each ridge through a random point of the domain."""
    return mlp(domain, components, widths=(count,), activation=activation, seed=seed)
