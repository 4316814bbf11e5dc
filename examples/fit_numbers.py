"""Numbers from measurements: how well a plate conducts, and how fast it gives heat away."""

import numpy as np

import tengbc as tb


def plate(kappa, h):
    """A plate along its thickness: insulated on the left, cooled on the right."""
    return tb.Problem(
        domain=tb.Interval(0.0, 1.0),
        equation=tb.Heat(kappa),
        conditions={"left": tb.Neumann(0.0), "right": tb.Robin(a=h, b=kappa, v=0.0)},
        initial=lambda x: 64 * (x[0] * (1 - x[0])) ** 3,
        t_end=1.0,
    )


# Eight sensors, read at 25 times, with noise of one per cent: what an experiment would give.
sensors, times = np.linspace(0.05, 0.97, 8), np.linspace(0.04, 1.0, 25)
truth = tb.solve(plate(kappa=0.1, h=0.05), throw=False).at_times(sensors, times)
values = truth * (1 + 0.01 * np.random.default_rng(1).normal(size=truth.shape))

found = tb.fit(plate, (sensors, times, values), start={"kappa": 0.2, "h": 0.1}, rtol=1e-4)
print(found)
for name, (low, high) in found.intervals.items():
    print(f"{name} lies between {low:.4f} and {high:.4f}")
found.plot()[0].figure.savefig("fit_numbers.png", dpi=100)

# A family of solutions in one go.
for solution in tb.solve_many(plate, [{"kappa": 0.1, "h": h} for h in (0.0, 0.5)], rtol=1e-4):
    print(f"heat left at the end: {solution.integral(1.0):.4f}")
