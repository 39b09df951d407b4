"""Optimizers: ops that take steps on variables; their gradients are dense, or those of some rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.op_attributes import attributes_of
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.part import Op, Part, part, tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.state import optimizer_recipes as recipes
from tf_opdiff.suites.forms.state.variables import Variables, read_after
from tf_opdiff.suites.reference.optimization.optimizers import Step
from tf_opdiff.suites.reference.promises import running

#: The dtypes of the ops: real numbers, complex numbers as well, those of two ops, and those of AdaMax.
REAL = tiered(("float16", "float32", "float64", "bfloat16"))
ALL = tiered((*REAL, "complex64", "complex128"))
WIDE, WITHOUT_BFLOAT16 = tiered(("float32", "float64")), tiered(("float16", "float32", "float64"))
STEPS = 3


@dataclass(frozen=True, kw_only=True)
class Optimizer:
    """One algorithm.

    step        step(variable, *slots, gradient, **settings) → the new variable and the new slots.
    slots       the names of the slots, as the ops have them.
    settings    the names of the op's scalars → their values, exact in all dtypes; whole numbers are tensors of int64.
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

    @property
    def _taken(self) -> dict[str, Any]:
        """The settings and the attributes that the algorithm takes: locks change no value."""
        return {**self.settings, **{name: flag for name, flag in self.flags.items() if name != "use_locking"}}

    def steps(self, var: Any, *others: Any) -> Step:
        """The variable and the slots after each step, stacked; `others` are the slots and the gradient."""
        *values, g = (var, *others)
        after = []
        for _ in range(STEPS):
            values = list(self.step(*values, g, **self._taken))
            after.append(values)
        return tuple(np.stack(column) for column in zip(*after, strict=True))

    def sparse_steps(self, var: Any, *others: Any) -> Step:
        """The values after each step, where the gradient is that of rows; the last of `others` has their numbers."""
        *slots, g, indices = others
        if len(np.unique(indices)) < len(indices):
            return self._one_by_one([var, *slots], g, indices)
        rows = self.steps(*(x[indices] for x in (var, *slots)), g)
        places = [np.flatnonzero(indices == k) for k in range(len(var))]
        return tuple(
            np.stack([_with_rows(x, stack[k], places) for k in range(STEPS)])
            for x, stack in zip((var, *slots), rows, strict=True)
        )

    def _one_by_one(self, start: Sequence[Any], g: Any, indices: Any) -> Step:
        """The values after each step, where a row takes the steps of all gradients that name it, in their order."""
        tables, after = [[x[k] for k in range(len(x))] for x in start], []
        for _ in range(STEPS):
            for n, i in enumerate(indices):
                rows = self.step(*(table[i] for table in tables), g[n], **self._taken)
                for table, row in zip(tables, rows, strict=True):
                    table[i] = row
            after.append([np.stack(table) for table in tables])
        return tuple(np.stack(column) for column in zip(*after, strict=True))

    def program(self, raw: str, *, resource: bool) -> Callable[..., Any]:
        """As of a spec: one step, then a read of all variables."""
        names, first = (self.gradient, "indices"), 1 + len(self.slots)
        settings, flags = dict(self.settings), dict(self.flags)

        def program(tf: Any, state: Any, *inputs: Any) -> Any:
            rest = inputs[first:]
            arguments = {name: v.handle if resource else v for name, v in state.items()}
            dtypes = {name: "int64" if isinstance(value, int) else rest[0].dtype for name, value in settings.items()}
            arguments |= {name: tf.constant(value, dtypes[name]) for name, value in settings.items()}
            arguments |= dict(zip(names, rest, strict=False)) | flags
            return read_after(tf, getattr(tf.raw_ops, raw)(**arguments), *state.values())

        return program


def _with_rows(x: Any, rows: Any, places: Sequence[np.ndarray]) -> Any:
    """An array with some of its rows replaced."""
    return np.stack([rows[int(at[-1])] if len(at) else x[k] for k, at in enumerate(places)]) if len(x) else x


def optimizer(how: Optimizer, *, sparse: bool = False) -> Part:
    """A part: several steps of an optimizer on the variables of an op, its errors, large variables, and its flags.

    Args:
      how: the algorithm.
      sparse: whether the gradient is that of some rows.
    """

    def specs(op: Op) -> Iterable[Spec]:
        assert op.variables
        values = _Steps(how, op, sparse)
        own, tiny, large = (make(how) for make in recipes.OF_ROWS[sparse])
        main, *others = values.specs("", own, twins=[values.twins])
        yield from (main, *others, *sizes(main, tiny, few=recipes.FEW))
        yield from (_out_of_range(how) if sparse else _mismatched(how, op.variables))(values.op)
        yield from values.but(flags={"use_locking": True}).specs("-blocks", large, lowest_tier=True)
        for attribute in filter(_FLAGS.get, attributes_of(op.raw)):
            suffix, value = _FLAGS[attribute]
            yield from values.but(flags={attribute: value}).specs(suffix, own, dtypes=REAL)
        if "lr_power" in how.settings:  # kernels have a path of their own for its usual value
            first = dict([next(iter(own.items()))])
            yield from values.but(settings={**how.settings, "lr_power": -0.75}).specs("-power", first, lowest_tier=True)

    return specs


on_rows = partial(optimizer, sparse=True)
#: Attributes of ops with another algorithm: the end of the name of their spec, and the value that is no default.
_FLAGS = {
    "use_nesterov": ("-nesterov", True),
    "update_slots": ("-still", False),
    "multiply_linear_by_lr": ("-multiplied", True),
}


@dataclass(frozen=True)
class _Steps:
    """The specs of several steps of an algorithm by an op; the gradient may be that of some rows."""

    how: Optimizer
    of: Op
    sparse: bool

    def but(self, **fields: Any) -> _Steps:
        """The specs of the algorithm with other fields."""
        return replace(self, how=replace(self.how, **fields))

    @property
    def variables(self) -> Variables:
        assert self.of.variables
        return replace(self.of.variables, first=self.how.first)

    @property
    def op(self) -> Op:
        """The op with its program."""
        program = self.how.program(self.of.raw, resource=self.variables.resource)
        return replace(self.of, variables=self.variables, program=program)

    @property
    def steps(self) -> Callable[..., Step]:
        return self.how.sparse_steps if self.sparse else self.how.steps

    def twins(self, spec: Spec) -> tuple[Spec, ...]:
        """The twin of a spec of reference variables in functions: its first step."""
        return self.variables.twins(_first_step(self.how, self.steps, spec))

    def specs(self, suffix: str, own: Mapping[str, Recipe], **fields: Any) -> Iterable[Spec]:
        """The specs of the values after each step."""
        promised = _promise(self.how, self.steps)
        fields = {"ulp": {"output": 0.5}, "unsigned_zeros": ("output",), "steps": STEPS, **promised, **fields}
        return part(suffix, recipes=own, **fields)(self.op)


def on(variables: Variables) -> tuple[dict[str, Any], ...]:
    """The fields of ops on variables: for real numbers, for complex numbers as well, and for two dtypes."""
    shared = {"variables": variables, "ordinary": ordinary.RUNNING}
    return tuple({"dtypes": dtypes, **shared} for dtypes in (REAL, ALL, WIDE))


def _promise(how: Optimizer, steps: Callable[..., Step]) -> dict[str, Any]:
    """The values after each step, and those after the last one, as fields of a spec."""
    names = ("var", *how.slots)

    def reference(*inputs: np.ndarray) -> Any:
        values = steps(*inputs)
        return (*values, {key: value[-1] for key, value in zip(names, values, strict=True)})

    bounds = [running.bound(steps, k) for k in range(len(names))]
    stored = [partial(_stored, steps, k) for k in range(len(names))]
    each = [*bounds, *(_of_step(bound, -1) for bound in bounds)]
    others = [*stored, *(_each_of_step(alternatives, -1) for alternatives in stored)]
    return {
        "reference": reference,
        "bound": {f"output[{k}]": bound for k, bound in enumerate(each)},
        "alternatives": {f"output[{k}]": alternatives for k, alternatives in enumerate(others)},
    }


def _stored(steps: Callable[..., Step], k: int, dtype: np.dtype, g: Any, *xs: Any) -> list[np.ndarray]:
    """The values after each step if a finite number leaves the dtype: the slot in which it is stored is infinite."""
    if not all(np.isfinite(x).all() for x in xs):
        return []
    with np.errstate(all="ignore"):
        values = steps(*(x.astype(dtype) if x.dtype.kind in "fc" else x for x in xs))
    wide = np.complex128 if dtype.kind == "c" else np.float64
    return [] if all(np.isfinite(value).all() for value in values) else [values[k].astype(wide)]


def _first_step(how: Optimizer, steps: Callable[..., Step], spec: Spec) -> Spec:
    """The spec with one step."""
    bounds = {f"output[{k}]": _of_step(running.bound(steps, k), 0) for k in range(1 + len(how.slots))}
    stored = {quantity: _each_of_step(partial(_stored, steps, k), 0) for k, quantity in enumerate(bounds)}
    return spec.but(reference=lambda *xs: tuple(x[0] for x in steps(*xs)), bound=bounds, alternatives=stored, steps=1)


def _mismatched(how: Optimizer, variables: Variables) -> Part:
    """A part: a gradient of another shape than the variable."""
    when = WHEN_BUILT if how.inferred or not variables.resource else IN_KERNEL
    wrong = {"gradient": recipes.alike(how, (13,), (12,)), "rank": recipes.alike(how, (13,), (13, 1))}
    return part("-mismatched", lowest_tier=True, recipes=wrong, **when)


def _out_of_range(how: Optimizer) -> Part:
    """A part: numbers of rows that the variable does not have."""
    wrong = {"at_end": recipes.rows(how, (3, 7), "int32"), "negative": recipes.rows(how, (3, -1), "int64")}
    return part("-out-of-range", lowest_tier=True, recipes=wrong, **IN_KERNEL)


def _each_of_step(alternatives: Callable[..., list[np.ndarray]], step: int) -> Callable[..., list[np.ndarray]]:
    """The alternatives of the values after one step."""
    return lambda *arguments: [values[step] for values in alternatives(*arguments)]


def _of_step(bound: Callable[..., np.ndarray], step: int) -> Callable[..., np.ndarray]:
    """The bound of the values after one step."""
    return lambda *arguments: bound(*arguments)[step]
