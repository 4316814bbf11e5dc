"""solve(): strategies, the one verified loop, and the march."""

from tengbc.solver.solve import solve as solve
from tengbc.solver.strategies import add_strategy as add_strategy
from tengbc.solver.strategies import select_strategy as select_strategy
