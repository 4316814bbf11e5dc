"""Waves on a periodic box: lattices, their transforms, values anywhere."""

from tengbc.fourier.interpolation import Interpolation as Interpolation
from tengbc.fourier.lattice import Lattice as Lattice
from tengbc.fourier.lattice import box_lattice as box_lattice
