"""Optimizers: programs that take several steps on variables, of reference and resource variables, dense and sparse."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.forms.errors import REFUSED_BY_KERNEL, raises
from tf_opdiff.suites.forms.references import in_functions, read, variables
from tf_opdiff.suites.reference import running
from tf_opdiff.suites.reference.optimizers import Step

FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
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
        """The same, where the gradient is that of rows; the last of `others` has their numbers."""
        *slots, g, indices = others
        rows = self.steps(*(x[indices] for x in (var, *slots)), g)
        places = [np.flatnonzero(indices == k) for k in range(len(var))]
        return tuple(
            np.stack([_with_rows(x, stack[k], places) for k in range(STEPS)])
            for x, stack in zip((var, *slots), rows, strict=True)
        )


def _with_rows(x: Any, rows: Any, places: Sequence[np.ndarray]) -> Any:
    """An array with some of its rows replaced."""
    return np.stack([rows[int(at[-1])] if len(at) else x[k] for k, at in enumerate(places)])


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of OpDef: how it takes variables, and whether its gradient is sparse."""

    resource: bool
    sparse: bool

    @property
    def modes(self) -> tuple[str, ...]:
        """The state of a spec holds reference variables in v1 graphs only; `in_functions` has the other modes."""
        return MODES if self.resource else ("graph",)

    def state(self, how: Optimizer) -> Callable[..., dict[str, Any]]:
        """As of a spec: the variable and the slots."""
        first = how.first
        if not self.resource:
            return variables(first)
        return lambda tf, *inputs: {name: tf.Variable(x) for name, x in first(*inputs).items()}

    def program(self, how: Optimizer, raw: str) -> Callable[..., Any]:
        """As of a spec: one step, then a read of all variables."""
        resource, names = self.resource, (how.gradient, "indices")
        first, settings, flags = 1 + len(how.slots), dict(how.settings), dict(how.flags)

        def program(tf: Any, state: Any, *inputs: Any) -> Any:
            rest = inputs[first:]
            arguments = {name: v.handle if resource else v for name, v in state.items()}
            arguments |= {name: tf.constant(value, rest[0].dtype) for name, value in settings.items()}
            arguments |= dict(zip(names, rest, strict=False)) | flags
            update = getattr(tf.raw_ops, raw)(**arguments)
            with tf.control_dependencies([] if update is None else [update]):
                return tuple(read(tf, v) for v in state.values())

        return program


DENSE, DENSE_REFERENCE = Kind(resource=True, sparse=False), Kind(resource=False, sparse=False)
SPARSE, SPARSE_REFERENCE = Kind(resource=True, sparse=True), Kind(resource=False, sparse=True)


def optimizer(name: str, raw: str, how: Optimizer, kind: Kind, dtypes: Sequence[str] = FLOATS) -> tuple[Spec, ...]:
    """The specs of an op that takes one step of an optimizer.

    Args:
      name: the name with which theirs begin.
      raw: the OpDef.
      how: the algorithm.
      kind: the kind of the op.
      dtypes: its dtypes; float32 is among them, and stands for the others in the default tier.
    """
    steps = how.sparse_steps if kind.sparse else how.steps
    names = ("var", *how.slots)

    def reference(*inputs: np.ndarray) -> Any:
        values = steps(*inputs)
        return (*values, {key: value[-1] for key, value in zip(names, values, strict=True)})

    bounds = {f"output[{k}]": running.bound(steps, k) for k in range(len(names))}
    bounds |= {f"output[{len(names) + k}]": _of_step(running.bound(steps, k), -1) for k in range(len(names))}
    shared: dict[str, Any] = {
        "ops": raw,
        "program": kind.program(how, raw),
        "state": kind.state(how),
        "modes": kind.modes,
    }
    main = Spec(
        name=name,
        reference=reference,
        recipes=_sparse(how) if kind.sparse else _dense(how),
        bound=bounds,
        ulp={"output": 0.5},
        unsigned_zeros=("output",),
        steps=STEPS,
        **shared,
    )
    others = tuple(dtype for dtype in dtypes if dtype != "float32")
    specs: tuple[Spec, ...] = (main, replace(main, name=f"{name}-other", dtypes=others, tier="full"))
    if not kind.resource:
        own = [_first_step(spec, steps, len(names)) for spec in specs]
        specs += tuple(twin for spec in own for twin in in_functions(spec, how.first))
    if not kind.sparse:
        return (*specs, _mismatched(name, how, shared, inferred=how.inferred or not kind.resource))
    bad = {"at_end": _rows(how, (3, 7), "int32"), "negative": _rows(how, (3, -1), "int64")}
    refused = Spec(name=f"{name}-out-of-range", reference=raises("INVALID_ARGUMENT"), recipes=bad, **shared)
    return (*specs, refused)


def _first_step(spec: Spec, steps: Callable[..., Step], outputs: int) -> Spec:
    """The same spec with one step."""
    bounds = {f"output[{k}]": _of_step(running.bound(steps, k), 0) for k in range(outputs)}
    return replace(spec, reference=lambda *xs: tuple(x[0] for x in steps(*xs)), bound=bounds, steps=1)


def _mismatched(name: str, how: Optimizer, shared: Mapping[str, Any], *, inferred: bool) -> Spec:
    """The spec of a gradient of another shape than the variable; with `inferred`, a graph refuses it when built."""
    return Spec(
        name=f"{name}-mismatched",
        reference=raises("ValueError" if inferred else "INVALID_ARGUMENT"),
        recipes={"gradient": _alike(how, (13,), (12,)), "rank": _alike(how, (13,), (13, 1))},
        contract=REFUSED_BY_KERNEL if inferred else {},
        **shared,
    )


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
