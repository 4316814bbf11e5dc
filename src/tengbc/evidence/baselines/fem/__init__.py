"""Quadratic finite elements on scikit-fem (extra `tengbc[fem]`): a good user's solver."""

from tengbc.evidence.baselines.fem.solution import FemSolution as FemSolution
from tengbc.evidence.baselines.fem.solve import BudgetError as BudgetError
from tengbc.evidence.baselines.fem.solve import solve_fem as solve_fem
