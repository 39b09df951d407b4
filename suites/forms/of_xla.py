"""Dtypes of XLA: those that XLA copies and compares, and for which other kernels are rare."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tf_opdiff.suites.forms.part import Part, part

#: Floats of 8 bits that some kernels of a CPU copy.
FLOAT8_OF_CPU = ("float8_e4m3fn", "float8_e5m2")
#: Floats of 8 bits and integers of 4 bits that XLA alone copies.
OF_XLA = ("float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz", "int4", "uint4")
NIBBLES = OF_XLA[3:]
#: All floats of 8 bits.
SMALL_FLOATS = (*FLOAT8_OF_CPU, *OF_XLA[:3])
#: All numbers of 8 bits and fewer that few kernels compute with.
SMALL_NUMBERS = (*FLOAT8_OF_CPU, *OF_XLA, "int2", "uint2", "float4_e2m1fn")
#: The dtypes that a CPU copies and XLA lacks.
OF_CPU = ("bytes", "int2", "uint2", "float4_e2m1fn")


def of_xla(dtypes: tuple[str, ...], **fields: Any) -> Part:
    """A part: dtypes for which XLA alone has a kernel."""
    return part("-of-xla", dtypes=dtypes, modes=("xla",), tier="full", **fields)


def nibble_of_xla(program: Callable[..., Any], shape: tuple[int, ...] = (), copies: int = 1) -> Part:
    """A part: an op that copies a scalar of 4 bits, whose copies are read as integers of 8 bits.

    XLA on a CPU misreads tensors of 4 bits that enter or leave a program, but not a scalar that enters.

    Args:
      program: program(tf, x) → the copies of the scalar, in tensors of `shape`.
      copies: their number.
    """

    def read(tf: Any, x: Any) -> Any:
        results = program(tf, x)
        return tuple(tf.cast(y, tf.int8) for y in (results if isinstance(results, tuple) else (results,)))

    def copied(x: np.ndarray) -> tuple[np.ndarray, ...]:
        return (np.full(shape, x.astype(np.int8)),) * copies

    recipes = {"scalar": lambda draw, dtype: (draw.values(dtype),)}
    fields: dict[str, Any] = {"dtypes": NIBBLES, "modes": ("xla",), "tier": "full"}
    return part("-nibble-of-xla", program=read, reference=copied, recipes=recipes, **fields)
