"""What comes again is not made again, and what differs is told apart."""

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.patches import library
from tengbc.patches.form import EnergyForm
from tengbc.patches.library import cells_of, form_over


def leaves_of(cuts, degree=3):
    return tuple(sorted((cell, degree) for cut in cuts for cell in cut.grid.cells))


def test_equal_domains_share_their_cells_and_others_do_not():
    assert cells_of(tb.Disk(1.0)) is cells_of(tb.Disk(1.0))
    assert cells_of(tb.Disk(1.0)) is not cells_of(tb.Disk(1.5))
    assert cells_of(tb.Disk(1.0)) is not cells_of(tb.Disk(1.0, (0.1, 0.0)))


def test_a_domain_without_a_hash_is_cut_anew():
    class Own(type(tb.Rectangle())):
        __hash__ = None

    domain = Own.__new__(Own)
    vars(domain).update(vars(tb.Rectangle()))
    assert cells_of(domain) is not cells_of(domain)


def test_forms_are_made_once_and_handed_out_as_copies(monkeypatch):
    library._form_over.cache_clear()
    made = []
    monkeypatch.setattr(library, "EnergyForm", lambda *a: made.append(a) or EnergyForm(*a))
    cut = cells_of(tb.Disk(1.0))
    first, again = (form_over(cut, leaves_of(cut), 1) for _ in range(2))
    assert len(made) == 1 and first is not again
    assert form_over(cut, leaves_of(cut, 4), 1).size > first.size
    assert form_over(cut, leaves_of(cut), 2).size == 2 * first.size
    assert len(made) == 3
    library._form_over.cache_clear()


@pytest.mark.parametrize("kappa", [0.1, 0.3])
def test_a_loop_gives_the_bits_of_a_fresh_start(kappa):
    def values(number):
        laws = {"circle": tb.Robin(a=1.0, b=number, v=0.0)}
        bump = lambda x: (1 - jnp.sum(x**2)) ** 3
        problem = tb.Problem(tb.Disk(), tb.Heat(number), laws, bump)
        return tb.solve(problem, t_end=0.2, rtol=1e-3)(problem.domain.interior(50).x, t=0.2)

    values(0.2)
    after_another = values(kappa)
    library._form_over.cache_clear()
    library._cells_of.cache_clear()
    np.testing.assert_array_equal(after_another, values(kappa))
