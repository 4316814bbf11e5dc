"""Solvers side by side: the same problem, the same seconds, the same points of evaluation."""
