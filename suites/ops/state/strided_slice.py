"""StridedSliceAssign and ResourceStridedSliceAssign: slices of variables."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.derived.unknown_shape import sized
from tf_opdiff.suites.forms.array_ops import strided
from tf_opdiff.suites.forms.array_ops.move_recipes import special
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.pairs import shaped
from tf_opdiff.suites.forms.state.variables import Variables
from tf_opdiff.suites.reference.arrays import slices as ref

_CALLS = tuple(strided.UPDATES.values())
_STEPS_OF_ONE = tuple(one for one in _CALLS if {abs(step) for step in dict(one.attrs)["strides"]} <= {1})
_OTHER_STEPS = tuple(one for one in _CALLS if one not in _STEPS_OF_ONE)
#: Slices without elements, and with one.
_SMALL = tuple(one for one in _CALLS if one.shapes and np.prod(one.shapes[1]) <= 1)
_DTYPES = tiered((*FLOATS, *COMPLEX, *INTEGERS, "bool"), ("float32",))


def _recipes(calls):
    shapes = [shape for one in calls for shape in one.shapes]
    return {"plain": shaped(*shapes), "special": special(shapes)}


def _first(*xs):
    return {f"v{i}": x for i, x in enumerate(xs[::2])}


_REFERENCES, _RESOURCES = (Variables(resource=resource, first=_first) for resource in (False, True))


def _program(raw, variables, calls):
    """A program that assigns a slice of a variable for each call."""
    each = [dict(one.attrs) for one in calls]

    def program(tf, state, *xs):
        assigned = []
        for i, (bounds, value) in enumerate(zip(each, xs[1::2], strict=True)):
            index = {key: tf.constant(bounds[key], ("int32", "int64")[i % 2]) for key in ("begin", "end", "strides")}
            given = {"value": value, **bounds, **index}
            call = lambda v, given=given: getattr(tf.raw_ops, raw)(ref=v, **given)  # noqa: E731
            assigned.append(variables.updated(tf, state[f"v{i}"], call))
        return tuple(assigned)

    return program


def _promise(*xs, calls):
    """The variables with their slices assigned, as outputs and as final values."""
    finals = [ref.updated(x, v, **one.attrs) for x, v, one in zip(xs[::2], xs[1::2], calls, strict=True)]
    return (*finals, {f"v{i}": final for i, final in enumerate(finals)})


def _slices(calls, suffix="", **fields):
    """A part: slices of the variables of an op."""
    recipes = _recipes(calls)

    def specs(op):
        promised = {"program": _program(op.raw, op.variables, calls), "reference": partial(_promise, calls=calls)}
        return part(suffix, **{"recipes": recipes, "twins": [op.variables.twins], **promised, **fields})(op)

    return specs


def _assign(tf, state, x, v, begin, end, strides, **masks):
    index = {"begin": begin, "end": end, "strides": strides}
    constants = {key: tf.constant(value, "int32") for key, value in index.items()}
    return tf.identity(tf.raw_ops.StridedSliceAssign(ref=state["v0"], value=v, **constants, **masks))


SPECS = (
    *op(
        "resource-strided-slice-assign",
        "ResourceStridedSliceAssign",
        _slices(_CALLS, modes=WITHOUT_XLA),
        sized(_slices(_SMALL, "-sizes", modes=WITHOUT_XLA, lowest_tier=True)),
        _slices(_STEPS_OF_ONE, "-xla", modes=("xla",)),
        _slices(_OTHER_STEPS, "-xla-steps", modes=("xla",), lowest_tier=True),
        variables=_RESOURCES,
        any_dtype=True,
        dtypes=_DTYPES,
        ordinary=ordinary.MOVED,
    ),
    *op(
        "strided-slice-assign",
        "StridedSliceAssign",
        _slices(_CALLS),
        sized(_slices(_SMALL, "-sizes", twins=(), lowest_tier=True)),
        _slices(_CALLS, "-rough", recipes={"plain": _recipes(_CALLS)["plain"]}, dtypes=FLOAT8_OF_CPU, tier="full"),
        part(
            "-refused",
            program=_assign,
            recipes={"plain": shaped((3, 5), (3, 5))},
            attrs={label: dict(bounds) for label, bounds in strided.REFUSED.items()},
            lowest_tier=True,
            **IN_KERNEL,
        ),
        variables=_REFERENCES,
        any_dtype=True,
        dtypes=_DTYPES,
        ordinary=ordinary.MOVED,
    ),
)
