"""solve(): the loop around projections and schemes, and what it returns."""

from tengbc.solver.outcome import Outcome as Outcome
from tengbc.solver.outcome import Result as Result
from tengbc.solver.record import Record as Record
from tengbc.solver.solution import Solution as Solution
from tengbc.solver.solve import solve as solve
