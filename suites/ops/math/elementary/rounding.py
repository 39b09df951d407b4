"""Rounding: ceil, floor, rint, round. None of them has a gradient: it is unconnected, not zero."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, INTEGERS, ROUNDING, edges, plain, subnormals
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.forms.aspects import not_allowed
from tf_opdiff.suites.forms.elementwise.flushed import outputs
from tf_opdiff.suites.forms.elementwise.subnormal import subnormal_numbers
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, unconnected

_SEMANTICS = "https://openxla.org/xla/operation_semantics#round"
_NO_KERNEL = "the OpDef allows the type, but no kernel is registered for it; XLA rounds floats only"
_NO_INTEGERS = not_allowed(
    "-integer",
    dtypes=INTEGERS,
    vjp=unconnected,
    why="the OpDef allows floats only; a graph checks its list of types in Python, an eager op in the runtime",
)


def _floats(op, tier="default"):
    """A part: normal numbers; the twins in other positions meet subnormal ones, too."""
    return part(
        positions=True,
        vjp=unconnected,
        recipes=ROUNDING,
        every_input=True,
        dtypes=FLOATS,
        alternatives={"output[0]": outputs(op.reference)},
        tier=tier,
    )(op)


_SUBNORMALS = subnormal_numbers({"subnormals": subnormals}, vjp=unconnected)

SPECS = (
    *op("ceil", "Ceil", _floats, _SUBNORMALS, _NO_INTEGERS, reference=np.ceil, program=lambda tf, x: tf.math.ceil(x)),
    *op(
        "floor",
        "Floor",
        partial(_floats, tier="smoke"),
        _SUBNORMALS,
        _NO_INTEGERS,
        reference=np.floor,
        program=lambda tf, x: tf.floor(x),
    ),
    *op("rint", "Rint", _floats, _SUBNORMALS, _NO_INTEGERS, reference=np.rint, program=lambda tf, x: tf.math.rint(x)),
    *op(
        "round",
        "Round",
        _floats,
        _SUBNORMALS,
        part(
            "-integer",
            positions=True,
            program=lambda tf, x: tf.raw_ops.Round(x=x),  # tf.round(integer) is Python's: it returns its argument
            reference=lambda x: x,
            vjp=unconnected,
            recipes={"edges": edges, "plain": plain},
            dtypes=("int32", "int64"),
            contract={
                "*/xla": Side(reference=raises("INVALID_ARGUMENT"), why="XLA rounds floats only", link=_SEMANTICS)
            },
        ),
        part(
            "-integer-python",
            positions=True,
            ops={"function": "Placeholder", "xla": "Placeholder", "graph": "Placeholder"},  # no op at all: y is x
            reference=lambda x: x,
            vjp=lambda g, x: g,
            recipes={"edges": edges, "plain": plain},
            dtypes=INTEGERS,
        ),
        part(
            "-no-kernel",
            positions=True,
            program=lambda tf, x: tf.raw_ops.Round(x=x),
            reference=raises("INVALID_ARGUMENT"),
            recipes={"plain": plain},
            dtypes=("int8", "int16", "complex64", "complex128"),
            contract={"*/eager": Side(reference=raises("NOT_FOUND"), why=_NO_KERNEL)},
        ),
        reference=np.rint,
        program=lambda tf, x: tf.round(x),
    ),
)
