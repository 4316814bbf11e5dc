"""A solution to a file and back, to the last bit."""

import os
from pathlib import Path
from typing import Any

import jax
import numpy as np

from tengbc.errors import CheckpointError, UsageError
from tengbc.history import History, as_history
from tengbc.networks import AbstractBody, Network, Parameters
from tengbc.networks.network import with_head
from tengbc.outcome import Outcome, Result
from tengbc.problem import Problem
from tengbc.solution import Solution
from tengbc.storage.atomic import write_atomically
from tengbc.storage.checksummed import pack, plain, unpack, unpack_bytes
from tengbc.storage.codec import decode, encode
from tengbc.storage.stored_problem import describe_problem, restore_problem

FORM = "tengbc solution 2"
"""What the file calls itself; the number grows when an older program could not read it."""


def save(solution: Solution, path: str | os.PathLike[str]) -> Path:
    """Write a solution to one safetensors file, whole or not at all."""
    written = Path(path)
    write_atomically(written, to_bytes(solution))
    return written


def to_bytes(solution: Solution) -> bytes:
    """What `save` writes."""
    network = solution.parameters.network(solution.thetas[0])
    history = as_history(solution.history)
    tensors = {"times": solution.times, "error_estimate": solution.error_estimate}
    tensors["history"] = history.table
    head = solution.parameters.head
    if solution.frozen:  # one body for all times
        tensors |= {"body": solution.thetas[0, : head.start], "heads": solution.thetas[:, head]}
    else:
        tensors["thetas"] = solution.thetas
    content = {
        "body": encode(network.body),
        "shape": list(solution.problem.shape),
        "problem": describe_problem(solution.problem),
        "result": [solution.result.outcome.value, solution.result.message],
        "history": list(history.names),
        "seconds": plain(solution.seconds),
        "facts": plain(solution.facts),
        "stages": solution.stages,
    }
    return pack(FORM, content, tensors)


def from_bytes(data: bytes) -> Solution:
    """The solution that `to_bytes` packed."""
    return _solution(*unpack_bytes(data, FORM), None, None)


def load(
    path: str | os.PathLike[str],
    *,
    problem: Problem | None = None,
    body: AbstractBody | None = None,
) -> Solution:
    """A solution from its file: the same values, the same refusals.

    A benchmark problem comes back by its name. Of any other the file holds the domain, ready-made
    equations and conditions with their numbers, and the formulas of the rest as text; what needs
    its functions says so, unless they are given as `problem`.
    `body` is needed only where the network is made of functions (`Basis`). Nothing in the file is
    run.
    """
    file = Path(path)
    content, tensors = unpack(file, FORM)
    try:
        return _solution(content, tensors, problem, body)
    except CheckpointError as error:
        raise CheckpointError(f"{file} cannot be used: {error}") from None
    except UsageError:
        raise
    except Exception as error:  # its digest is right, but we did not write it: say so
        reason = str(error).split("\n")[0]
        raise CheckpointError(
            f"{file} is not as tengbc writes it ({type(error).__name__}: {reason}); "
            f"use another copy."
        ) from None


def _solution(
    content: dict[str, Any],
    tensors: dict[str, np.ndarray],
    problem: Problem | None,
    body: AbstractBody | None,
) -> Solution:
    thetas = _thetas(tensors)
    shape = tuple(content["shape"])
    chosen = restore_problem(content["problem"], shape, problem)
    if body is None:
        body = decode(content["body"], AbstractBody, most_entries=thetas.shape[1])
    parameters = Parameters(with_head(body, shape[0] if shape else 0))
    _check_network(parameters, thetas, chosen)
    outcome, message = content["result"]
    return Solution(
        chosen,
        parameters,
        tensors["times"],
        thetas,
        Result(Outcome(outcome), message),
        History.of_table(content["history"], tensors["history"]),
        tensors["error_estimate"],
        content["seconds"],
        content["facts"],
        content.get("stages", 0),
    )


def _thetas(tensors: dict[str, np.ndarray]) -> np.ndarray:
    """The parameters at every stored time, (k, p)."""
    if "heads" in tensors:
        heads, body = tensors["heads"], tensors["body"]
        thetas = np.concatenate([np.broadcast_to(body, (len(heads), body.size)), heads], axis=1)
    else:
        thetas = tensors["thetas"]
    times, estimate = tensors["times"], tensors["error_estimate"]
    kinds = {array.dtype for array in (times, thetas, estimate)}
    fits = thetas.ndim == 2 and times.shape == thetas.shape[:1] and len(times) > 0
    fits = fits and estimate.shape in (times.shape, (0,)) and kinds == {np.dtype(np.float64)}
    if not (fits and times[0] >= 0 and (np.diff(times) > 0).all()):
        raise CheckpointError("its times and parameters do not belong together; use another copy.")
    return thetas


def _check_network(parameters: Parameters[Network], thetas: np.ndarray, problem: Problem) -> None:
    if thetas.shape[1] != len(parameters):
        raise CheckpointError(
            f"the network has {len(parameters)} parameters, but the file {thetas.shape[1]}; pass "
            f"the body that was used, or use another copy."
        )
    try:
        with jax.enable_x64(True):
            point = jax.ShapeDtypeStruct((problem.domain.dim,), np.float64)
            found = jax.eval_shape(lambda x: parameters.network(thetas[0])(x), point).shape
    except UsageError as error:
        raise CheckpointError(str(error)) from None
    if found != problem.shape:
        raise CheckpointError(
            f"its network gives values of shape {found}, its problem {problem.shape}; "
            f"use another copy."
        )
