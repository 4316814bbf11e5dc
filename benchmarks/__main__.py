"""make bench: all performance claims, one after the other."""

from benchmarks import linear, scaling

linear.main()
print()
scaling.main()
