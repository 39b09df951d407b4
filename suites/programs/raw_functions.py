"""Raw ops that call functions, or stand in one, with tensors of every dtype that XLA and a CPU pass on."""

import numpy as np

from tf_opdiff.harness.spec.plan import without_modes
from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.limits import with_limits
from tf_opdiff.suites.forms.programs.functions import of_dtypes, traced
from tf_opdiff.suites.reference.control_flow import cond as ref

_EAGER = "the gradient looks for the branches in the graph of the op, and an eager op has none"
_NO_DEVICE = "no device is known when XLA compiles: the index is the number of names, for the default branch"
_DEVICE_INDEX = (
    "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/compiler/tf2xla/kernels/device_index_op.cc"
)
_SYMBOLIC = "a graph has the gradient of the function in its library; the eager runtime knows no such function"


def chosen(raw):
    """Case, If or a stateless version: one of two tensors, both through branches."""

    def program(tf, p, x, y):
        first, second = traced(tf, (x, y), lambda x, y: [tf.identity(x)], lambda x, y: [tf.identity(y)])
        outputs = {"Tout": [x.dtype], "output_shapes": [x.shape]}
        if "Case" in raw:
            index = tf.cast(p, tf.int32)
            call = getattr(tf.raw_ops, raw)
            return call(branch_index=index, input=[x, y], branches=[second, first], **outputs)[0]
        call = getattr(tf.raw_ops, raw)
        return call(cond=p, input=[x, y], then_branch=first, else_branch=second, **outputs)[0]

    return program


def called(raw):
    """PartitionedCall or StatefulPartitionedCall: two tensors, which a function exchanges."""

    def program(tf, x, y):
        (f,) = traced(tf, (x, y), lambda x, y: [tf.identity(y), tf.identity(x)])
        return getattr(tf.raw_ops, raw)(args=[x, y], Tout=[y.dtype, x.dtype], f=f)

    return program


def turned(raw):
    """While or StatelessWhile: two tensors, which each of three turns exchanges."""

    def program(tf, x, y):
        xs = [tf.constant(0), x, y]
        going, turn = traced(tf, xs, lambda i, x, y: [i < 3], lambda i, x, y: [i + 1, tf.identity(y), tf.identity(x)])
        return getattr(tf.raw_ops, raw)(input=xs, cond=going, body=turn)[1:]

    return program


def by_predicate(tf, p, x, y):
    """If with a predicate of any dtype."""
    first, second = traced(tf, (x, y), lambda x, y: [x + y], lambda x, y: [x * y])
    branches = {"then_branch": first, "else_branch": second}
    return tf.raw_ops.If(cond=p, input=[x, y], Tout=[x.dtype], output_shapes=[x.shape], **branches)[0]


def fake(tf, p, x):
    """FakeParam in place of the value of a branch that the result does not depend on."""
    given, absent = traced(
        tf, (x,), lambda x: [tf.identity(x)], lambda x: [tf.raw_ops.FakeParam(dtype=x.dtype, shape=x.shape)]
    )
    call = tf.raw_ops.If
    value = call(cond=p, input=[x], Tout=[x.dtype], output_shapes=[x.shape], then_branch=given, else_branch=absent)[0]
    return chosen("If")(tf, p, value, x)


def symbolic(tf, x, g):
    """SymbolicGradient of a function that returns its argument."""
    (same,) = traced(tf, (x,), lambda x: [tf.identity(x)])
    return tf.raw_ops.SymbolicGradient(input=[x, g], Tout=[x.dtype], f=same)[0]


def _pair(draw, dtype):
    """A recipe: two tensors of one shape."""
    return draw.values(dtype, 3, 5), draw.values(dtype, 3, 5)


def _either(p):
    """A recipe: a predicate, and two tensors."""
    return lambda draw, dtype: (np.array(p), *_pair(draw, dtype))


def _number(*shape, value):
    """A recipe: a predicate of the dtype, and two vectors of int32."""
    numbers = np.arange(1, 4, dtype=np.int32), np.arange(-3, 0, dtype=np.int32)
    return lambda draw, dtype: (np.full(shape, value).astype(dtype), *numbers)


_PAIR = {
    "matrix": _pair,
    "one": lambda draw, dtype: (draw.values(dtype, 1), draw.values(dtype, 1)),
    "scalar": lambda draw, dtype: (draw.values(dtype), draw.values(dtype)),
}
_EITHER = {
    "true": _either(True),
    "false": _either(False),
    "one": lambda draw, dtype: (np.array(True), draw.values(dtype, 1), draw.values(dtype, 1)),
}
#: Recipes of scalars of 4 bits.
_SCALARS = {"scalar": _PAIR["scalar"]}
_EITHER_SCALAR = {
    label: lambda draw, d, label=label: (np.array(label == "true"), draw.values(d), draw.values(d))
    for label in ("true", "false")
}
_PREDICATES = {
    "zero": _number(value=0),
    "nonzero": _number(value=1),
    "empty": _number(0, value=0),
    "vector": _number(2, value=0),
}


def _chosen(raw):
    """The specs of a choice between two tensors; nothing flows back to the other one but zeros."""
    reference = lambda p, x, y: x if p else y  # noqa: E731
    side = Side(reference=reference, vjp=raises("AttributeError"), why=_EAGER)
    specs = of_dtypes(
        f"passed-by-{raw.lower()}",
        program=chosen(raw),
        reference=reference,
        vjp=lambda g, p, x, y: (None, *((g, np.zeros_like(g)) if p else (np.zeros_like(g), g))),
        contract={"*/eager": side},
        recipes=_EITHER,
        scalars=_EITHER_SCALAR,
        ops=raw,
    )
    return (*specs, *with_limits(raw, specs))


SPECS = (
    *(spec for raw in ("Case", "If", "StatelessCase", "StatelessIf") for spec in _chosen(raw)),
    *(
        spec
        for raw, program in (
            ("PartitionedCall", called),
            ("StatefulPartitionedCall", called),
            ("StatelessWhile", turned),
            ("While", turned),
        )
        for spec in of_dtypes(
            f"passed-by-{raw.lower()}",
            program=program(raw),
            reference=lambda x, y: (y, x),
            recipes=_PAIR,
            ops=raw,
            without_xla=("bytes",),
            scalars=_SCALARS,
        )
    ),
    Spec(
        name="predicate-of-if",
        program=by_predicate,
        reference=ref.chosen,
        recipes=_PREDICATES,
        dtypes=("float32", "float64", "int8", "int16", "int32", "int64", "uint8"),
        tier="full",
        ops="If",
    ),
    *of_dtypes(
        "fake-param",
        program=fake,
        reference=lambda p, x: x,
        recipes={
            "taken": lambda draw, d: (np.array(True), draw.values(d, 3, 5)),
            "absent": lambda draw, d: (np.array(False), draw.values(d, 3, 5)),
            "one": lambda draw, d: (np.array(False), draw.values(d, 1)),
        },
        scalars={
            "taken": lambda draw, d: (np.array(True), draw.values(d)),
            "absent": lambda draw, d: (np.array(False), draw.values(d)),
        },
        ops="FakeParam",
        modes=without_modes("eager"),  # eager mode has no value without one
    ),
    *of_dtypes(
        "symbolic-gradient",
        program=symbolic,
        reference=lambda x, g: np.zeros_like(g) if g.dtype == bool else g,  # of bool, zeros: SumGradients says so
        recipes=_PAIR,
        scalars=_SCALARS,
        contract={"*/eager": Side(reference=raises("NOT_FOUND"), why=_SYMBOLIC)},
        ops="SymbolicGradient",
    ),
    *of_dtypes(
        "to-bool",
        program=lambda tf, *xs: tf.stack([tf.raw_ops.ToBool(input=x) for x in xs]),
        reference=lambda *xs: np.array([x.size > 0 if x.ndim else x != 0 for x in xs]),
        scalars={"each": lambda draw, d: (np.ones((), d), np.zeros((), d))},
        recipes={"each": lambda draw, d: (np.ones((), d), np.zeros((), d), np.zeros((0, 3), d), np.zeros((1, 1), d))},
        constant=("output[0]",),
        ops="ToBool",
    ),
    Spec(
        name="device-index",
        program=lambda tf, x: tf.raw_ops.DeviceIndex(device_names=["GPU", "CPU"]) + 0 * tf.size(x),
        reference=lambda x: np.int32(1),
        recipes={"vector": lambda draw, d: (draw.values(d, 3),), "one": lambda draw, d: (draw.values(d, 1),)},
        constant=("output[0]",),
        contract={"*/xla": Side(reference=lambda x: np.int32(2), why=_NO_DEVICE, link=_DEVICE_INDEX)},
        ops="DeviceIndex",
    ),
)
