"""make bench: all performance claims, one after the other."""

from benchmarks import linear, long_time, scaling

linear.main()
print()
scaling.main()
print()
long_time.main()
