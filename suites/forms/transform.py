"""Transform: the specs of a discrete Fourier transform, with several shapes in one program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.forms.aspects import batches, drawn, plain_values, second_order, small, values
from tf_opdiff.suites.forms.calls import Call, Calls
from tf_opdiff.suites.forms.elements import Elements, plain, small_integers
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.part import Op, Part, part, tiered, together
from tf_opdiff.suites.forms.special_upstreams import in_turn
from tf_opdiff.suites.reference.fourier import Fourier
from tf_opdiff.suites.reference.promise import OfOneTensor

Shape = tuple[int, ...]
Wrong = Mapping[str, tuple[Shape, Any]]


@dataclass(frozen=True)
class Inputs:
    """The inputs of a transform, by label.

    calls       inputs of several shapes, which one program takes together; `exact` has no factors but ±1 and ±i.
    small       inputs without numbers, or with one.
    wrong       the shape of an input, and the lengths that do not fit it.
    """

    calls: Calls
    small: Calls
    wrong: Wrong


def whole_numbers(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Integers: their transforms of length 1, 2 and 4 are exact, so that a wide bound can't hide a wrong one."""
    x = small_integers(draw, dtype, *shape)
    return x + 1j * small_integers(draw, dtype, *shape) if dtype.kind == "c" else x


def impulse(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """One number, and zeros of both signs."""
    x = np.where(draw.booleans(*shape), 0.0, -0.0).astype(dtype)
    x.reshape(-1)[-2:-1] = 3.0
    return x


def mixed_sizes(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Large numbers whose sums stay in range, numbers near 1, and small ones beside a subnormal one."""
    info = np.finfo(dtype)
    scales = np.array([float(info.max) / 4096, 1.0, float(info.smallest_normal) * 2.0 ** (info.nmant + 8)])
    rows = np.resize(scales, shape[:1] or (1,)).reshape(-1, *[1] * (len(shape) - 1))
    x = (draw.values(np.dtype(np.float64), *shape) * rows / 4).astype(dtype)
    if len(rows) > 2 and shape[-1] > 1:
        x[2].reshape(-1)[-1:] = float(info.smallest_subnormal) * 5
    return x


ELEMENTS: Mapping[str, Elements] = {
    "plain": plain,
    "exact": whole_numbers,
    "impulse": impulse,
    "mixed": mixed_sizes,
    "upstreams": plain,
}


#: Upstreams: zeros of both signs, and numbers.
upstreams = in_turn(lambda dtype: np.array((0.0, -0.0, 1.0, -2.0, 0.5)).astype(dtype))


def transform(promise: Fourier, inputs: Inputs, *, gradient: bool = True) -> Part:
    """A part: a transform. The default tier has the narrower dtype, the full tier the wider one.

    Args:
      promise: its promise.
      inputs: its inputs.
      gradient: whether TensorFlow has a gradient of the op.
    """
    takes_real, takes_lengths = promise.real and not promise.inverse, promise.real
    dtypes = ("float32", "float64") if takes_real else ("complex64", "complex128")
    calls, exact = inputs.calls, {"exact": whole_numbers}
    rows = {label: one for label, one in calls.items() if len((one.shapes or ((),))[0]) > promise.rank}
    alone = {label: {"only": one} for label, one in inputs.small.items()} if not takes_lengths else {}
    fields: dict[str, Any] = {
        "promise": OfOneTensor(
            f=promise.f,
            vjp=promise.vjp,
            jvp=lambda t, x, lengths=(): promise.f(t, lengths),
            hvp=lambda g, t, x, lengths=(): None,
            error=promise.error,
            grad_error=promise.grad_error,
            jvp_error=lambda u, t, x, lengths=(): promise.error(u, t, lengths),
        ),
        "calls": calls,
        "recipes": ELEMENTS,
        "upstreams": {"upstreams": upstreams},
        "dtypes": tiered(dtypes, default=dtypes[:1]),
        "gradient": gradient,
        "fields": {"unsigned_zeros": ("output", "grad")},
    }
    parts = together(
        values,
        *([second_order(exact)] if takes_real and gradient else []),
        batches(rows, plain, tier="full"),
        _beside_special(promise, calls["exact"]),
        small(drawn(alone, whole_numbers), constant=()),
        *([part("-sizes", calls=inputs.small, recipes=exact, lowest_tier=True)] if takes_lengths else []),
        *([_cropped(calls)] if takes_lengths else []),
        *_wrong(inputs.wrong, promise),
    )
    return lambda op: parts(replace(op, program=_program(op.raw), **fields))


def _program(op: str) -> Callable[..., Any]:
    """program(tf, x, lengths) → the raw op's result; lengths are empty, or None, for one that takes none."""

    def call(tf: Any, x: Any, lengths: Any = None) -> Any:
        if lengths is None:
            return getattr(tf.raw_ops, op)(input=x)
        wide = x.dtype in (tf.float64, tf.complex128)
        dtypes = {"Treal": tf.float64, "Tcomplex": tf.complex128} if wide else {}
        output = {name: dtype for name, dtype in dtypes.items() if dtype != x.dtype}
        return getattr(tf.raw_ops, op)(input=x, fft_length=list(lengths), **output)

    return call


def _beside_special(promise: Fourier, call: Call) -> Part:
    """A part: transforms beside one of infinities and of NaN, whose own result is not promised."""
    (shape,) = call.shapes or ((),)

    def elements(value: float) -> Recipe:
        def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
            x = whole_numbers(draw, np.dtype(dtype), 3, *shape)
            x[1] = value
            return (x,)

        return recipe

    def specs(op: Op) -> Iterable[Spec]:
        def program(tf: Any, x: Any) -> Any:
            y = op.called(tf, x, **call.attrs)
            return tf.stack([y[0], y[2]])

        return part(
            "-beside-special",
            program=program,
            reference=lambda x: promise.f(x[::2], **call.attrs),
            recipes={"nan": elements(np.nan), "infinite": elements(np.inf)},
            bound={"output[0]": lambda u, g, x: promise.error(u, x[::2], **call.attrs)},
            lowest_tier=True,
        )(op)

    return specs


def _cropped(calls: Calls) -> Part:
    """A part: an input that is longer than its transform, along the last axis, which cuts off its end."""
    first = next(iter(calls.values()))
    (shape,) = first.shapes or ((),)
    longer = {"cropped": replace(first, shapes=((*shape[:-1], shape[-1] + 2),))}
    return part("-cropped", calls=longer, recipes={"plain": plain}, lowest_tier=True)


def _wrong(wrong: Wrong, promise: Fourier) -> Iterator[Part]:
    """Parts: inputs and lengths that do not fit: an error in every mode.

    Lengths below 1 end the process in some modes, which costs seconds: most of them are in the full tier.
    """

    def refused(label: str, lengths: Any, fields: Mapping[str, Any]) -> Part:
        def specs(op: Op) -> Iterable[Spec]:
            run = op.called
            return part(f"-{label}", program=lambda tf, x: run(tf, x, lengths), lowest_tier=True, **fields)(op)

        return specs

    for label, (shape, lengths) in wrong.items():
        inferred = len(shape) < promise.rank or (lengths is not None and len(lengths) != promise.rank)
        tier = "full" if promise.rank > 1 and min(lengths or (1,)) < 1 else "default"
        recipes = {"plain": plain_values([shape])}
        yield refused(label, lengths, {"recipes": recipes, "tier": tier, **(WHEN_BUILT if inferred else IN_KERNEL)})
