"""Functions of `tf.experimental.numpy` that NumPy has too: one line a function, called with both libraries.

A line is a name, whose function takes the inputs of the program, or the name and a call of either library. A function
that computes nothing gives the same bits; others have a budget of 4 ULPs.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.forms.programs.api import Call, calls

#: name → call(library, *inputs)
Lines = Mapping[str, Callable[..., Any]]


def by_name(names: str) -> Lines:
    """Functions that take the inputs of the program."""
    return {name: lambda lib, *xs, name=name: getattr(lib, name)(*xs) for name in names.split()}


_OF_MATRIX: Lines = {
    **by_name("absolute amin array asanyarray asarray ascontiguousarray atleast_1d atleast_2d atleast_3d ceil conj"),
    **by_name("conjugate copy diag diagflat diagonal fabs fliplr flipud full_like imag isfinite isinf isnan"),
    **by_name("max min positive ravel real rot90 signbit tril triu"),
    "append": lambda lib, x: lib.append(x, x, 0),
    "broadcast_to": lambda lib, x: lib.broadcast_to(x, (2, 3, 5)),
    "compress": lambda lib, x: lib.compress(np.array([True, False, True]), x, 0),
    "concatenate": lambda lib, x: lib.concatenate([x, x], 1),
    "dstack": lambda lib, x: lib.dstack([x, x]),
    "flip": lambda lib, x: lib.flip(x, 0),
    "full_like": lambda lib, x: lib.full_like(x, 2.5),
    "hstack": lambda lib, x: lib.hstack([x, x]),
    "moveaxis": lambda lib, x: lib.moveaxis(x, 0, 1),
    "select": lambda lib, x: lib.select([x > 1, x < -1], [x, -x], 0.5),
    "swapaxes": lambda lib, x: lib.swapaxes(x, 0, 1),
    "take": lambda lib, x: lib.take(x, np.array([2, 0]), 0),
    "vstack": lambda lib, x: lib.vstack([x, x]),
}
#: Functions that compare by `==`, and what this is in a v1 graph.
_COMPARED: Lines = by_name("iscomplex isneginf isposinf isreal")
_IN_GRAPH = (np.True_, np.False_, np.False_, np.False_)
_ROUNDED: Lines = {
    **by_name("arccos arccosh arcsin arcsinh arctan arctanh cumprod exp2 expm1 log log10 log1p log2 nanprod rad2deg"),
    **by_name("reciprocal tan"),
    "arccosh": lambda lib, x: lib.arccosh(x + 1),
    "polyval": lambda lib, x: lib.polyval(np.array([2.0, 0.5, 1.0], x.dtype if lib is np else "float32"), x),
}
_OF_PAIRS: Lines = {
    **by_name("arctan2 divide greater greater_equal less_equal logical_xor mod outer float_power"),
    "all": lambda lib, x, y: lib.all(x > 0, 0),
    "allclose": lambda lib, x, y: lib.allclose(x, y),
    "any": lambda lib, x, y: lib.any(y > 1, 1),
    "array_equal": lambda lib, x, y: lib.array_equal(x, x + 0 * y),
}
_WHOLE: Lines = {
    **by_name("bitwise_and bitwise_or bitwise_xor dot inner kron vdot"),
    "bitwise_not": lambda lib, x, y: lib.bitwise_not(x),
    "cross": lambda lib, x, y: lib.cross(x, y),
    "einsum": lambda lib, x, y: lib.einsum("ij,kj->ik", x, y),
    "take_along_axis": lambda lib, x, y: lib.take_along_axis(x, y % 3, 1),
    "tensordot": lambda lib, x, y: lib.tensordot(x, y, [[1], [1]]),
    "trace": lambda lib, x, y: lib.trace(x),
    "vander": lambda lib, x, y: lib.vander(x[0]),
}


def called(lines: Lines, **fields: Any) -> list[Call]:
    """The calls of functions with both libraries."""
    return [
        Call(
            name=f"experimental.numpy.{name}",
            program=lambda tf, *xs, call=call: call(tf.experimental.numpy, *xs),
            reference=lambda *xs, call=call: call(np, *xs),
            **fields,
        )
        for name, call in lines.items()
    ]


#: Functions that do not read real numbers.
_CONSTANT = ("full_like", "imag")


def _matrix(draw, dtype):
    """A recipe: numbers of both signs, infinities and NaN."""
    x = draw.values(dtype, 3, 5)
    x.flat[[3, 7, 11]] = np.inf, np.nan, -np.inf
    return (x,)


SPECS = (
    *calls(
        "api-numpy-of-matrix",
        *called(_OF_MATRIX),
        recipes={"special": _matrix},
        constant=tuple(f"output[{i}]" for i, name in enumerate(_OF_MATRIX) if name in _CONSTANT),
    ),
    *calls(
        "api-numpy-compared",
        *called(_COMPARED),
        recipes={"special": _matrix},
        constant=tuple(f"output[{i}]" for i in range(4)),
        contract={
            "*/graph": Side(
                reference=lambda *xs: _IN_GRAPH,
                why="in a v1 graph, `==` compares tensors by their identity",
                link="https://www.tensorflow.org/api_docs/python/tf/compat/v1/disable_tensor_equality",
            )
        },
    ),
    *calls(
        "api-numpy-rounded",
        *called(_ROUNDED, ulp=4.0),
        recipes={"inside": lambda draw, d: (draw.uniform(3, 7, low=0.1, high=0.9).astype(d),)},
    ),
    *calls(
        "api-numpy-of-pairs",
        *called(_OF_PAIRS, ulp=4.0),
        recipes={"positive": lambda draw, d: tuple(draw.uniform(3, 5, low=0.5, high=4).astype(d) for _ in range(2))},
        arguments=2,
    ),
    *calls(
        "api-numpy-whole",
        *called(_WHOLE),
        recipes={"whole": lambda draw, d: tuple(draw.integers(3, 3, low=0, high=9).astype(d) for _ in range(2))},
        arguments=2,
        dtypes=("int64",),
    ),
)
