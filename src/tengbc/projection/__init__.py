"""The heart: rows over the closed domain → residual and Jacobian columns → new parameters θ."""

from tengbc.projection.blocked import BlockedCollocation as BlockedCollocation
from tengbc.projection.collocation import Collocation as Collocation
from tengbc.projection.fit import AnyCollocation as AnyCollocation
from tengbc.projection.fit import Fit as Fit
from tengbc.projection.fit import Projection as Projection
from tengbc.projection.separable import SeparableProjection as SeparableProjection
from tengbc.projection.subset import SubsetProjection as SubsetProjection
