"""Discrete Fourier transforms. Errors are those of any order of the sums: see
`suites.reference.linear_algebra.fourier`."""

from dataclasses import replace

import numpy as np

from tf_opdiff.suites.derived.unknown_shape import sized
from tf_opdiff.suites.forms.aspects import drawn, second_order, small
from tf_opdiff.suites.forms.calls import Call, call, unfit
from tf_opdiff.suites.forms.elementwise.special_upstreams import finite
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.linear_algebra.matrices import next_to_special
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.elements import plain
from tf_opdiff.suites.reference.linear_algebra.fourier import Fourier

#: The shapes of complex inputs: odd and prime lengths, powers of two, a single number.
_COMPLEX = {
    1: {
        "rows": call((3, 5)),
        "vector": call((7,)),
        "power": call((2, 8)),
        "exact": call((3, 4)),
        "one": call((3, 1)),
        "single": call((1, 6)),
    },
    2: {
        "rows": call((3, 3, 5)),
        "plane": call((7, 2)),
        "exact": call((2, 4, 4)),
        "one": call((2, 1, 1)),
        "single": call((1, 3, 4)),
    },
    3: {
        "rows": call((2, 3, 2, 5)),
        "box": call((3, 5, 2)),
        "exact": call((2, 4, 2, 1)),
        "one": call((1, 1, 1)),
        "single": call((1, 2, 3, 2)),
    },
}
#: Inputs without numbers, or with one.
_SMALL = {
    1: {"none": call((0,)), "no_rows": call((0, 3)), "no_columns": call((3, 0)), "one": call((1,))},
    2: {"no_rows": call((0, 3)), "no_columns": call((3, 0)), "no_planes": call((0, 2, 3)), "ones": call((1, 1))},
    3: {
        "no_planes": call((0, 2, 3)),
        "empty_inside": call((2, 0, 3)),
        "no_boxes": call((0, 2, 1, 3)),
        "ones": call((1, 1, 1)),
    },
}


def _of_real(rank):
    """Inputs of transforms of real numbers: odd and even lengths of the last axis."""
    more = (3, 2)[: rank - 1]
    odd, even, exact = (*more, 7), (*more, 6), (*(2,) * (rank - 1), 4)
    return {
        "odd": call((2, *odd), lengths=odd),
        "even": call((2, *even), lengths=even),
        "exact": call((3, *exact), lengths=exact),
        "one": call((2, *(1,) * rank), lengths=(1,) * rank),
        "single": call((1, *even), lengths=even),
    }


def _small_of_real(rank):
    """Inputs of transforms of real numbers, without numbers or with one."""
    odd = (2, 3, 5)[-rank:]
    return {"no_rows": call((0, *odd), lengths=odd), "ones": call((1,) * rank, lengths=(1,) * rank)}


def _to_real(calls):
    """Inputs of inverse transforms to real numbers: the terms of one half."""

    def half(of: Call):
        assert of.shapes
        (shape,), lengths = of.shapes, of.attrs["lengths"]
        return call((*shape[:-1], lengths[-1] // 2 + 1), lengths=lengths)

    return {label: half(of) for label, of in calls.items()}


def _wrong_lengths(rank):
    """Lengths that are too few, too many or too large, negative ones and 0.

    Lengths below 1 end the process in some modes, which costs seconds: most of them are in the full tier.
    """
    shape = (2, 4, 4, 4)[-rank - 1 :]
    of_kernel = {**IN_KERNEL, "tier": "full" if rank > 1 else "default"}
    return {
        "too-few": unfit(shape, lengths=[4] * (rank - 1)),
        "too-many": unfit(shape, lengths=[4] * (rank + 1)),
        "too-long": unfit(shape, promise=IN_KERNEL, lengths=[4] * (rank - 1) + [9]),
        "negative": unfit(shape, promise=of_kernel, lengths=[4] * (rank - 1) + [-1]),
        "no-length": unfit(shape, promise=of_kernel, lengths=[4] * (rank - 1) + [0]),
        "too-flat": unfit(shape[-rank + 1 :] if rank > 1 else (), lengths=[4] * rank),
    }


def _integers(draw, dtype, *shape):
    """Integers: their transforms of length 1, 2 and 4 are exact, so that a wide bound can't hide a wrong one."""
    x = draw.integers(*shape, low=-8, high=9)
    return (x + 1j * draw.integers(*shape, low=-8, high=9) if dtype.kind == "c" else x).astype(dtype)


def _impulse(draw, dtype, *shape):
    """One number, and zeros of both signs."""
    x = np.where(draw.booleans(*shape), 0.0, -0.0).astype(dtype)
    x.reshape(-1)[-2:-1] = 3.0
    return x


def _mixed_sizes(draw, dtype, *shape):
    """Large numbers whose sums stay in range, numbers near 1, and small ones with a subnormal one."""
    info = np.finfo(dtype)
    scales = np.array([float(info.max) / 4096, 1.0, float(info.smallest_normal) * 2.0 ** (info.nmant + 8)])
    rows = np.resize(scales, shape[:1] or (1,)).reshape(-1, *[1] * (len(shape) - 1))
    x = (draw.values(np.dtype(np.float64), *shape) * rows / 4).astype(dtype)
    if len(rows) > 2 and shape[-1] > 1:
        x[2].reshape(-1)[-1:] = float(info.smallest_subnormal) * 5
    return x


def _transform(promise, calls, *parts):
    """The fields of a transform, of real or of complex numbers."""
    exact = calls["exact"]
    dtypes = ("float32", "float64") if promise.real and not promise.inverse else ("complex64", "complex128")
    return {
        "parts": (next_to_special(replace(exact, shapes=((3, *exact.shapes[0]),)), _integers), *parts),
        "promise": promise,
        "calls": calls,
        "recipes": {"plain": plain, "exact": _integers, "impulse": _impulse, "mixed": _mixed_sizes, "upstreams": plain},
        "upstreams": {"upstreams": finite},
        "batch": {label: one for label, one in calls.items() if len(one.shapes[0]) > promise.rank},
        "dtypes": tiered(dtypes, default=dtypes[:1]),
        "unsigned_zeros": ("output", "grad"),
    }


def _complex(rank, *, inverse=False):
    """The fields of a transform of complex numbers."""
    return {
        "arguments": ("input",),
        "wrong": {"too-flat": ((3, 4)[: rank - 1],)},
        **_transform(
            Fourier(rank, inverse=inverse), _COMPLEX[rank], small(drawn(_SMALL[rank], _integers), constant=())
        ),
    }


def _real(raw, rank, *, inverse=False, gradient=True):
    """The fields of a transform of real numbers."""

    def program(tf, x, lengths):
        """The op, whose results are as wide as its input."""
        wide = x.dtype in (tf.float64, tf.complex128)
        dtypes = {"Treal": tf.float64, "Tcomplex": tf.complex128} if wide else {}
        output = {name: dtype for name, dtype in dtypes.items() if dtype != x.dtype}
        return getattr(tf.raw_ops, raw)(input=x, fft_length=list(lengths), **output)

    calls, few = _of_real(rank), _small_of_real(rank)
    if inverse:
        calls, few = _to_real(calls), _to_real(few)
    first = calls["odd"]
    *rest, last = first.shapes[0]
    # The end of an input that is longer than its transform is cut off.
    longer = {"cropped": replace(first, shapes=((*rest, last + 2),))}
    return {
        "raw": raw,
        "program": program,
        "wrong": _wrong_lengths(rank),
        "gradient": gradient,
        **_transform(
            Fourier(rank, inverse=inverse, real=True),
            calls,
            *([] if inverse or not gradient else [second_order({"exact": _integers})]),
            sized(part("-sizes", calls=few, recipes={"exact": _integers}, lowest_tier=True)),
            part("-cropped", calls=longer, recipes={"plain": plain}, lowest_tier=True),
        ),
    }


SPECS = (
    *op("fft", "FFT", **_complex(1), ordinary=ordinary.PARTS),
    *op("fft2d", "FFT2D", **_complex(2), ordinary=ordinary.PARTS),
    *op("fft3d", "FFT3D", **_complex(3), ordinary=ordinary.PARTS),
    *op("ifft", "IFFT", **_complex(1, inverse=True), ordinary=ordinary.PARTS),
    *op("ifft2d", "IFFT2D", **_complex(2, inverse=True), ordinary=ordinary.PARTS),
    *op("ifft3d", "IFFT3D", **_complex(3, inverse=True), ordinary=ordinary.PARTS),
    *op("irfft", **_real("IRFFT", 1, inverse=True), ordinary=ordinary.REAL_PARTS),
    *op("irfft2d", **_real("IRFFT2D", 2, inverse=True), ordinary=ordinary.REAL_PARTS),
    *op("irfft3d", **_real("IRFFT3D", 3, inverse=True, gradient=False), ordinary=ordinary.REAL_PARTS),
    *op("rfft", **_real("RFFT", 1), ordinary=ordinary.REAL_PARTS),
    *op("rfft2d", **_real("RFFT2D", 2), ordinary=ordinary.REAL_PARTS),
    *op("rfft3d", **_real("RFFT3D", 3, gradient=False), ordinary=ordinary.REAL_PARTS),
)
