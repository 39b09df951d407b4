"""`tf.saturate_cast` from every dtype to every other: https://www.tensorflow.org/api_docs/python/tf/saturate_cast.

"If there is a danger that values would over or underflow in the cast, this op applies the appropriate clamping before
the cast": the largest and the smallest values of the source dtype that the target dtype can hold stand for all beyond.
"""

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, INTEGERS, SIZE, filled, is_float
from tf_opdiff.suites.forms.programs.api import Call, calls, fixed
from tf_opdiff.suites.reference.promises.subnormal import flushed_in, wholes


def _limits(dtype):
    """The largest and the smallest number of a dtype, as Python's numbers: exact."""
    if is_float(np.dtype(dtype)):
        return float(ml_dtypes.finfo(dtype).min), float(ml_dtypes.finfo(dtype).max)
    return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)


def _clamped(value, source, target):
    """A number in the source dtype, clamped to numbers of the source dtype that the target dtype can hold."""
    low, high = _limits(target)
    if np.isnan(value):
        return value
    if not is_float(np.dtype(source)):
        return max(low, min(high, int(value)))
    if np.isinf(value) and is_float(np.dtype(target)) and _limits(source)[1] <= high:
        return value  # the target dtype holds everything that the source dtype does: there is no danger
    return max(_inward(low, source), min(_inward(high, source), value))


def _inward(limit, source):
    """The number of a float dtype that is next to a limit, not beyond it."""
    with np.errstate(over="ignore"):
        rounded = np.array(limit).astype(source)
    if np.isinf(rounded):
        return np.copysign(_limits(source)[1], limit)
    if abs(int(rounded)) > abs(int(limit)):
        rounded = np.nextafter(rounded, np.array(0, source), dtype=source)
    return float(rounded)


def _reference(source, target):
    def reference(x):
        values = [_clamped(v, source, target) for v in x.ravel().tolist()]
        if is_float(np.dtype(target)):
            return np.array(values, np.float64).astype(target).reshape(x.shape)
        return np.array([int(v) for v in values], object).astype(target).reshape(x.shape)

    return reference


def _call(source, target):
    return Call(
        name="saturate_cast",
        program=lambda tf, x: tf.saturate_cast(x, target),
        reference=_reference(source, target),
    )


def _alternatives(source):
    """Results that are right as well: zeros for subnormal floats, and the largest of all 64-bit integers.

    A processor may flush subnormal results. No float is the largest 64-bit integer, but GPUs, XLA and arm64 saturate to
    it, and it is nearer to the number than the promise is.
    """

    def flushed(number, target):
        reference = _reference(source, target)
        return lambda dtype, g, *xs: wholes(flushed_in(np.dtype(target), reference(xs[number]).astype(np.float64)))

    def largest(number, target):
        reference, top = _reference(source, target), _limits(target)[1]
        return lambda dtype, g, *xs: [np.where(xs[number] >= float(top), np.array(top, target), reference(xs[number]))]

    by_target = {t: flushed for t in _targets(source) if is_float(np.dtype(t))}
    if is_float(np.dtype(source)):
        by_target |= {"int64": largest, "uint64": largest}
    return {f"output[{i}]": by_target[t](i, t) for i, t in enumerate(_targets(source)) if t in by_target}


def _edges(draw, dtype):
    """The limits of every dtype and their neighbours in this dtype, infinities, fractions and zeros."""
    limits = [limit for d in (*INTEGERS, *FLOATS) for limit in _limits(d)]
    if not is_float(dtype):
        low, high = _limits(dtype)
        near = {max(low, min(high, int(limit) + step)) for limit in limits for step in (-1, 0, 1)}
        return (np.resize(np.array(sorted(near), dtype), 2 * SIZE),)
    with np.errstate(over="ignore"):
        exact = np.array([float(limit) for limit in limits]).astype(dtype)
    beside = [np.nextafter(exact, np.array(to, dtype), dtype=dtype) for to in (-np.inf, np.inf)]
    fractions = np.array([0.0, 0.5, -0.5, 1.5, -1.5, 2.9, -2.9, np.inf, -np.inf]).astype(dtype)
    return (filled(np.concatenate([fractions, exact, *beside]), dtype, 3 * SIZE),)


def _targets(source):
    """Every dtype but the source dtype; a promise in float64 reads as a promise in the case's dtype."""
    return [d for d in (*INTEGERS, *FLOATS) if d not in (source, "float64")]


#: Their limits are exact in float32 or float64, so that fewer things can go wrong.
_NARROW = ("int8", "int16", "int32", "uint8", "uint16", "uint32")


def _complex_edges(draw, dtype):
    """Complex numbers with parts inside and outside of the range of complex64, infinities among them."""
    parts = np.array([0.0, -0.0, 1.5, -2.5, 1e300, -1e300, np.inf, -np.inf, 3e38, -3e38])
    real, imag = np.meshgrid(parts, parts)
    z = np.empty(real.size, dtype)
    z.real, z.imag = real.ravel(), imag.ravel()
    return (z,)


def _complex_clamped(z):
    """Each part clamped by itself."""
    top = float(np.finfo(np.float32).max)
    clamped = np.empty(z.shape, np.complex64)
    clamped.real, clamped.imag = np.clip(z.real, -top, top), np.clip(z.imag, -top, top)
    return clamped


_FROM_ALL = tuple(
    spec
    for source in (*INTEGERS, *FLOATS)
    for spec in calls(
        f"api-saturate-cast-from-{source}",
        *(_call(source, target) for target in _targets(source)),
        recipes={"edges": _edges},
        ops="Cast",
        dtypes=(source,),
        alternatives=_alternatives(source),
        tier="full" if source in _NARROW else "default",
    )
)

SPECS = (
    *_FROM_ALL,
    *calls(
        "api-saturate-cast-complex",
        Call(
            name="saturate_cast",
            program=lambda tf, z: tf.saturate_cast(z, "complex64"),
            reference=_complex_clamped,
        ),
        recipes={"edges": _complex_edges},
        ops="Cast",
        dtypes=("complex128",),
    ),
    *calls(
        "api-saturate-cast-nan",
        *(
            Call(
                name="saturate_cast",
                program=program,
                reference=_reference("float32", target),
            )
            for program, target in (
                (lambda tf, x: tf.saturate_cast(x, "float16"), "float16"),
                (lambda tf, x: tf.saturate_cast(x, "bfloat16"), "bfloat16"),
            )
        ),
        recipes={"nan": fixed(np.nan, 1.0, -2.5, 0.0)},
        ops="Cast",
    ),
)
