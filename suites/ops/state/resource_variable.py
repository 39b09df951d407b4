"""ReadVariableOp, VarIsInitializedOp and VariableShape: the value of a resource variable, and its shape."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU, OF_XLA
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


SPECS = (
    *op(
        "read-variable",
        "ReadVariableOp",
        part(recipes=_RECIPES, vjp=_through),
        part("-smooth", recipes=_MATRIX, vjp=_through, dtypes=_SMOOTH, tier="full"),
        part("-rough", recipes=_MATRIX, dtypes=(*INTEGERS, "bool", *FLOAT8_OF_CPU), tier="full"),
        part("-nibbles", recipes=_MATRIX, dtypes=OF_XLA, modes=WITHOUT_XLA, tier="full"),  # XLA assigns none of these
        small(_SMALL),
        program=lambda tf, state, x: state["v"].read_value(),  # a tape sees no read of a handle
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
        small(_SMALL, constant=("output[0]",)),
        program=lambda tf, state, x: tf.raw_ops.VariableShape(input=state["v"].handle),
        reference=lambda x: np.array(x.shape, np.int32),
        variables=RESOURCE,
    ),
)
