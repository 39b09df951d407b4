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


def of_nibbles(program: Callable[..., Any], reference: Callable[..., Any], recipes: Any) -> dict[str, Any]:
    """The fields of a spec of scalars of 4 bits under XLA, whose results are read as integers of 8 bits.

    XLA on a CPU misreads tensors of 4 bits that enter or leave a program, but not a scalar that enters.

    Args:
      program: program(tf, *inputs), or program(tf, state, *inputs).
      reference: its results, before they are read.
      recipes: the recipes of its inputs, which are scalars.
    """

    def read(tf: Any, *xs: Any) -> Any:
        return tuple(tf.cast(y, tf.int8) for y in _listed(program(tf, *xs)))

    def promised(*xs: np.ndarray) -> tuple[Any, ...]:
        return tuple(y if isinstance(y, dict) else y.astype(np.int8) for y in _listed(reference(*xs)))

    fields: dict[str, Any] = {"dtypes": NIBBLES, "modes": ("xla",), "tier": "full"}
    return {"program": read, "reference": promised, "recipes": recipes, **fields}


def nibble_of_xla(program: Callable[..., Any], shape: tuple[int, ...] = (), copies: int = 1) -> Part:
    """A part: an op that copies a scalar of 4 bits.

    Args:
      program: program(tf, x) → the copies of the scalar, in tensors of `shape`.
      copies: their number.
    """
    recipes = {"scalar": lambda draw, dtype: (draw.values(dtype),)}
    return part("-nibble-of-xla", **of_nibbles(program, lambda x: (np.full(shape, x),) * copies, recipes))


def _listed(results: Any) -> Any:
    return results if isinstance(results, (list, tuple)) else (results,)
