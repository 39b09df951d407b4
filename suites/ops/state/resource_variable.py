"""ReadVariableOp, VarIsInitializedOp and VariableShape: the value of a resource variable, and its shape."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU, NIBBLES, OF_XLA, of_nibbles
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.forms.recipes.pairs import shaped
from tf_opdiff.suites.forms.state.variables import RESOURCE, final

_SMOOTH = (*(dtype for dtype in FLOATS if dtype != "float32"), *COMPLEX)
_SHAPES = {"matrix": (3, 5), "scalar": (), "empty": (0, 3), "batch_of_one": (1, 4, 3)}
_RECIPES = {label: shaped(shape) for label, shape in _SHAPES.items()}
_SMALL = {"none": shaped((0,)), "no_rows": shaped((0, 3)), "one": shaped((1,)), "ones": shaped((1, 1))}
_MATRIX = {"matrix": _RECIPES["matrix"]}


def _through(g, x):
    """The VJP of a read: the upstream is that of the variable, and the first value is no part of the program."""
    return None, g


def _read(tf, state, x):
    """The value of a variable; a tape sees no read of a handle."""
    return state["v"].read_value()


def _handle(tf, x):
    """The handle of a variable without a value."""
    return {"_v": tf.raw_ops.VarHandleOp(dtype=x.dtype, shape=x.shape, shared_name=f"assigned_{x.dtype.name}")}


def _assigned_by_xla(tf, state, x):
    """The value of a variable that XLA assigned; no other kernel assigns some dtypes."""

    def assign(handle, x):
        with tf.control_dependencies([tf.raw_ops.AssignVariableOp(resource=handle, value=x)]):
            return tf.constant(0)

    assigned = tf.function(assign, autograph=False, jit_compile=True)(state["_v"], x)
    with tf.control_dependencies([assigned]):
        return tf.raw_ops.ReadVariableOp(resource=state["_v"], dtype=x.dtype)


SPECS = (
    *op(
        "read-variable",
        "ReadVariableOp",
        part(recipes=_RECIPES, vjp=_through),
        part("-smooth", recipes=_MATRIX, vjp=_through, dtypes=_SMOOTH, tier="full"),
        part("-rough", recipes=_MATRIX, dtypes=(*INTEGERS, "bool", *FLOAT8_OF_CPU), tier="full"),
        part("-nibbles", recipes=_MATRIX, dtypes=NIBBLES, modes=WITHOUT_XLA, tier="full"),
        part("-nibble-of-xla", **of_nibbles(_read, final(lambda x: x), {"scalar": _RECIPES["scalar"]})),
        part(
            "-assigned-by-xla",
            program=_assigned_by_xla,
            reference=lambda x: x,
            recipes=_MATRIX,
            state=_handle,
            dtypes=OF_XLA[:3],
            tier="full",
        ),
        small(_SMALL),
        program=_read,
        reference=final(lambda x: x),
        variables=RESOURCE,
    ),
    *op(
        "var-is-initialized",
        "VarIsInitializedOp",
        part(recipes=_RECIPES, constant=("output[0]",)),
        small(_SMALL, constant=("output[0]",)),
        program=lambda tf, state, x: tf.raw_ops.VarIsInitializedOp(resource=state["v"].handle),
        reference=lambda x: np.True_,
        variables=RESOURCE,
    ),
    *op(
        "variable-shape",
        "VariableShape",
        part(recipes=_RECIPES, constant=("output[0]",)),
        part(
            "-int64",
            program=lambda tf, state, x: tf.raw_ops.VariableShape(input=state["v"].handle, out_type=tf.int64),
            reference=lambda x: np.array(x.shape, np.int64),
            recipes=_RECIPES,
            constant=("output[0]",),
        ),
        small(_SMALL, constant=("output[0]",)),
        program=lambda tf, state, x: tf.raw_ops.VariableShape(input=state["v"].handle),
        reference=lambda x: np.array(x.shape, np.int32),
        variables=RESOURCE,
    ),
)
