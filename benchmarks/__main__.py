"""make bench: all performance claims, one after the other."""

from benchmarks import linear, long_time, ordinary, scaling

linear.main()
print()
scaling.main()
print()
long_time.main()
print()
ordinary.table(ordinary.SHORT, ordinary.RTOLS, ordinary.SHORT_LIMIT)
