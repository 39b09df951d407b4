"""Optimizers: ops that take steps on variables; their gradients are dense, or those of some rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.part import Op, Part, part, tiered, together
from tf_opdiff.suites.forms.variables import Variables, read_after
from tf_opdiff.suites.reference import running
from tf_opdiff.suites.reference.optimizers import Step

#: The dtypes of the ops: real numbers, complex numbers as well, and those of two ops.
REAL = tiered(("float16", "float32", "float64"))
ALL = tiered((*REAL, "complex64", "complex128"))
WIDE = tiered(("float32", "float64"))
STEPS = 3
#: The shapes of dense variables, and of variables whose gradients name rows.
SHAPE, TABLE = (13,), (7, 3)
ROWS = (3, 0, 6, 1)


@dataclass(frozen=True, kw_only=True)
class Optimizer:
    """One algorithm.

    step        step(variable, *slots, gradient, **settings) → the new variable and the new slots.
    slots       the names of the slots, as the ops have them.
    settings    the names of the op's scalars → their values, exact in all dtypes.
    gradient    the name of the gradient.
    signed      the slots that may be negative; others start as positive numbers.
    flags       attributes that are no tensors.
    inferred    whether the inference of shapes compares a resource variable with its gradient.
    """

    step: Callable[..., Step]
    slots: tuple[str, ...] = ()
    settings: Mapping[str, float]
    gradient: str = "grad"
    signed: tuple[str, ...] = ()
    flags: Mapping[str, bool] = field(default_factory=dict)
    inferred: bool = False

    @property
    def first(self) -> Callable[..., dict[str, Any]]:
        """first(*inputs) → the first values of the variable and the slots, by name."""
        names = ("var", *self.slots)
        return lambda *inputs: dict(zip(names, inputs, strict=False))

    def steps(self, var: Any, *others: Any) -> Step:
        """The variable and the slots after each step, stacked; `others` are the slots and the gradient."""
        *values, g = (var, *others)
        after = []
        for _ in range(STEPS):
            values = list(self.step(*values, g, **self.settings, **self.flags))
            after.append(values)
        return tuple(np.stack(column) for column in zip(*after, strict=True))

    def sparse_steps(self, var: Any, *others: Any) -> Step:
        """The values after each step, where the gradient is that of rows; the last of `others` has their numbers."""
        *slots, g, indices = others
        rows = self.steps(*(x[indices] for x in (var, *slots)), g)
        places = [np.flatnonzero(indices == k) for k in range(len(var))]
        return tuple(
            np.stack([_with_rows(x, stack[k], places) for k in range(STEPS)])
            for x, stack in zip((var, *slots), rows, strict=True)
        )

    def program(self, raw: str, *, resource: bool) -> Callable[..., Any]:
        """As of a spec: one step, then a read of all variables."""
        names, first = (self.gradient, "indices"), 1 + len(self.slots)
        settings, flags = dict(self.settings), dict(self.flags)

        def program(tf: Any, state: Any, *inputs: Any) -> Any:
            rest = inputs[first:]
            arguments = {name: v.handle if resource else v for name, v in state.items()}
            arguments |= {name: tf.constant(value, rest[0].dtype) for name, value in settings.items()}
            arguments |= dict(zip(names, rest, strict=False)) | flags
            return read_after(tf, getattr(tf.raw_ops, raw)(**arguments), *state.values())

        return program


def _with_rows(x: Any, rows: Any, places: Sequence[np.ndarray]) -> Any:
    """An array with some of its rows replaced."""
    return np.stack([rows[int(at[-1])] if len(at) else x[k] for k, at in enumerate(places)])


def optimizer(how: Optimizer, suffix: str = "", *, sparse: bool = False, **flags: bool) -> Part:
    """A part: several steps of an optimizer on the variables of an op, and, without flags, the errors of the op.

    Args:
      how: the algorithm.
      suffix: the end of the specs' names.
      sparse: whether the gradient is that of some rows.
      flags: attributes that are no tensors.
    """
    how = replace(how, flags=flags)

    def specs(op: Op) -> Iterable[Spec]:
        assert op.variables
        variables = replace(op.variables, first=how.first)
        steps = how.sparse_steps if sparse else how.steps
        values = part(
            suffix,
            dtypes=REAL if flags else None,
            recipes=_sparse(how) if sparse else _dense(how),
            **_promise(how, steps),
            ulp={"output": 0.5},
            unsigned_zeros=("output",),
            steps=STEPS,
            twins=[] if flags else [lambda spec: variables.twins(_first_step(how, steps, spec))],
        )
        errors = [] if flags else [_out_of_range(how) if sparse else _mismatched(how, op.variables)]
        own = replace(op, variables=variables, program=how.program(op.raw, resource=variables.resource))
        return together(values, *errors)(own)

    return specs


def on(variables: Variables) -> tuple[dict[str, Any], ...]:
    """The fields of ops on variables: for real numbers, for complex numbers as well, and for two dtypes."""
    return tuple({"variables": variables, "dtypes": dtypes} for dtypes in (REAL, ALL, WIDE))


on_rows = partial(optimizer, sparse=True)
#: Further parts: Nesterov's look ahead, and slots that stay as they are.
ahead = partial(optimizer, suffix="-nesterov", use_nesterov=True)
still = partial(optimizer, suffix="-still", update_slots=False)


def _promise(how: Optimizer, steps: Callable[..., Step]) -> dict[str, Any]:
    """The values after each step, and those after the last one, as fields of a spec."""
    names = ("var", *how.slots)

    def reference(*inputs: np.ndarray) -> Any:
        values = steps(*inputs)
        return (*values, {key: value[-1] for key, value in zip(names, values, strict=True)})

    bounds = [running.bound(steps, k) for k in range(len(names))]
    each = [*bounds, *(_of_step(bound, -1) for bound in bounds)]
    return {"reference": reference, "bound": {f"output[{k}]": bound for k, bound in enumerate(each)}}


def _first_step(how: Optimizer, steps: Callable[..., Step], spec: Spec) -> Spec:
    """The spec with one step."""
    bounds = {f"output[{k}]": _of_step(running.bound(steps, k), 0) for k in range(1 + len(how.slots))}
    return spec.but(reference=lambda *xs: tuple(x[0] for x in steps(*xs)), bound=bounds, steps=1)


def _mismatched(how: Optimizer, variables: Variables) -> Part:
    """A part: a gradient of another shape than the variable."""
    when = WHEN_BUILT if how.inferred or not variables.resource else IN_KERNEL
    recipes = {"gradient": _alike(how, (13,), (12,)), "rank": _alike(how, (13,), (13, 1))}
    return part("-mismatched", lowest_tier=True, recipes=recipes, **when)


def _out_of_range(how: Optimizer) -> Part:
    """A part: numbers of rows that the variable does not have."""
    recipes = {"at_end": _rows(how, (3, 7), "int32"), "negative": _rows(how, (3, -1), "int64")}
    return part("-out-of-range", lowest_tier=True, recipes=recipes, **IN_KERNEL)


def _of_step(bound: Callable[..., np.ndarray], step: int) -> Callable[..., np.ndarray]:
    """The bound of the values after one step."""
    return lambda *arguments: bound(*arguments)[step]


def _values(
    how: Optimizer, draw: Draw, dtype: np.dtype, shape: tuple[int, ...], gradient: tuple[int, ...]
) -> list[Any]:
    """A variable, slots and a gradient, of moderate size: none is near zero, where a sign would be open."""

    def signed(*shape: int) -> np.ndarray:
        x = draw.uniform(*shape, low=0.25, high=2) * np.where(draw.booleans(*shape), 1, -1)
        return (x * (0.6 + 0.8j) if dtype.kind == "c" else x).astype(dtype)

    slots = [
        signed(*shape) if name in how.signed else draw.uniform(*shape, low=0.5, high=4).astype(dtype)
        for name in how.slots
    ]
    return [signed(*shape), *slots, signed(*gradient)]


def _alike(how: Optimizer, shape: tuple[int, ...], gradient: tuple[int, ...] | None = None) -> Recipe:
    """A recipe of a variable and a gradient of these shapes."""
    return lambda draw, d: tuple(_values(how, draw, d, shape, shape if gradient is None else gradient))


def _special(how: Optimizer) -> Recipe:
    """A recipe of gradients that are infinite, NaN or zeros."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        values = _values(how, draw, dtype, SHAPE, SHAPE)[:-1]
        return (*values, np.resize(np.array([0.0, 1.0, np.nan, -0.0, np.inf, -1.0, -np.inf]), SHAPE).astype(dtype))

    return recipe


def _dense(how: Optimizer) -> dict[str, Recipe]:
    """Variables of 13 elements, of one, of none, and of rank 3."""
    shapes = {"plain": SHAPE, "empty": (0, 3), "one": (1,), "planes": (2, 1, 3), "scalar": ()}
    return {name: _alike(how, shape) for name, shape in shapes.items()} | {"special": _special(how)}


def _rows(how: Optimizer, indices: Sequence[int], dtype: str, table: tuple[int, int] = TABLE) -> Recipe:
    """A recipe of a table, and of a gradient of these rows."""

    def recipe(draw: Draw, d: np.dtype) -> tuple[np.ndarray, ...]:
        values = _values(how, draw, d, table, (len(indices), *table[1:]))
        return (*values, np.array(indices, dtype))

    return recipe


def _sparse(how: Optimizer) -> dict[str, Recipe]:
    """Rows that are named once; int32 and int64; no row; and the one element of a table of one."""
    some = {"int32": _rows(how, ROWS, "int32"), "int64": _rows(how, ROWS, "int64"), "none": _rows(how, (), "int32")}
    return {**some, "one": _rows(how, (0,), "int64", (1, 1))}
