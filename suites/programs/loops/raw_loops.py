"""The raw ops of loops: While, StatelessWhile, Enter, Exit, LoopCond, NextIteration; broken loops; PartitionedCall."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA, without_modes
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.programs.branches import ROUNDED
from tf_opdiff.suites.forms.programs.control_flow import in_function_of_v1, static_shapes, with_v1

_SMOOTH = (*(dtype for dtype in FLOATS if dtype != "float32"), *COMPLEX)


def raw_while(op, cond, body, vectors=1, **attributes):
    """raw_ops.While or StatelessWhile over traced functions of a counter and a vector, or several equal vectors."""

    def program(tf, i, x):
        variables = [i, *[x] * vectors]
        signature = [tf.TensorSpec(v.shape, v.dtype) for v in variables]
        traced = [
            tf.function(f, autograph=False).get_concrete_function(*signature)
            for f in (lambda i, *xs: cond(tf, i, *xs), lambda i, *xs: body(tf, i, *xs))
        ]
        return getattr(tf.raw_ops, op)(input=variables, cond=traced[0], body=traced[1], **attributes)

    return program


def raw_call(op):
    """raw_ops.PartitionedCall or StatefulPartitionedCall of a traced function."""

    def program(tf, i, x):
        f = tf.function(lambda i, x: [i + 1, x * x], autograph=False)
        traced = f.get_concrete_function(tf.TensorSpec(i.shape, i.dtype), tf.TensorSpec(x.shape, x.dtype))
        return getattr(tf.raw_ops, op)(args=[i, x], Tout=[i.dtype, x.dtype], f=traced)

    return program


def _frames(tf, i, x, turn):
    """A loop of Enter, Merge, LoopCond, Switch, NextIteration and Exit: three minus i times turn(x, frame)."""
    raw = tf.raw_ops
    frame = {"frame_name": "loop", "parallel_iterations": 10}
    one, three = (raw.Enter(data=tf.constant(v), is_constant=True, **frame) for v in (1, 3))
    merges = [raw.Merge(inputs=[e, e])[0] for e in (raw.Enter(data=t, is_constant=False, **frame) for t in (i, x))]
    going = raw.LoopCond(input=merges[0] < three)
    counter, vector = (raw.Switch(data=t, pred=going) for t in merges)
    following = (counter.output_true + one, turn(vector.output_true, frame))
    for merge, value in zip(merges, following, strict=True):
        merge.op._update_input(1, raw.NextIteration(data=value))
    return [raw.Exit(data=s.output_false) for s in (counter, vector)]


def frames(tf, i, x):
    """A loop of raw ops whose turns multiply by two."""
    return _frames(tf, i, x, lambda x, frame: x * tf.raw_ops.Enter(data=tf.constant(2.0), is_constant=True, **frame))


def _handed_on(tf, x):
    """A loop of raw ops whose turns hand x on."""
    return _frames(tf, tf.constant(0), x, lambda x, _: tf.identity(x))[1]


def _handed_on_by_v1(tf, v1, x):
    """The same by v1's function, which tells gradients of the loop."""
    turn = lambda n, x: (n + 1, tf.identity(x))  # noqa: E731
    return v1.while_loop(lambda n, _: n < 3, turn, [tf.constant(0), x])[1]


def _start(*counts):
    """Recipes: a counter's start and a vector."""
    return {f"{n}": lambda draw, d, n=n: (np.array(n, np.int32), draw.values(d, 3)) for n in counts}


def doubled(i, x):
    """The counter at the end, and x times two for each iteration."""
    n = max(3 - int(i), 0)
    return np.int32(max(int(i), 3)), x * 2.0**n


_LESS = lambda tf, i, *xs: [i < 3]  # noqa: E731
_DOUBLE = lambda tf, i, x: [i + 1, x * 2]  # noqa: E731


def _dropping(name, body, **fields):
    """The specs of a loop whose body returns too few tensors; XLA, which ends the process, stands in the full tier.

    XLA reads behind the tensors that the body returns. With one tensor too few, the memory there decides between an
    error and a crash; behind 64 of them, and behind no tensor at all, every run crashed.
    """
    refusal = raises("INVALID_ARGUMENT")
    return (
        _broken(name, _LESS, body, refusal, modes=WITHOUT_XLA),
        _broken(f"{name}-xla", _LESS, body, refusal, modes=("xla",), tier="full", attributes={"vectors": 64}),
    )


def _broken(name, cond, body, reference, **fields):
    return Spec(
        name=f"while-raw-{name}",
        program=raw_while("StatelessWhile", cond, body, **fields.pop("attributes", {})),
        reference=reference,
        recipes=_start(1),
        ops="StatelessWhile",
        ulp=ROUNDED,
        **fields,
    )


_LOOP: dict[str, Any] = {
    "ops": "Enter;Exit;NextIteration;Merge;Switch",
    "reference": lambda x: x,
    "recipes": {
        "matrix": lambda draw, d: (draw.values(d, 3, 5),),
        "one": lambda draw, d: (draw.values(d, 1),),
    },
}
_RAW = {**_LOOP, "program": in_function_of_v1(_handed_on), "modes": without_modes("eager", "xla")}
_HAND_ON = lambda g, x: (g,)  # noqa: E731
_OF_V1 = {**_LOOP, "program": with_v1(_handed_on_by_v1), "vjp": _HAND_ON, "modes": ("graph",)}
_OF_DTYPES = (
    Spec(name="while-raw-handing-on", **_RAW, vjp=_HAND_ON),
    Spec(name="while-raw-handing-on-other", **_RAW, vjp=_HAND_ON, dtypes=_SMOOTH, tier="full"),
    Spec(name="while-raw-handing-on-rough", **_RAW, dtypes=(*INTEGERS, "bool", "object"), tier="full"),
    Spec(name="while-v1-handing-on", **_OF_V1),
    Spec(name="while-v1-handing-on-other", **_OF_V1, dtypes=_SMOOTH, tier="full"),
)

SPECS = (
    *(
        Spec(
            name=f"call-raw-{op.lower()}",
            program=raw_call(op),
            reference=lambda i, x: (i + np.int32(1), x * x),
            recipes=_start(0),
            ops=op,
            ulp=ROUNDED,
        )
        for op in ("PartitionedCall", "StatefulPartitionedCall")
    ),
    Spec(
        name="while-raw-frames",
        program=frames,
        reference=doubled,
        recipes=_start(0, 3, 5),
        ops="Enter;Exit;LoopCond;NextIteration;Merge;Switch",
        modes=("graph",),
    ),
    *_OF_DTYPES,
    *(
        Spec(
            name=f"while-raw-{op.lower()}",
            program=raw_while(op, _LESS, _DOUBLE),
            reference=doubled,
            recipes=_start(0, 3, 5, -4),
            ops=op,
        )
        for op in ("While", "StatelessWhile")
    ),
    *_dropping("body-drops", lambda tf, i, *xs: [i + 1]),
    *_dropping("body-empty", lambda tf, i, *xs: []),
    _broken("body-dtype", _LESS, lambda tf, i, x: [i + 1, tf.cast(x, tf.int32)], raises("INVALID_ARGUMENT")),
    _broken(
        "body-shape",
        _LESS,
        lambda tf, i, x: [i + 1, tf.concat([x, x], 0)],
        lambda i, x: (np.int32(3), np.tile(x, 4)),
        contract=static_shapes(),
    ),
    _broken("condition-two", lambda tf, i, x: [i < 3, i < 2], _DOUBLE, raises("INVALID_ARGUMENT")),
    _broken("condition-integer", lambda tf, i, x: [3 - i], _DOUBLE, doubled),
    _broken("condition-empty", lambda tf, i, x: [x[:0]], _DOUBLE, lambda i, x: (i, x)),
    _broken("condition-vector", lambda tf, i, x: [x[: 3 - i]], _DOUBLE, doubled),
)
