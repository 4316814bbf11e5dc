"""solve(): strategies, the one verified loop, and the march."""

from tengbc.solver.parameters import Estimation as Estimation
from tengbc.solver.parameters import fit as fit
from tengbc.solver.parameters import solve_many as solve_many
from tengbc.solver.solve import solve as solve
from tengbc.solver.strategies import add_strategy as add_strategy
from tengbc.solver.strategies import select_strategy as select_strategy
