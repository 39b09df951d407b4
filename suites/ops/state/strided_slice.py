"""StridedSliceAssign and ResourceStridedSliceAssign: slices of variables."""

from dataclasses import replace
from functools import partial

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms import strided
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.move_recipes import special
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU
from tf_opdiff.suites.forms.pairs import shaped
from tf_opdiff.suites.forms.references import in_functions, variables
from tf_opdiff.suites.reference import slices as ref

_CALLS = tuple(strided.UPDATES.values())
_OTHERS = (*(dtype for dtype in FLOATS if dtype != "float32"), *COMPLEX, *INTEGERS, "bool")


def _recipes(calls):
    shapes = [shape for one in calls for shape in one.shapes]
    return {"plain": shaped(*shapes), "special": special(shapes)}


def _first(*xs):
    return {f"v{i}": x for i, x in enumerate(xs[::2])}


def _program(calls):
    """A program that assigns a slice of a variable for each call."""
    each = [dict(one.attrs) for one in calls]

    def program(tf, state, *xs):
        assigned = []
        for i, (bounds, value) in enumerate(zip(each, xs[1::2], strict=True)):
            index = {key: tf.constant(bounds[key], ("int32", "int64")[i % 2]) for key in ("begin", "end", "strides")}
            assign = tf.raw_ops.StridedSliceAssign(ref=state[f"v{i}"], value=value, **{**bounds, **index})
            assigned.append(tf.raw_ops.DeepCopy(x=assign))
        return tuple(assigned)

    return program


def _promise(*xs, calls=_CALLS):
    """The variables with their slices assigned, as outputs and as final values."""
    finals = [ref.updated(x, v, **one.attrs) for x, v, one in zip(xs[::2], xs[1::2], calls, strict=True)]
    return (*finals, {f"v{i}": final for i, final in enumerate(finals)})


_MAIN = Spec(
    name="strided-slice-assign",
    ops="StridedSliceAssign",
    program=_program(_CALLS),
    reference=_promise,
    recipes=_recipes(_CALLS),
    state=variables(_first),
    modes=("graph",),
)


def _assign(tf, state, x, v, begin, end, strides, **masks):
    index = {"begin": begin, "end": end, "strides": strides}
    constants = {key: tf.constant(value, "int32") for key, value in index.items()}
    return tf.identity(tf.raw_ops.StridedSliceAssign(ref=state["v0"], value=v, **constants, **masks))


def _resource_program(calls):
    """A program that assigns a slice of a resource variable for each call."""
    each = [dict(one.attrs) for one in calls]

    def program(tf, state, *xs):
        finals = []
        for i, (bounds, value) in enumerate(zip(each, xs[1::2], strict=True)):
            index = {key: tf.constant(bounds[key], ("int32", "int64")[i % 2]) for key in ("begin", "end", "strides")}
            assign = tf.raw_ops.ResourceStridedSliceAssign(
                ref=state[f"v{i}"].handle, value=value, **{**bounds, **index}
            )
            with tf.control_dependencies([] if assign is None else [assign]):
                finals.append(state[f"v{i}"].read_value())
        return tuple(finals)

    return program


def _of_resources(name, calls, **fields):
    """The spec of slices of resource variables."""
    return Spec(
        name=f"resource-strided-slice-assign{name}",
        ops="ResourceStridedSliceAssign",
        program=_resource_program(calls),
        reference=partial(_promise, calls=calls),
        recipes=_recipes(calls),
        state=lambda tf, *xs: {label: tf.Variable(x) for label, x in _first(*xs).items()},
        **fields,
    )


_STEPS_OF_ONE = tuple(one for one in _CALLS if {abs(step) for step in dict(one.attrs)["strides"]} <= {1})
_OTHER_STEPS = tuple(one for one in _CALLS if one not in _STEPS_OF_ONE)
_OF_DTYPES = (
    _MAIN,
    replace(_MAIN, name="strided-slice-assign-other", dtypes=_OTHERS, tier="full"),
    replace(
        _MAIN,
        name="strided-slice-assign-rough",
        recipes={"plain": _MAIN.recipes["plain"]},
        dtypes=FLOAT8_OF_CPU,
        tier="full",
    ),
)

SPECS = (
    *_OF_DTYPES,
    _of_resources("", _CALLS, modes=WITHOUT_XLA),
    _of_resources("-other", _CALLS, modes=WITHOUT_XLA, dtypes=_OTHERS, tier="full"),
    _of_resources("-xla", _STEPS_OF_ONE, modes=("xla",)),
    _of_resources("-xla-other", _STEPS_OF_ONE, modes=("xla",), dtypes=_OTHERS, tier="full"),
    _of_resources("-xla-steps", _OTHER_STEPS, modes=("xla",)),
    *(twin for spec in _OF_DTYPES for twin in in_functions(spec, _first)),
    Spec(
        name="strided-slice-assign-refused",
        ops="StridedSliceAssign",
        program=_assign,
        reference=raises("INVALID_ARGUMENT"),
        recipes={"plain": lambda draw, dtype: (draw.values(dtype, 3, 5), draw.values(dtype, 3, 5))},
        attrs={label: dict(bounds) for label, bounds in strided.REFUSED.items()},
        state=variables(_first),
        modes=("graph",),
    ),
)
