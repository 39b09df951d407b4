"""The ways to call a Python function as an op, and what they share.

PyFunc, PyFuncStateless and EagerPyFunc run on the host, and XLA refuses them. Executed eagerly, `py_func` and
`numpy_function` are no op: TensorFlow calls the function.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.forms.contracts import REFUSED_BY_XLA
from tf_opdiff.suites.reference.control_flow.py_func import square

SOURCE = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/ops/script_ops.py"


def numpy_function(tf, function, inputs, dtypes):
    """`tf.numpy_function`."""
    return tf.numpy_function(function, inputs, dtypes)


def py_func(tf, function, inputs, dtypes):
    """`tf.compat.v1.py_func`, stateful."""
    return tf.compat.v1.py_func(function, inputs, dtypes)


def py_func_stateless(tf, function, inputs, dtypes):
    """`tf.compat.v1.py_func`, stateless."""
    return tf.compat.v1.py_func(function, inputs, dtypes, stateful=False)


def py_function(tf, function, inputs, dtypes):
    """`tf.py_function`."""
    return tf.py_function(function, inputs, dtypes)


@dataclass(frozen=True, kw_only=True)
class Api:
    """A way to call a Python function.

    name: in the names of specs.
    call: call(tf, function, inputs, dtypes).
    op: the OpDef in a graph.
    eager: the OpDef in eager mode; none where TensorFlow calls the function itself.
    stateless: whether Grappler may fold, merge and prune calls.
    """

    name: str
    call: Callable[..., Any]
    op: str
    eager: str = ""
    stateless: bool = False

    @property
    def ops(self) -> dict[str, str]:
        """The OpDef by mode; XLA refuses before there is a graph to look at."""
        return {"eager": self.eager, "function": self.op, "graph": self.op}

    def contract(self, reference, vjp=None) -> dict[str, Side]:
        """The contract, where eager mode does what `reference` says if it calls the function itself."""
        if self.eager:
            return REFUSED_BY_XLA
        why = "executed eagerly, the function is called, and its result converted: there is no op"
        return REFUSED_BY_XLA | {"*/eager": Side(reference=reference, vjp=vjp, why=why, link=SOURCE)}


#: Those whose function takes and gives NumPy arrays.
NUMPY = (
    Api(name="numpy-function", call=numpy_function, op="PyFunc"),
    Api(name="py-func", call=py_func, op="PyFunc"),
    Api(name="py-func-stateless", call=py_func_stateless, op="PyFuncStateless", stateless=True),
)
PY_FUNCTION = Api(name="py-function", call=py_function, op="EagerPyFunc", eager="EagerPyFunc")
ALL = (*NUMPY, PY_FUNCTION)


def squaring(call):
    """A program that squares."""
    return lambda tf, x: tf.ensure_shape(call(tf, square, [x], x.dtype), x.shape)


def counting(state, function):
    """The function, noting each call."""

    def called(*inputs):
        state["calls"].append(None)
        return function(*inputs)

    return called


def calls(tf, x):
    """The state of a program that counts calls."""
    return {"calls": []}
