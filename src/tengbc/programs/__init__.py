"""Traced functions run by NumPy, so that nothing has to be compiled on the way to a value."""

from tengbc.programs.vectorised import Vectorised as Vectorised
