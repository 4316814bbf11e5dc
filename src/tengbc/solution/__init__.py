"""The solution: what a run hands back, and what follows from it."""

from tengbc.solution.solution import Solution as Solution
