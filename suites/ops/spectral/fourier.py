"""Discrete Fourier transforms. Errors are those of any order of the sums: see `suites.reference.fourier`."""

from tf_opdiff.suites.forms.calls import Call, call
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.transform import Inputs, transform
from tf_opdiff.suites.reference.fourier import Fourier

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
    """Lengths that are too few, too many or too large, negative ones and 0."""
    shape = (2, 4, 4, 4)[-rank - 1 :]
    return {
        "too-few": (shape, [4] * (rank - 1)),
        "too-many": (shape, [4] * (rank + 1)),
        "too-long": (shape, [4] * (rank - 1) + [9]),
        "negative": (shape, [4] * (rank - 1) + [-1]),
        "no-length": (shape, [4] * (rank - 1) + [0]),
        "too-flat": (shape[-rank + 1 :] if rank > 1 else (), [4] * rank),
    }


def _complex(rank, *, inverse=False):
    """A part: a transform of complex numbers."""
    flat = {"too-flat": ((3, 4)[: rank - 1], None)}
    return transform(Fourier(rank, inverse=inverse), Inputs(_COMPLEX[rank], _SMALL[rank], flat))


def _real(rank, *, inverse=False, gradient=True):
    """A part: a transform from or to real numbers."""
    calls, small = _of_real(rank), _small_of_real(rank)
    if inverse:
        calls, small = _to_real(calls), _to_real(small)
    promise = Fourier(rank, inverse=inverse, real=True)
    return transform(promise, Inputs(calls, small, _wrong_lengths(rank)), gradient=gradient)


SPECS = (
    *op("fft", "FFT", _complex(1)),
    *op("fft2d", "FFT2D", _complex(2)),
    *op("fft3d", "FFT3D", _complex(3)),
    *op("ifft", "IFFT", _complex(1, inverse=True)),
    *op("ifft2d", "IFFT2D", _complex(2, inverse=True)),
    *op("ifft3d", "IFFT3D", _complex(3, inverse=True)),
    *op("irfft", "IRFFT", _real(1, inverse=True)),
    *op("irfft2d", "IRFFT2D", _real(2, inverse=True)),
    *op("irfft3d", "IRFFT3D", _real(3, inverse=True, gradient=False)),
    *op("rfft", "RFFT", _real(1)),
    *op("rfft2d", "RFFT2D", _real(2)),
    *op("rfft3d", "RFFT3D", _real(3, gradient=False)),
)
