"""Discovered: programs that `tf-opdiff discover` found, and that a person has judged."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.spec import Spec

#: Functions of two operands; the first operand is a Python number here.
_FUNCTIONS = ("maximum", "minimum", "multiply", "pow", "subtract")


def _number_first(tf, x, function):  # without annotations: scripts of findings hold this text
    return getattr(tf, function)(2, x)


def _numbers(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    return (draw.integers(9, low=0, high=5).astype(dtype),)


def _of_number(x: np.ndarray, function: str) -> Any:
    return getattr(np, {"pow": "power"}.get(function, function))(np.asarray(2, x.dtype), x)


SPECS = (
    Spec(
        name="python-number-first",
        program=_number_first,
        reference=_of_number,
        recipes={"numbers": _numbers},
        attrs={function: {"function": function} for function in _FUNCTIONS},
        ops="",
        dtypes=("float32", "float64", "int64"),
        ulp={"output": 2},
    ),
    Spec(
        name="python-number-selected",
        program=lambda tf, x: tf.where(x > 2, 0, x),
        reference=lambda x: np.where(x > 2, np.zeros_like(x), x),
        recipes={"numbers": _numbers},
        ops="",
        dtypes=("float32", "float64", "int64"),
    ),
)
