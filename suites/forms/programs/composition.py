"""Composition: many small programs of several ops in one spec, each with a reference that computes it op by op.

Grappler and XLA rewrite compositions with constants in them, such as `(x * 3.0) * 5.0`, which no spec of a single op
can show. A table holds the text of each program. TensorFlow runs the text, and NumPy computes it op by op. Each program
is one output of the same function, because building a function costs far more than running it; the program's text is
the name of its output, which every record shows.

Eager mode runs the ops one by one and keeps these promises bit for bit, except for the rounding of functions such as
exp, which has the radius of `suites.reference.promises.step`. Threads that flush subnormals may do so at every step:
these results are right as well.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw, bit_patterns, is_float
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.reference.promises.numpy_tensorflow import TF
from tf_opdiff.suites.reference.promises.step import NONE, Flushing, Step

#: A program's text, or a pair of it and the text of its reference.
Row = str | tuple[str, str]
#: Elements in a row and in a column of every input: no whole number of vector registers.
SIDE = 15
#: The names of a program's inputs, in order.
INPUTS = "xyz"
#: Ops that may choose a zero of either sign: see docs/explanations/conventions.md; under XLA the sign of -0 is -0.
_EXTREME = re.compile(r"tf\.(?:sign|maximum|minimum|reduce_max|reduce_min|clip_by_value|nn\.relu6?)\(")
#: The ways in which threads that flush subnormals may compute each step.
FLUSHING = tuple(Flushing(inputs, results) for inputs, results in ((True, False), (False, True), (True, True)))


def composition(
    name: str,
    rows: Sequence[Row],
    *,
    dtype: str = "float32",
    inputs: int = 2,
    built: str,
    recipes: Mapping[str, Callable[..., tuple[np.ndarray, ...]]] | None = None,
    **fields: Any,
) -> Spec:
    """The spec of many programs. Append rows only at the end: results refer to programs by output number.

    A text may use `tf`, the inputs `x`, `y` and `z`, `inf`, `nan`, and `grad(f, x, upstream)`, the gradient of f at x.

    Args:
      name: the name of the spec.
      rows: the programs. A program with `grad` needs the text of its reference.
      dtype: the dtype of all inputs.
      inputs: the number of inputs.
      built: OpDefs, joined by `;`, which the graph must have before TensorFlow rewrites it.
      recipes: name → recipe(draw, dtype, number of inputs); by default `FLOAT_RECIPES`, or `RECIPES` of other dtypes.
      fields: other fields of the spec.
    """
    if recipes is None:
        recipes = FLOAT_RECIPES if is_float(np.dtype(dtype)) else RECIPES
    texts, promises = zip(*(row if isinstance(row, tuple) else (row, row) for row in rows), strict=True)
    outputs = [f"output[{i}]" for i in range(len(texts))]
    inexact = [i for i, text in enumerate(promises) if _has_radius(text, dtype, inputs)]
    return Spec(
        name=name,
        program=_program(texts, INPUTS[:inputs]),
        reference=partial(_values, promises, dtype, TF),
        recipes={key: _recipe(recipe, inputs) for key, recipe in recipes.items()},
        ops="",
        evidence=";".join(f"built:{op}" for op in built.split(";")),
        dtypes=(dtype,),
        names=texts,
        unsigned_zeros=tuple(outputs[i] for i, text in enumerate(texts) if _EXTREME.search(text)),
        bound={outputs[i]: partial(_bound, promises[i], dtype) for i in inexact},
        alternatives={quantity: partial(_also_right, text) for quantity, text in zip(outputs, promises, strict=True)},
        constant=tuple(outputs),  # an optimiser may compute a program without its inputs: its value is compared
        **fields,
    )


def mistaking(spec: Spec, functions: Mapping[str, Callable[..., Step]]) -> Spec:
    """A composition with the results that TensorFlow computes because of a known failure: see `SpecFields.mistaken`.

    Args:
      spec: the spec of `composition`.
      functions: the functions that TensorFlow computes in place of those of the module `tf`, by their names.
    """
    assert isinstance(spec.reference, partial)
    texts, dtype, _ = spec.reference.args
    return replace(spec, mistaken={"output": partial(_values, texts, dtype, _with(functions))})


def _program(texts: Sequence[str], names: str) -> Callable[..., Any]:
    """The program that evaluates each text; its inputs, of rank 2, have these names of one letter each.

    Each text has copies of the inputs. Otherwise Grappler would join equal ops of several texts, and it rewrites many
    ops only if they have one consumer.
    """

    def program(tf, *inputs):  # without annotations: scripts of findings hold this text
        def gradient(f, x, upstream):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            return tape.gradient(y, x, upstream)

        copies = [tf.unstack(tf.tile(tf.expand_dims(x, 0), [len(texts), 1, 1])) for x in inputs]
        own = (dict(zip(names, xs, strict=True)) for xs in zip(*copies, strict=True))
        known = {"tf": tf, "inf": math.inf, "nan": math.nan, "grad": gradient}
        return tuple(eval(text, {**known, **xs}) for text, xs in zip(texts, own, strict=True))

    return program


def _with(functions: Mapping[str, Callable[..., Step]]) -> SimpleNamespace:
    """What stands in for the module `tensorflow`, with other functions under some of its names."""
    return SimpleNamespace(**{**vars(TF), **functions})


def _values(texts: Sequence[str], dtype: str, tf: SimpleNamespace, *inputs: np.ndarray) -> tuple[np.ndarray, ...]:
    """The results of the programs, with what stands in for the module `tensorflow`."""
    return tuple(_step(text, dtype, inputs, tf=tf).value for text in texts)


def _step(
    text: str, dtype: str, inputs: Sequence[np.ndarray], flushing: Flushing = NONE, tf: SimpleNamespace = TF
) -> Step:
    """The result of a program's text, computed by NumPy op by op; inputs may be widened."""
    steps = (Step(x.astype(np.dtype(dtype)), None, flushing) for x in inputs)
    return eval(text, {"tf": tf, "inf": math.inf, "nan": math.nan, **dict(zip(INPUTS, steps, strict=False))})


def _bound(text: str, dtype: str, u: float, g: Any, *inputs: np.ndarray) -> np.ndarray:
    radius = _step(text, dtype, inputs).radius
    assert radius is not None
    return radius


@np.errstate(all="ignore")
def _has_radius(text: str, dtype: str, inputs: int) -> bool:
    return _step(text, dtype, [np.ones((SIDE, SIDE))] * inputs).radius is not None


def _also_right(text: str, dtype: np.dtype, g: Any, *inputs: np.ndarray) -> list[np.ndarray]:
    """The results of a text on threads that flush subnormals; with a radius, also the ends of its interval.

    Each element may keep one by itself: a program that Grappler or XLA rewrote flushes other numbers on its way.
    """
    steps = [_step(text, dtype.name, inputs, flushing) for flushing in (NONE, *FLUSHING)]
    return [array for step in steps for array in (step.value, *(step.ends if step.radius is not None else ()))]


def _recipe(recipe: Callable[..., tuple[np.ndarray, ...]], inputs: int) -> Recipe:
    return lambda draw, dtype: recipe(draw, dtype, inputs)


def _special_values(dtype: np.dtype) -> np.ndarray:
    """As many special values as a side has elements; of an integer dtype, its limits and small numbers."""
    if is_float(dtype):
        info = ml_dtypes.finfo(dtype)
        top, tiny, eps = float(info.max), float(info.smallest_normal), float(info.eps)
        values = [0.0, -0.0, tiny, -tiny, 0.5, 1, 1 + eps, -1, 2, -3, top, -top, np.inf, -np.inf, np.nan]
        return np.array(values).astype(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        small = [0, 1, 2, 3, 5, 7, 8, 64, limits.max, limits.max - 1, limits.min, limits.min + 1]
        return np.array([*small, *([-1, -2, -7] if dtype.kind == "i" else [4, 16, 100])], dtype)
    if dtype.kind == "c":
        parts = [
            0,
            1,
            -1,
            complex(0, 1),
            complex(-0.0, -1),
            complex(2, 3),
            complex(-3, 0.5),
            np.inf,
            complex(0, np.nan),
        ]
        return np.resize(np.array(parts, dtype), SIDE)
    return np.resize([False, True], SIDE)


def _crossed(values: np.ndarray, count: int) -> tuple[np.ndarray, ...]:
    """Inputs that hold each value of the first with each value of the second; further inputs have other orders."""
    orders = [np.repeat(values, SIDE).reshape(SIDE, SIDE), np.tile(values, (SIDE, 1))]
    orders += [np.array([np.roll(values, k * i) for i in range(SIDE)]) for k in range(1, count - 1)]
    return tuple(orders[:count])


def special(draw: Draw, dtype: np.dtype, count: int) -> tuple[np.ndarray, ...]:
    """Special values, each of the first input with each of the second; further inputs have them in other orders."""
    return _crossed(_special_values(dtype), count)


def numbers(draw: Draw, dtype: np.dtype, count: int) -> tuple[np.ndarray, ...]:
    """Ordinary numbers and random bits, each kind of the first input with each kind of the others."""
    inputs = []
    for number in range(count):
        bits = np.concatenate([bit_patterns(draw, dtype)[0] for _ in range(4)]) if dtype.kind != "c" else None
        ordinary = draw.values(dtype, SIDE, SIDE)
        anything = ordinary if bits is None else bits[: SIDE * SIDE].reshape(SIDE, SIDE)
        first = np.roll(np.arange(SIDE) < SIDE // 2, number)
        inputs.append(np.where(first[None, :] if number else first[:, None], ordinary, anything))
    return tuple(inputs)


def whole(draw: Draw, dtype: np.dtype, count: int) -> tuple[np.ndarray, ...]:
    """Small whole numbers: sums of their products are exact."""

    def part() -> np.ndarray:
        return draw.integers(SIDE, SIDE, low=-9, high=10).astype(np.float64)

    return tuple((part() + 1j * part() if dtype.kind == "c" else part()).astype(dtype) for _ in range(count))


def subnormal(draw: Draw, dtype: np.dtype, count: int) -> tuple[np.ndarray, ...]:
    """Subnormal numbers, and numbers whose products and quotients are subnormal, in the order of `special`."""
    info = ml_dtypes.finfo(dtype)
    tiny, least = float(info.smallest_normal), float(info.smallest_subnormal)
    positive = [least, 3 * least, tiny / 2, tiny - least, tiny, 1.0, np.sqrt(tiny)]
    return _crossed(np.array([*positive, *(-v for v in positive), 0.0]).astype(dtype), count)


#: Recipes, which also take the number of inputs. All their inputs have one shape, so that they share each program.
RECIPES: Mapping[str, Callable[..., tuple[np.ndarray, ...]]] = {"special": special, "numbers": numbers}
FLOAT_RECIPES = {**RECIPES, "subnormal": subnormal}
