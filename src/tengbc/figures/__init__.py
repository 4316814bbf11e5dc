"""Pictures of a solution (extra `tengbc[plot]`): lines, filled maps, slices, animations."""

from tengbc.figures.plot import animate as animate
from tengbc.figures.plot import plot as plot
from tengbc.figures.plot import plot_error as plot_error
