"""Waves on a periodic box: lattices, their transforms, values anywhere, equations by points."""

from tengbc.fourier.interpolation import Interpolation as Interpolation
from tengbc.fourier.lattice import Lattice as Lattice
from tengbc.fourier.lattice import box_lattice as box_lattice
from tengbc.fourier.local_rates import Derivatives as Derivatives
from tengbc.fourier.local_rates import local_rates as local_rates
from tengbc.fourier.local_rates import needed_derivatives as needed_derivatives
