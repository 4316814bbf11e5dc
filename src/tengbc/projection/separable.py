"""The separable projection: the head is solved exactly, the body takes damped steps.

u_θ is linear in its head, so for a given body the best head is one linear least-squares solve.
Eliminating it (variable projection: Golub & Pereyra, in Kaufman's form) leaves a problem for the
body alone, whose Jacobian is J_body with the span of the features projected out:

    Φ = ∂(u, g)/∂head = QR,   J' = J_body − Q(QᵀJ_body),   δ = argmin ‖r − J'δ‖² + λ‖δ‖²
"""

import functools
from dataclasses import dataclass
from typing import cast

import numpy as np
import scipy.linalg as sla
from jaxtyping import Float

from tengbc.errors import NonFiniteError
from tengbc.journal import NO_STAGE, Snapshot, Stage
from tengbc.projection.collocation import Collocation
from tengbc.projection.damped import DampedNormalEquations
from tengbc.projection.fit import Fit
from tengbc.projection.subset import draw_subset

Array = np.ndarray
SMALLEST_DAMPING = 1e-13
"""Relative to the mean square of the columns; with less the matrix is as good as singular."""
ROUND_OFF = 1 + 1e-12
"""A residual larger by less has not risen."""
ATTEMPTS = 12
"""How often the damping of one step is raised at most, fourfold each time."""
PROBE = 0.1
"""The part of a step after which the residual's second derivative along it is measured."""
MOST_BENT = 0.375
"""A bend that is a larger part of the step says that the step is too long to be trusted."""


@dataclass(frozen=True)
class SeparableProjection:
    """Head exactly, then damped Gauss–Newton steps of the body until nothing more is gained.

    With `acceleration` a step follows the bend of the valley it is in: δ + ½a, where a answers the
    residual's second derivative along δ (geodesic acceleration: Transtrum & Sethna 2012).

    Stops when the residual is below `tolerance` times the target's norm, when `patience`
    iterations gained less than `gain` of it, or after `iterations`. `subset` limits the body
    columns of one step (None: all).
    """

    iterations: int = 200
    subset: int | None = None
    tolerance: float = 1e-13
    patience: int = 20
    gain: float = 0.05
    cutoff: float = 1e-13
    damping: float = 1e-2
    acceleration: bool = False

    def fit(
        self,
        theta: Float[Array, " p"],
        collocation: Collocation,
        target: Float[Array, "n m"],
        t: float,
        key: tuple[int, ...],
        first: bool = False,
        progress=None,
        stage: Stage = NO_STAGE,
    ) -> Fit:
        """Make u_θ the target inside and g(u_θ) zero on the boundary, at time t.

        Where `stage` recalls an earlier fit, that one goes on.
        """
        head = np.arange(len(theta))[collocation.parameters.head]
        width = int(head[0])
        solve_head = functools.partial(
            _solve_head, collocation=collocation, target=target, t=t, head=head, cutoff=self.cutoff
        )
        start = float(np.linalg.norm(collocation.residual(theta, target, t)))
        whole = collocation.norm(target)
        before = stage.recall()
        if before is None:
            state = solve_head(theta)
            damping, sizes, rejected = self.damping, [state.size], 0
        else:  # θ as it was before its head was solved: that gives the same head and span again
            tried = before.arrays["theta"]
            state = solve_head(tried)
            sizes = before.arrays["sizes"].tolist()
            damping, rejected = before.facts["damping"], before.facts["rejected"]
        for iteration in range(len(sizes) - 1, self.iterations if width else 0):
            done = state.size <= self.tolerance * whole or self._stagnates(sizes)
            if done or stage.stopping:
                break
            body = draw_subset(width, self.subset or width, (*key, iteration))
            columns = collocation.columns(state.theta, t, body)
            columns -= (columns @ state.q) @ state.q.T
            normal = DampedNormalEquations(columns, state.residual)
            for attempt in range(ATTEMPTS):
                if attempt:
                    rejected, damping = rejected + 1, damping * 4
                try:
                    solve = normal.factor(damping)
                    step = solve(state.residual)
                    predicted = normal.predicted_residual(step)
                    if self.acceleration:
                        probe = solve_head(_moved(state.theta, body, PROBE * step))
                        change = (probe.residual - state.residual) / PROBE + step @ columns
                        bend = solve(change / PROBE)
                        if np.linalg.norm(bend) > MOST_BENT * np.linalg.norm(step):
                            continue
                        step = step + bend
                    trial = _moved(state.theta, body, step)
                    found = solve_head(trial)
                    if found.size < state.size:
                        break
                # Too little damping: the matrix is singular, or the step goes where g overflows.
                except (np.linalg.LinAlgError, NonFiniteError):
                    continue
            else:
                rejected += 1
                break
            # How much of the promised decrease came true decides the next damping.
            truth = (state.size - found.size) / max(state.size - predicted, 1e-300)
            damping *= 0.2 if truth > 0.7 else 0.5 if truth > 0.3 else 1.5
            damping = max(damping, SMALLEST_DAMPING)
            state = found
            sizes.append(state.size)
            stage.offer(functools.partial(_snapshot, trial, sizes, damping, rejected))
            if progress is not None and progress(iteration, state.size):
                break  # asked to be content with what there is
        accepted = len(sizes) - 1
        return Fit(
            state.theta, state.size, start, whole, state.rank, state.condition, accepted, rejected
        )

    def _stagnates(self, sizes: list[float]) -> bool:
        return (
            len(sizes) > self.patience and sizes[-1] > (1 - self.gain) * sizes[-1 - self.patience]
        )


def _moved(theta: Float[Array, " p"], body: Array, step: Array) -> Float[Array, " p"]:
    moved = theta.copy()
    moved[body] += step
    return moved


def _snapshot(trial: Array, sizes: list[float], damping: float, rejected: int) -> Snapshot:
    arrays = {"theta": trial, "sizes": np.array(sizes)}
    return Snapshot(arrays, {"damping": damping, "rejected": rejected})


@dataclass(frozen=True)
class _HeadFit:
    """θ with the best head for its body; q spans what the head can reach."""

    theta: Float[Array, " p"]
    residual: Float[Array, " r"]
    size: float
    q: Float[Array, "r k"]
    rank: int
    condition: float


def _solve_head(theta, collocation: Collocation, target, t, head, cutoff: float) -> _HeadFit:
    """The change of the head that minimises the residual, singular values cut at `cutoff`.

    Conditions that are not linear in u are linearised: the head's step is then a Gauss–Newton step,
    shortened where the true residual would rise.
    """
    residual = collocation.residual(theta, target, t)
    start = float(np.linalg.norm(residual))
    columns = collocation.columns(theta, t, head)
    factors = sla.qr(columns.T, mode="economic", check_finite=False)
    q, r = cast("tuple[Array, Array]", factors)
    left, singular, right = sla.svd(r, check_finite=False)
    rank = max(1, int(np.count_nonzero(singular > cutoff * singular[0])))
    span = q @ left[:, :rank]
    step = right[:rank].T @ ((span.T @ residual) / singular[:rank])
    condition = float(singular[0] / singular[rank - 1])
    for fraction in (1.0, 0.5, 0.2, 0.05):
        trial = theta.copy()
        trial[head] += fraction * step
        try:
            found = collocation.residual(trial, target, t)
        except NonFiniteError:
            continue
        size = float(np.linalg.norm(found))
        if size <= start * ROUND_OFF:
            return _HeadFit(trial, found, size, span, rank, condition)
    return _HeadFit(theta, residual, start, span, rank, condition)
