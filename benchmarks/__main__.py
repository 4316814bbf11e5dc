"""make bench: all performance claims, one after the other."""

from benchmarks import long_time, ordinary, scaling, seconds

seconds.table(seconds.REPEATS)
print()
scaling.main()
print()
long_time.main()
print()
ordinary.table(ordinary.SHORT, ordinary.RTOLS, ordinary.SHORT_LIMIT)
