"""Finite elements of high order on NGSolve (extra `tengbc[hpfem]`), Radau IIA in time."""

from tengbc.evidence.baselines.hpfem.solve import HpSettings as HpSettings
from tengbc.evidence.baselines.hpfem.solve import HpSolution as HpSolution
from tengbc.evidence.baselines.hpfem.solve import solve_hpfem as solve_hpfem
