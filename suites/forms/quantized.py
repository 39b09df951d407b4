"""Quantized: programs on quantized dtypes, which NumPy lacks: their arrays hold the bits as integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: The dtypes of arrays with the bits of qint8, quint8 and qint32, which XLA has as well.
IN_XLA = ("int8", "uint8", "int32")
#: The dtypes of arrays with the bits of qint16 and quint16, which XLA lacks.
NOT_IN_XLA = ("int16", "uint16")


def of_bits(tf: Any, x: Any) -> Any:
    """The quantized numbers with the bits of an integer tensor."""
    return tf.bitcast(x, f"q{x.dtype.name}")


def quantized(program: Callable[..., Any]) -> Callable[..., Any]:
    """A program of (x, indices) whose first input and output are quantized."""
    return lambda tf, x, i: tf.bitcast(program(tf, of_bits(tf, x), i), x.dtype)
