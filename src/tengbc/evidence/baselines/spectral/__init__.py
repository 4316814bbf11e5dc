"""Fourier series on periodic boxes: the classical solver to beat there, and our reference."""

from tengbc.evidence.baselines.spectral.solve import SpectralSolution as SpectralSolution
from tengbc.evidence.baselines.spectral.solve import solve_spectral as solve_spectral
