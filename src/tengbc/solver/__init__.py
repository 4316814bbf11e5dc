"""solve(): the loop around projections and schemes, and what it returns."""

from tengbc.history import Record as Record
from tengbc.outcome import Outcome as Outcome
from tengbc.outcome import Result as Result
from tengbc.solver.solution import Solution as Solution
from tengbc.solver.solve import solve as solve
