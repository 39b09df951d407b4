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


def quantized(program: Callable[..., Any], count: int | None = None) -> Callable[..., Any]:
    """The program with its first inputs, all by default, and its results as quantized numbers, shown by their bits."""

    def of_quantized(tf: Any, *xs: Any, **attrs: Any) -> Any:
        numbers = [of_bits(tf, x) if count is None or i < count else x for i, x in enumerate(xs)]
        results = program(tf, *numbers, **attrs)
        if not isinstance(results, tuple):
            return tf.bitcast(results, xs[0].dtype)
        return tuple(tf.bitcast(y, y.dtype.name[1:]) if y.dtype.name.startswith("q") else y for y in results)

    return of_quantized
