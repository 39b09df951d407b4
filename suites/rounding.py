"""Rounding: ceil, floor, rint, round. None of them has a gradient: it is unconnected, not zero."""

import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS, INTEGERS, ROUNDING, edges, plain, subnormals
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.references.subnormal import DENORMALS, LINK, WHY, flushed

_OPS = (("ceil", "Ceil", np.ceil), ("floor", "Floor", np.floor), ("rint", "Rint", np.rint), ("round", "Round", np.rint))
_PROGRAMS = {
    "Ceil": lambda tf, x: tf.math.ceil(x),
    "Floor": lambda tf, x: tf.floor(x),
    "Rint": lambda tf, x: tf.math.rint(x),
    "Round": lambda tf, x: tf.round(x),
}


def _none(g, x):
    return None


def _raises(code, says=""):
    return lambda x: Raises(code, says)


_MATH_OPS = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/ops/math_ops.cc"
_NOT_ALLOWED = "the OpDef allows floats only; a graph checks its list of types in Python, an eager op in the runtime"
_NO_KERNEL = "the OpDef allows the type, but no kernel is registered for it; XLA rounds floats only"
_SEMANTICS = "https://openxla.org/xla/operation_semantics#round"

SPECS = (
    *(
        Spec(
            name=name,
            ops=op,
            program=_PROGRAMS[op],
            reference=reference,
            vjp=_none,
            recipes=ROUNDING,
            dtypes=FLOATS,
            tier="smoke" if name == "floor" else "default",
        )
        for name, op, reference in _OPS
    ),
    *(
        Spec(
            name=f"{name}-integer",
            ops=op,
            program=_PROGRAMS[op],
            reference=_raises("TypeError", "not in list of allowed values"),
            vjp=_none,
            recipes={"plain": plain},
            dtypes=INTEGERS,
            contract={"*/eager": Side(reference=_raises("INVALID_ARGUMENT"), why=_NOT_ALLOWED, link=_MATH_OPS)},
        )
        for name, op, _ in _OPS[:3]
    ),
    *(
        Spec(
            name=f"{name}-subnormal",
            ops=op,
            program=_PROGRAMS[op],
            reference=reference,
            vjp=_none,
            recipes={"subnormals": subnormals},
            dtypes=FLOATS,
            contract={
                "cpu/*": Side(reference=lambda x, r=reference: r(flushed(x)), why=WHY, link=LINK, unless=DENORMALS)
            },
        )
        for name, op, reference in _OPS
    ),
    # tf.round(integer) is its argument, by Python: only the raw op meets the kernels.
    Spec(
        name="round-integer",
        ops="Round",
        program=lambda tf, x: tf.raw_ops.Round(x=x),
        reference=lambda x: x,
        vjp=_none,
        recipes={"edges": edges, "plain": plain},
        dtypes=("int32", "int64"),
        contract={"*/xla": Side(reference=_raises("INVALID_ARGUMENT"), why="XLA rounds floats only", link=_SEMANTICS)},
    ),
    Spec(
        name="round-integer-python",
        ops={"function": "Placeholder", "xla": "Placeholder", "graph": "Placeholder"},  # no op at all: y is x
        program=lambda tf, x: tf.round(x),
        reference=lambda x: x,
        vjp=lambda g, x: g,
        recipes={"edges": edges, "plain": plain},
        dtypes=INTEGERS,
    ),
    Spec(
        name="round-no-kernel",
        ops="Round",
        program=lambda tf, x: tf.raw_ops.Round(x=x),
        reference=_raises("INVALID_ARGUMENT"),
        recipes={"plain": plain},
        dtypes=("int8", "int16", "complex64", "complex128"),
        contract={"*/eager": Side(reference=_raises("NOT_FOUND"), why=_NO_KERNEL)},
    ),
)
