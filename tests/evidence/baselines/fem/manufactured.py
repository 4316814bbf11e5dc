"""Problems made from their solution: source and boundary data follow from it by differentiation."""

import jax
import jax.numpy as jnp
import numpy as np

import tengbc as tb


def manufactured(domain, exact, operator, laws, normals, t_end=1.0):
    """∂ₜu = operator(u) + f with the law a·u + b·∂ₙu = v for (a, b) = laws[segment](x)."""

    def source(x, t):
        rate = jax.jvp(lambda s: exact(x, s), (jnp.asarray(t, dtype=float),), (1.0,))[1]
        return rate - operator.rhs(lambda y: exact(y, t), x, t)

    def condition(segment):
        def v(x, t):
            a, b = laws[segment](x)
            slope = tb.normal_derivative(lambda y: exact(y, t))(x, normals[segment](x))
            return a * exact(x, t) + b * slope

        a, b = laws[segment](jnp.zeros(2))
        if callable_law(laws[segment]):
            return tb.Robin(lambda x: laws[segment](x)[0], lambda x: laws[segment](x)[1], v)
        return tb.Robin(float(a), float(b), v)

    return tb.Problem(
        domain=domain,
        equation=operator + tb.Source(source),
        conditions={segment: condition(segment) for segment in domain.segments},
        initial=lambda x: exact(x, 0.0),
        exact=exact,
        t_end=t_end,
    )


def callable_law(law):
    """Whether a law says that it varies from point to point."""
    return getattr(law, "varies", False)


def varying(law):
    law.varies = True
    return law


DIRICHLET = lambda x: (1.0, 0.0)
NEUMANN = lambda x: (0.0, 1.0)
ROBIN = lambda x: (2.0, 0.5)


@varying
def variable_robin(x):
    return 1.0 + x[0] ** 2, 2.0 + x[1]


def box_normals():
    sides = {"left": (-1.0, 0.0), "right": (1.0, 0.0), "bottom": (0.0, -1.0), "top": (0.0, 1.0)}
    return {name: (lambda x, n=n: jnp.array(n)) for name, n in sides.items()}


def radial(sign):
    return lambda x: sign * x / jnp.linalg.norm(x)


def l2_error(problem, solution, t):
    """‖u − exact‖ over the true domain, at points that know nothing of the mesh."""
    points = problem.domain.interior(n=20_000)
    difference = solution(points.x, t) - problem.exact(points.x, t)
    return float(np.sqrt(np.sum(points.w * difference**2)))


def slopes(errors, ratio=2.0):
    """Observed orders between successive runs."""
    errors = np.array(errors)
    return np.log(errors[:-1] / errors[1:]) / np.log(ratio)
