"""A traced program as a list of NumPy calls, for one number of points.

What is inside compiled parts is written out, what no output needs is left out, and what depends on
no argument is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, primitives

from tengbc.programs.arrays import ARRAYS, SEVERAL
from tengbc.programs.elementwise import ELEMENTWISE, Unknown
from tengbc.programs.planned import PLANNED

Array = np.ndarray
LONG_LOOP = 10_000
"""A loop with more rounds is left to XLA."""
HINTS = ("precision", "unique_indices", "indices_are_sorted", "sharding", "out_sharding")
"""Parameters that say how or where, not what, to compute."""
DEFAULTS = ("accuracy", "out_dtype")
"""Parameters that mean nothing as long as they are None."""
OTHER_NAMES = {"add_any": "add_jaxvals", "scatter-add": "scatter_add"}
"""Operations that JAX's list has under another name."""
PARTS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "remat": "jaxpr",
    "checkpoint": "jaxpr",
    "closed_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
}
"""Operations that are programs, and where they keep them."""


class Step(NamedTuple):
    """One NumPy call: which values go in, which come out, on which arguments they depend."""

    function: Callable
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    several: bool
    depends: int
    """One bit for each argument of the program."""
    made: tuple[Any, ...]
    """(shape, type) of what comes out."""
    name: str
    """What JAX calls the operation."""
    last: tuple[int, ...] = ()
    """Values that nothing needs afterwards."""


class Steps:
    """A program as steps. `sized` makes a number of whatever stands for the number of points."""

    def __init__(self, program: ClosedJaxpr, sized: Callable[[Any], Any]):
        if program.effects:
            raise Unknown("a program that does more than compute")
        self._sized = sized
        self._steps: list[Step] = []
        self.values: list[Any] = []
        """Constants at their places, None where arguments and results will be."""
        self._depends: list[int] = []
        self.own_derivatives = False
        """Whether a part says itself what its derivative is."""
        arguments = program.jaxpr.invars
        self.inputs = [self._place(depends=1 << k) for k in range(len(arguments))]
        self.outputs = self._write(program.jaxpr, program.consts, self.inputs)
        self.steps = self._needed()
        self.checked = False

    def __call__(self, *arguments: Any) -> list[Any]:
        """The outputs, some of which may be views."""
        values = self.values.copy()
        for place, argument in zip(self.inputs, arguments, strict=True):
            values[place] = argument
        run(self.steps, values, check=not self.checked)
        self.checked = True
        return [values[place] for place in self.outputs]

    def _place(self, value: Any = None, depends: int = 0) -> int:
        self.values.append(value)
        self._depends.append(depends)
        return len(self.values) - 1

    def _write(self, program: Jaxpr, constants: Sequence[Any], inputs: list[int]) -> list[int]:
        """Write the steps of a program; where its outputs are."""
        places = dict(zip(program.invars, inputs, strict=True))
        for variable, constant in zip(program.constvars, constants, strict=True):
            places[variable] = self._place(_known(np.asarray(constant)))

        def place(variable) -> int:
            if isinstance(variable, Literal):
                return self._place(np.asarray(variable.val, _known(variable.aval).dtype))
            return places[variable]

        for equation in program.eqns:
            inside = [place(variable) for variable in equation.invars]
            places.update(zip(equation.outvars, self._equation(equation, inside), strict=True))
        return [place(variable) for variable in program.outvars]

    def _equation(self, equation, inputs: list[int]) -> list[int]:
        name = equation.primitive.name
        official = getattr(primitives, f"{OTHER_NAMES.get(name, name)}_p", equation.primitive)
        if official is not equation.primitive or equation.effects:
            raise Unknown(name)
        if name in PARTS:
            self.own_derivatives |= name.startswith("custom")
            part = equation.params[PARTS[name]]
            if isinstance(part, ClosedJaxpr):
                return self._write(part.jaxpr, part.consts, inputs)
            return self._write(part, (), inputs)
        made = tuple(
            (tuple(map(self._sized, variable.aval.shape)), _known(variable.aval).dtype)
            for variable in equation.outvars
        )
        shapes = [tuple(map(self._sized, variable.aval.shape)) for variable in equation.invars]
        function, several = self._function(name, equation.params, shapes, made)
        depends = 0
        for i in inputs:
            depends |= self._depends[i]
        outputs = [self._place(depends=depends) for _ in made]
        step = Step(function, tuple(inputs), tuple(outputs), several, depends, made, name)
        if depends:
            self._steps.append(step)
        else:
            run([step], self.values, check=True)
        return outputs

    def _function(
        self, name: str, params: dict[str, Any], shapes: list[tuple[int, ...]], made: tuple
    ) -> tuple[Callable, bool]:
        """(the function of arrays, whether it gives a list)."""
        if name in ("scan", "while", "cond"):
            return self._loop(name, params), True
        if name == "pure_callback":  # code from outside the trace: it takes NumPy's arrays
            return params["callback"].callback_func, False
        left = {
            key: _sized(value, self._sized)
            for key, value in params.items()
            if key not in HINTS and not (key in DEFAULTS and value is None)
        }
        if name in ELEMENTWISE and not left:
            return ELEMENTWISE[name], False
        if name in PLANNED:
            return PLANNED[name](shapes, made[0][0], **left), name in SEVERAL
        if name in ARRAYS:
            return partial(ARRAYS[name], **left), name in SEVERAL
        raise Unknown(name)

    def _loop(self, name: str, params: dict[str, Any]) -> Callable:
        inner = lambda program: Steps(program, self._sized)
        if name == "cond":
            return partial(_cond, branches=[inner(branch) for branch in params["branches"]])
        if name == "scan":
            return partial(
                _scan,
                body=inner(params["jaxpr"]),
                length=self._sized(params["length"]),
                reverse=params["reverse"],
                constants=params["num_consts"],
                carried=params["num_carry"],
            )
        return partial(
            _while,
            more=inner(params["cond_jaxpr"]),
            body=inner(params["body_jaxpr"]),
            of_more=params["cond_nconsts"],
            of_body=params["body_nconsts"],
        )

    def _needed(self) -> list[Step]:
        """The steps that outputs are made by; each lets go of what it was the last to use."""
        wanted, kept = set(self.outputs), []
        fixed = {place for place, value in enumerate(self.values) if value is not None}
        for step in reversed(self._steps):
            if wanted.intersection(step.outputs):
                last = set(step.inputs) - wanted - fixed
                wanted.update(step.inputs)
                kept.append(step._replace(last=tuple(last)))
        return kept[::-1]


def run(steps: Sequence[Step], values: list[Any], check: bool) -> None:
    """Take steps, each result at its place; if checked, it must be what JAX announced."""
    for function, inputs, outputs, several, _, made, _, last in steps:
        found = function(*[values[place] for place in inputs])
        if several:
            for place, value in zip(outputs, found, strict=True):
                values[place] = value
        else:
            values[outputs[0]] = found
        if check and tuple((values[place].shape, values[place].dtype) for place in outputs) != made:
            raise Unknown("a result of another shape or type than announced")
        for place in last:
            values[place] = None


def _known(array: Any) -> Any:
    """Something with a dtype, if it is one whose arithmetic is NumPy's."""
    if array.dtype not in _TYPES:
        raise Unknown(f"numbers of type {array.dtype}")
    return array


_TYPES = frozenset(
    map(np.dtype, ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"))
)


def _sized(value: Any, sized: Callable[[Any], Any]) -> Any:
    if type(value) is tuple:
        return tuple(_sized(entry, sized) for entry in value)
    return sized(value)


def _cond(which, *inputs, branches):
    return branches[int(np.clip(which, 0, len(branches) - 1))](*inputs)


def _scan(*inputs, body, length, reverse, constants, carried):
    if not 0 < length <= LONG_LOOP:
        raise Unknown("a long loop")
    fixed, carry = inputs[:constants], inputs[constants : constants + carried]
    rows, found = inputs[constants + carried :], []
    for k in reversed(range(length)) if reverse else range(length):
        out = body(*fixed, *carry, *(row[k] for row in rows))
        carry = out[:carried]
        found.append(out[carried:])
    return [*carry, *map(np.stack, zip(*(found[::-1] if reverse else found), strict=True))]


def _while(*inputs, more, body, of_more, of_body):
    asked, inputs = inputs[:of_more], inputs[of_more:]
    fixed, carry = inputs[:of_body], inputs[of_body:]
    for _ in range(LONG_LOOP):
        (go_on,) = more(*asked, *carry)
        if not np.any(go_on):
            return list(carry)
        moved = body(*fixed, *carry)
        if np.ndim(go_on):  # each point ends its own loop
            moved = [
                np.where(
                    np.reshape(go_on, go_on.shape + (1,) * (after.ndim - go_on.ndim)), after, b
                )
                for after, b in zip(moved, carry, strict=True)
            ]
        carry = moved
    raise Unknown("a long loop")
