"""Comparison: parts that promise booleans from two arguments, which have no gradient."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS, Draw, bit_patterns, is_float, subnormals
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.op_types import taken_by_cpu
from tf_opdiff.suites.forms.array_ops.quantized import IN_XLA, NOT_IN_XLA, of_bits
from tf_opdiff.suites.forms.elementwise.subnormal import subnormal_numbers
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU, OF_XLA, of_xla
from tf_opdiff.suites.forms.part import Op, part, together
from tf_opdiff.suites.forms.recipes.hard_pairs import of_all_sizes, tiny
from tf_opdiff.suites.forms.recipes.pairs import crossed, many, shaped
from tf_opdiff.suites.reference.promises.subnormal import flushed_in, wholes

_SHAPES = {"outer": shaped((4, 1), (1, 17)), "scalar": shaped((), (3, 5)), "empty": shaped((0, 3), (3,))}


def compared(op: Op) -> Iterable[Spec]:
    """A part: values, and shapes that are broadcast; all dtypes but complex numbers and strings."""
    dtypes, compare = taken_by_cpu(op.raw, (*FLOATS, *INTEGERS, "bool")), op.reference
    recipes: dict[str, Recipe] = {"edges": crossed, "bits": many(bit_patterns), "plain": often_equal}
    if "float32" in dtypes:
        recipes |= {"neighbours": neighbours, "subnormals": _with_subnormals}
    flushed = {"output": lambda dtype, g, x, y: wholes(compare(flushed_in(dtype, x), flushed_in(dtype, y)))}
    yield from part(positions=True, recipes=recipes, dtypes=dtypes, alternatives=flushed)(op)
    yield from part("-broadcast", recipes=_SHAPES, dtypes=("float32",) if "float32" in dtypes else dtypes)(op)


def of_equality(op: Op) -> Iterable[Spec]:
    """A part: complex numbers; strings, which XLA does not have; quantized numbers, which are equal if their bits are.

    XLA has kernels for more dtypes.
    """
    program = op.called
    quantized: dict[str, Any] = {
        "program": lambda tf, x, y: program(tf, of_bits(tf, x), of_bits(tf, y)),
        "recipes": {"edges": crossed, "plain": often_equal},
        "tier": "full",
    }
    return together(
        part("-complex", recipes={"parts": _complex_pairs}, dtypes=COMPLEX),
        of_xla((*FLOAT8_OF_CPU, *OF_XLA), recipes={"plain": often_equal}),
        part("-quantized", dtypes=IN_XLA, **quantized),
        part("-16-bits-quantized", dtypes=NOT_IN_XLA, modes=WITHOUT_XLA, **quantized),
        part(
            "-string",
            positions=True,
            reference=lambda x, y: op.reference(x, y).astype(bool),
            recipes={"plain": often_equal},
            dtypes=("object",),
            modes=WITHOUT_XLA,
        ),
    )(op)


def often_equal(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Pairs of numbers; about every third pair is equal."""
    x, y = (draw.values(dtype, 841) for _ in "xy")
    return x, np.where(draw.integers(841, low=0, high=3) == 0, x, y)


def neighbours(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Numbers of all sizes with themselves, with the next larger and smaller number, and with the opposite number."""
    if dtype.kind in "bS":
        return often_equal(draw, dtype)
    if is_float(dtype):
        x = of_all_sizes(draw, dtype, 841)
        beside = [np.nextafter(x, np.array(end, dtype), dtype=dtype) for end in (np.inf, -np.inf)]
    else:
        x = many(bit_patterns, 1)(draw, dtype)[0]
        beside = [x + np.ones((), dtype), x - np.ones((), dtype)]
    turn = np.arange(841) % 4
    return x, np.select([turn == 0, turn == 1, turn == 2], [x, *beside], -x).astype(dtype)


def _with_subnormals(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Subnormal numbers with subnormal, zero, plain, huge and special numbers; other dtypes have none."""
    return tiny(draw, dtype) if is_float(dtype) else crossed(draw, dtype)


def _complex_pairs(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Pairs of numbers with one equal part, two, or none; signed zeros, infinities and NaN are among the parts."""
    parts = [0.0, -0.0, 1.0, -2.5, np.inf, np.nan]
    numbers = np.array([complex(a, b) for a in parts for b in parts], dtype)
    return tuple(a.ravel() for a in np.meshgrid(numbers, numbers, indexing="ij"))


def _tiny(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Subnormals against each other, zero, and plain numbers."""
    x = subnormals(draw, dtype)[0]
    return np.concatenate([x, x, x]), np.concatenate([np.roll(x, 1), np.zeros_like(x), draw.values(dtype, x.size)])


SUBNORMAL = subnormal_numbers({"tiny": _tiny})
