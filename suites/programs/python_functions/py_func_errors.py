"""Errors of Python functions as ops: what a function raises, and results other than declared."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import matrix
from tf_opdiff.harness.spec.spec import Raises, Spec
from tf_opdiff.suites.forms.contracts import REFUSED_BY_XLA
from tf_opdiff.suites.forms.programs.py_func import ALL, NUMPY, PY_FUNCTION, py_function

#: The error code of an exception, by the class that TensorFlow looks for; a subclass counts as its base.
#: https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/lib/core/py_func.cc
ERRORS = (
    (MemoryError, "RESOURCE_EXHAUSTED"),
    (NotImplementedError, "UNIMPLEMENTED"),
    (StopIteration, "OUT_OF_RANGE"),
    (TypeError, "INVALID_ARGUMENT"),
    (UnicodeError, "INVALID_ARGUMENT"),
    (ValueError, "INVALID_ARGUMENT"),
    (ArithmeticError, "UNKNOWN"),
    (AssertionError, "UNKNOWN"),
    (KeyError, "UNKNOWN"),
    (OSError, "UNKNOWN"),
    (RecursionError, "UNKNOWN"),
    (RuntimeError, "UNKNOWN"),
    (TimeoutError, "UNKNOWN"),
)
RAISING: dict[str, Any] = {
    e.__name__.lower(): lambda draw, d, i=i: (draw.values(d, 3), np.int32(i)) for i, (e, _) in enumerate(ERRORS)
}


def failing(x, which):
    """Raises the exception of that number."""
    raise ERRORS[int(which)][0]("planted")


def failing_op(tf):
    """Raises an error of TensorFlow's own, as an op inside the function would."""
    raise tf.errors.NotFoundError(None, None, "planted")


def positive(draw, dtype):
    """Numbers away from zero, whose integer parts differ from them."""
    return (draw.uniform(3, 5, low=1.25, high=9.75).astype(dtype),)


def _declares(api, name, gives, says, *, eager=None, declared=lambda t: t):
    """The spec of a function that gives something else than `Tout` declares.

    Args:
      api: the way to call the function.
      name: what is wrong with the result.
      gives: gives(tf, array), the function.
      says: a text in the error message.
      eager: reference of eager mode where TensorFlow calls the function itself.
      declared: `Tout` of the input's dtype.
    """
    call = api.call
    return Spec(
        name=f"{api.name}-tout-{name}",
        ops=api.ops,
        program=lambda tf, x: call(tf, lambda a: gives(tf, a), [x], declared(x.dtype)),
        reference=lambda x: Raises("INVALID_ARGUMENT", says),
        recipes={"matrix": matrix},
        contract=api.contract(eager),
    )


def given_none(tf, call, x):
    """What becomes of None where a tensor was declared; the input stands for None, which is no tensor."""
    y = call(tf, lambda a: None, [x], x.dtype)
    return x if y is None else y


SPECS = (
    *(
        Spec(
            name=f"{api.name}-error",
            ops=api.ops,
            program=lambda tf, x, which, call=api.call: call(tf, failing, [x, which], x.dtype),
            reference=lambda x, which: Raises(ERRORS[which][1], ERRORS[which][0].__name__),
            recipes=RAISING,
            contract=api.contract(lambda x, which: Raises(ERRORS[which][0].__name__, "planted")),
            tier="smoke" if api is NUMPY[0] else "default",
        )
        for api in ALL
    ),
    *(
        Spec(
            name=f"{api.name}-error-of-tensorflow",  # which loses its code
            ops=api.ops,
            program=lambda tf, x, call=api.call: call(tf, lambda a: failing_op(tf), [x], x.dtype),
            reference=lambda x: Raises("UNKNOWN", "NotFoundError: planted"),
            recipes={"matrix": matrix},
            contract=api.contract(lambda x: Raises("NOT_FOUND", "planted")),
        )
        for api in ALL
    ),
    *(
        Spec(
            name=f"{api.name}-tout-none",
            ops=api.ops,
            program=lambda tf, x, call=api.call: given_none(tf, call, x),
            reference=lambda x: Raises("INVALID_ARGUMENT", "returns 0 values, but expects to see 1"),
            recipes={"matrix": matrix},
            contract=api.contract(lambda x: x),
        )
        for api in ALL
    ),
    Spec(
        name="py-function-tout-numpy",  # an array, unlike a tensor, is converted to what was declared
        ops=PY_FUNCTION.ops,
        program=lambda tf, x: py_function(tf, lambda t: t.numpy().astype(np.int32), [x], x.dtype),
        reference=np.trunc,
        recipes={"matrix": positive},
        contract=REFUSED_BY_XLA,
    ),
    *(
        _declares(
            api,
            "dtype",
            lambda tf, a: a.astype(np.int32),
            "is int32, but expects float",
            eager=lambda x: x.astype(np.int32),
        )
        for api in NUMPY
    ),
    *(
        _declares(
            api,
            "too-few",
            lambda tf, a: a + a,
            "returns 1 values, but expects to see 2",
            eager=lambda x: x + x,
            declared=lambda t: [t, t],
        )
        for api in ALL
    ),
    *(
        _declares(
            api,
            "too-many",
            lambda tf, a: [a, a + a],
            "returns 2 values, but expects to see 1",
            eager=lambda x: (x, x + x),
        )
        for api in ALL
    ),
    _declares(
        PY_FUNCTION,
        "dtype",
        lambda tf, a: tf.cast(a, tf.int32),
        "requested dtype float32 for Tensor with dtype int32",
    ),
)
