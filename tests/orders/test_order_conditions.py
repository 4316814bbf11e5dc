"""The order conditions of Butcher: one for each rooted tree of up to p nodes."""

import numpy as np
import pytest

from tengbc.schemes import Tableau, tableau

Tree = tuple  # a tree is the sorted tuple of the trees that hang from its root
TABLEAUX = [method for method in vars(tableau).values() if isinstance(method, Tableau)]


def size(tree: Tree) -> int:
    return 1 + sum(size(child) for child in tree)


def grown(tree: Tree) -> set[Tree]:
    """All trees with one leaf more."""
    found = {tuple(sorted((*tree, ())))}
    for i, child in enumerate(tree):
        rest = tree[:i] + tree[i + 1 :]
        found |= {tuple(sorted((*rest, larger))) for larger in grown(child)}
    return found


def trees(nodes: int) -> set[Tree]:
    if nodes == 1:
        return {()}
    return set().union(*(grown(tree) for tree in trees(nodes - 1)))


def density(tree: Tree) -> int:
    """γ: the size of the tree times the densities of what hangs from its root."""
    return size(tree) * int(np.prod([density(child) for child in tree], dtype=int))


def stage_weights(tree: Tree, a: np.ndarray) -> np.ndarray:
    """Πₖ (A·weights of child k), stage by stage: the tree's elementary differential."""
    result = np.ones(len(a))
    for child in tree:
        result = result * (a @ stage_weights(child, a))
    return result


def defect(tree: Tree, method: Tableau) -> float:
    """|b·weights − 1/γ|, zero where the method integrates this elementary differential exactly."""
    a, b = np.array(method.a), np.array(method.b)
    return abs(b @ stage_weights(tree, a) - 1 / density(tree))


def test_there_are_as_many_trees_as_is_known():
    assert [len(trees(nodes)) for nodes in range(1, 6)] == [1, 1, 2, 4, 9]


@pytest.mark.parametrize("method", TABLEAUX, ids=lambda method: method.name)
def test_the_conditions_hold_up_to_the_order(method):
    for nodes in range(1, method.order + 1):
        for tree in trees(nodes):
            assert defect(tree, method) <= 1e-14, tree


@pytest.mark.parametrize("method", TABLEAUX, ids=lambda method: method.name)
def test_the_stated_order_is_not_too_modest(method):
    assert max(defect(tree, method) for tree in trees(method.order + 1)) > 1e-3


@pytest.mark.parametrize("method", TABLEAUX, ids=lambda method: method.name)
def test_the_times_of_the_stages_are_the_sums_of_their_rows(method):
    assert np.abs(np.sum(method.a, axis=1) - method.c).max() <= 1e-14


def test_ten_stages_are_stable_far_out_on_the_real_axis():
    """R(z) = 1 + z bᵀ(I − zA)⁻¹1, between −13.9 and 0 and in a strip around it."""
    a, b = np.array(tableau.SSP104.a), np.array(tableau.SSP104.b)
    amplified = lambda z: abs(1 + z * b @ np.linalg.solve(np.eye(10) - z * a, np.ones(10)))
    assert max(amplified(z) for z in np.linspace(-13.9, 0, 400)) <= 1 + 1e-12
    assert max(amplified(z + 2j) for z in np.linspace(-11.9, -0.1, 400)) <= 1
    assert amplified(-14.0) > 1
