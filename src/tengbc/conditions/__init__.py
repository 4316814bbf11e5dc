"""Boundary conditions: one linear law a·u + b·∂ₙu = v, and residuals of one's own."""

from tengbc.conditions.base import AbstractCondition as AbstractCondition
from tengbc.conditions.base import Condition as Condition
from tengbc.conditions.contact import Contact as Contact
from tengbc.conditions.free import Free as Free
from tengbc.conditions.free import Together as Together
from tengbc.conditions.robin import Dirichlet as Dirichlet
from tengbc.conditions.robin import Neumann as Neumann
from tengbc.conditions.robin import Robin as Robin
