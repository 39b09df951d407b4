"""Comparison: parts that promise booleans from two arguments, which have no gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS, Draw, bit_patterns, is_float, subnormals
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.forms.hard_pairs import of_all_sizes, tiny
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU, OF_XLA
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.pairs import crossed, many, shaped
from tf_opdiff.suites.forms.part import Op, Part, part, together
from tf_opdiff.suites.forms.quantized import IN_XLA, NOT_IN_XLA, of_bits
from tf_opdiff.suites.forms.subnormal import flushing, flushing_on_gpu
from tf_opdiff.suites.reference.subnormal import flushed_in

REAL = (*FLOATS, *INTEGERS)
_SHAPES = {"outer": shaped((4, 1), (1, 17)), "scalar": shaped((), (3, 5)), "empty": shaped((0, 3), (3,))}


def comparison(
    name: str, raw: str, *parts: Part, reference: Callable[..., Any], dtypes: tuple[str, ...] = REAL
) -> tuple[Spec, ...]:
    """The specs of an op that compares two arguments: values, shapes that are broadcast, and other parts.

    Args:
      name: the name with which the names of its specs begin.
      raw: its OpDef.
      parts: functions from an `Op` to specs.
      reference: reference(x, y) → booleans.
      dtypes: all that the OpDef allows, but complex numbers and strings.
    """
    recipes: dict[str, Recipe] = {"edges": crossed, "bits": many(bit_patterns), "plain": often_equal}
    floats = {"output": lambda dtype, g, x, y: [reference(flushed_in(dtype, x), flushed_in(dtype, y))]}
    if set(dtypes) & set(FLOATS):
        recipes |= {"neighbours": neighbours, "subnormals": _with_subnormals}
    values = part(positions=True, recipes=recipes, dtypes=dtypes, alternatives=floats)
    shapes = part("-broadcast", recipes=_SHAPES, dtypes=("float32",) if "float32" in dtypes else dtypes)
    return op(name, raw, values, shapes, *parts, reference=reference, program=calling(raw))


def calling(op: str, **attributes: Any) -> Callable[..., Any]:
    """A program that calls a raw op of two inputs with these attributes."""
    return lambda tf, x, y: getattr(tf.raw_ops, op)(x=x, y=y, **attributes)


def complex_numbers(op: Op) -> Iterable[Spec]:
    """A part: complex numbers."""
    return part("-complex", recipes={"parts": _complex_pairs}, dtypes=COMPLEX)(op)


def quantized_numbers(op: Op) -> Iterable[Spec]:
    """A part: quantized numbers, which are equal if their bits are."""
    program = op.called
    fields: dict[str, Any] = {
        "program": lambda tf, x, y: program(tf, of_bits(tf, x), of_bits(tf, y)),
        "recipes": {"edges": crossed, "plain": often_equal},
        "tier": "full",
    }
    short = part("-16-bits-quantized", dtypes=NOT_IN_XLA, modes=WITHOUT_XLA, **fields)
    return together(part("-quantized", dtypes=IN_XLA, **fields), short)(op)


def of_xla(op: Op) -> Iterable[Spec]:
    """A part: dtypes for which XLA alone has a kernel."""
    return part(
        "-of-xla", recipes={"plain": often_equal}, dtypes=(*FLOAT8_OF_CPU, *OF_XLA), modes=("xla",), tier="full"
    )(op)


def strings(op: Op) -> Iterable[Spec]:
    """A part: strings, which XLA does not have."""
    return part(
        "-string",
        positions=True,
        reference=lambda x, y: op.reference(x, y).astype(bool),
        recipes={"plain": often_equal},
        dtypes=("object",),
        modes=WITHOUT_XLA,
    )(op)


def subnormal_numbers(op: Op) -> Iterable[Spec]:
    """A part: subnormal numbers, which a CPU may take for zeros."""
    return part(
        "-subnormal",
        positions=True,
        recipes={"tiny": _tiny},
        dtypes=FLOATS,
        contract={"cpu/*": flushing(op.reference), **flushing_on_gpu(op.reference)},
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
