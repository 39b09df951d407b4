"""Functions of `tf.math` and `tf.linalg` that NumPy or SciPy have too: one line a function.

A function that computes nothing gives the same bits; others have a budget of 4 ULPs. Their ops have specs of their own,
with all values; these specs show that the public function calls the op with the right arguments.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls

#: path → the same function of NumPy or SciPy.
Lines = Mapping[str, Callable[..., Any]]

_OF_UNIT: Lines = {
    "math.acos": np.arccos,
    "math.asin": np.arcsin,
    "math.asinh": np.arcsinh,
    "math.atan": np.arctan,
    "math.atanh": np.arctanh,
    "math.softsign": lambda x: x / (1 + np.abs(x)),
    "math.tan": np.tan,
    "nn.elu": lambda x: np.where(x < 0, np.expm1(x), x),
    "nn.softsign": lambda x: x / (1 + np.abs(x)),
}
_OF_MATRIX: Lines = {
    "linalg.adjoint": np.transpose,
    "linalg.diag": lambda x: np.stack([np.diag(row) for row in x]),
    "linalg.diag_part": np.diag,
    "linalg.matrix_transpose": np.transpose,
    "linalg.tensor_diag_part": np.diag,
    "math.angle": lambda x: np.where(x < 0, np.pi, 0.0),
    "math.is_non_decreasing": lambda x: np.all(np.diff(x.ravel()) >= 0),
    "math.is_strictly_increasing": lambda x: np.all(np.diff(x.ravel()) > 0),
}
_OF_PAIRS: Lines = {
    "math.atan2": np.arctan2,
    "math.divide": np.divide,
    "math.greater": np.greater,
    "math.greater_equal": np.greater_equal,
    "math.less_equal": np.less_equal,
    "math.xdivy": np.divide,
    "math.xlog1py": lambda x, y: x * np.log1p(y),
    "math.xlogy": lambda x, y: x * np.log(y),
}


def _called(lines: Lines, **fields: Any) -> list[Call]:
    """The calls of functions, which take the inputs of the program."""

    def program(path: str) -> Callable[..., Any]:
        module, _, name = path.partition(".")
        return lambda tf, *xs: getattr(getattr(tf, module), name)(*xs)

    return [Call(name=path, program=program(path), reference=f, **fields) for path, f in lines.items()]


def _uniform(count: int, low: float, high: float, *shape: int) -> Any:
    """A recipe: numbers between two limits."""
    return lambda draw, dtype: tuple(draw.uniform(*shape, low=low, high=high).astype(dtype) for _ in range(count))


SPECS = (
    *calls("api-math-of-unit", *_called(_OF_UNIT, ulp=4.0), recipes={"inside": _uniform(1, 0.1, 0.9, 3, 7)}),
    *calls("api-math-of-matrix", *_called(_OF_MATRIX, ulp=1.0), recipes={"square": _uniform(1, -2, 2, 5, 5)}),
    *calls(
        "api-math-of-pairs", *_called(_OF_PAIRS, ulp=4.0), recipes={"positive": _uniform(2, 0.5, 4, 3, 5)}, arguments=2
    ),
)
