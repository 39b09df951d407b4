"""The raw ops of control flow: If and StatelessIf with predicates of any dtype, Switch and Merge."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA, without_modes
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.forms.programs.branches import ROUNDED, either
from tf_opdiff.suites.reference.control_flow import cond as ref


def raw_if(op, then, otherwise):
    """raw_ops.If or StatelessIf over traced branches of two inputs."""

    def program(tf, p, x, y):
        traced = [
            tf.function(f, autograph=False).get_concrete_function(
                tf.TensorSpec(x.shape, x.dtype), tf.TensorSpec(y.shape, y.dtype)
            )
            for f in (lambda x, y: [then(x, y)], lambda x, y: [otherwise(x, y)])
        ]
        attributes = {"Tout": [x.dtype], "output_shapes": [x.shape]}
        return getattr(tf.raw_ops, op)(
            cond=p, input=[x, y], then_branch=traced[0], else_branch=traced[1], **attributes
        )[0]

    return program


def switch_merge(tf, p, x):
    """Either side of a Switch, which is dead if the predicate says so, into a Merge."""
    otherwise, then = tf.raw_ops.Switch(data=x, pred=p)
    return tuple(tf.raw_ops.Merge(inputs=[otherwise * otherwise, then * 2]))


def switch_merge_outside(tf, p, x, y):
    """The same with y, which no Switch guards, inside one branch."""
    otherwise, then = tf.raw_ops.Switch(data=x, pred=p)
    return tf.raw_ops.Merge(inputs=[otherwise * y, then * 2])[0]


def _predicate(value, shape=()):
    """A recipe: a predicate of the case's dtype, and two int32 vectors to choose from."""

    def recipe(draw, d):
        p = np.full(shape, value if d.kind != "O" else b"0" * int(value)).astype(d)
        return p, np.arange(1, 4, dtype=np.int32), np.arange(-3, 0, dtype=np.int32)

    return recipe


def _refused(code):
    return lambda *_: Raises(code)


_PREDICATE: dict[str, Any] = {
    "program": raw_if("StatelessIf", lambda x, y: x + y, lambda x, y: x * y),
    "ops": "StatelessIf",
}
_PREDICATES = {
    "zero": _predicate(0),
    "nonzero": _predicate(3),
    "empty": _predicate(0, (0,)),
    "vector": _predicate(0, (2,)),
}


SPECS = (
    Spec(
        name="if-predicate",
        reference=ref.chosen,
        recipes=_PREDICATES,
        dtypes=("float32", "float64", "int8", "int16", "int32", "int64", "uint8"),
        **_PREDICATE,
    ),
    Spec(
        name="if-predicate-bool",
        reference=ref.chosen,
        recipes=_PREDICATES,
        dtypes=("bool",),
        tier="smoke",
        **_PREDICATE,
    ),
    Spec(
        name="if-predicate-nan",
        reference=ref.chosen,
        recipes={"nan": _predicate(np.nan), "negative_zero": _predicate(-0.0)},
        dtypes=("float32", "float64"),
        **_PREDICATE,
    ),
    Spec(
        name="if-predicate-string",
        reference=ref.chosen,
        recipes=_PREDICATES,
        dtypes=("object",),
        modes=WITHOUT_XLA,  # XLA has no strings
        **_PREDICATE,
    ),
    *(
        Spec(
            name=f"if-predicate-{name}",
            reference=ref.chosen,
            recipes={"nonzero": _predicate(3)},
            dtypes=dtypes,
            tier=tier,
            **_PREDICATE,
        )
        for name, tier, dtypes in (
            ("unsupported", "default", ("float16", "uint32")),  # each of these costs a server: see suites/known
            ("unsupported-more", "full", ("bfloat16", "uint16", "uint64", "complex64", "complex128")),
        )
    ),
    *(
        Spec(
            name=f"if-raw-{op.lower()}",
            program=raw_if(op, lambda x, y: x * y, lambda x, y: x - y),
            reference=lambda p, x, y: x * y if p else x - y,
            vjp=lambda g, p, x, y: (None, g * y if p else g, g * x if p else -g),
            recipes=either((7,), (7,)),
            ops=op,
            dtypes=FLOATS,
            ulp=ROUNDED,
            contract={
                "*/eager": Side(
                    reference=lambda p, x, y: x * y if p else x - y,
                    vjp=_refused("AttributeError"),
                    why="the gradient of If looks for the branches in the graph of the op, and an eager op has none",
                )
            },
        )
        for op in ("If", "StatelessIf")
    ),
    Spec(
        name="switch-merge",
        program=switch_merge,
        reference=lambda p, x: (x * 2 if p else x * x, np.int32(p)),
        vjp=lambda g, p, x: (None, g[0] * (2 if p else 2 * x)),
        recipes=either((7,)),
        ops="Switch;Merge",
        dtypes=FLOATS,
        modes=without_modes("eager"),  # an eager tensor is never dead
        ulp=ROUNDED,
        contract={
            "*/function": Side(
                reference=lambda p, x: (x * 2 if p else x * x, np.int32(p)),
                vjp=_refused("NotImplementedError"),
                why="a tape does not differentiate v1 control flow",
                link="https://github.com/tensorflow/tensorflow/issues/31995",
            ),
            "*/xla": Side(reference=_refused("INVALID_ARGUMENT"), why="XLA compiles If, and knows no dead tensors"),
        },
    ),
    Spec(
        name="switch-merge-outside",  # what enters a branch without a Switch has a dead gradient where it is not taken
        program=switch_merge_outside,
        reference=lambda p, x, y: x * 2 if p else x * y,
        vjp=lambda g, p, x, y: (None, 2 * g, 0 * g) if p else (None, g * y, g * x),
        recipes=either((7,), (7,)),
        ops="Switch;Merge",
        modes=("graph",),  # the others refuse the gradient of v1 control flow: see switch-merge
        ulp=ROUNDED,
    ),
)
