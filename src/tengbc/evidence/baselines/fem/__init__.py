"""Quadratic finite elements on scikit-fem (extra `tengbc[fem]`): a good user's solver."""

from tengbc.evidence.baselines.fem.clock import BudgetError as BudgetError
from tengbc.evidence.baselines.fem.solution import FemSolution as FemSolution
from tengbc.evidence.baselines.fem.solve import solve_fem as solve_fem
from tengbc.evidence.baselines.fem.sweep import FemSweep as FemSweep
from tengbc.evidence.baselines.fem.sweep import best_fem as best_fem
from tengbc.evidence.baselines.fem.sweep import sweep_fem as sweep_fem
from tengbc.evidence.baselines.fem.trials import FemTrial as FemTrial
