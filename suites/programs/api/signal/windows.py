"""Windows of `tf.signal`: each is multiplied with the input, so that a result depends on it."""

import numpy as np
from scipy.signal import windows as ref

from tf_opdiff.suites.forms.programs.api import Call, calls

_EVEN, _ODD = 8, 7


def _window(name, window, reference, steps=8):
    """A call: the product of the input and a window of the length of its last dimension."""

    def values(x):
        return reference(x.shape[-1])

    return Call(
        name=name,
        program=lambda tf, x: x * window(tf, x.shape[-1]),
        reference=lambda x: x * values(x),
        vjp=lambda g, x: g * values(x),
        error=lambda u, x: steps * u * np.abs(x),
        grad_error=lambda u, g, x: steps * u * np.abs(g),
        signed=False,
    )


def _vorbis(n):
    return np.sin(np.pi / 2 * np.sin(np.pi * (np.arange(n) + 0.5) / n) ** 2)


def _inverse(n):
    """The inverse of a Hann window whose frames overlap by a half: the window over the sum of squares of all frames."""
    squares = ref.hann(n, sym=False) ** 2
    return ref.hann(n, sym=False) / np.tile(squares[: n // 2] + squares[n // 2 :], 2)


_COSINES = (
    _window("signal.hamming_window", lambda tf, n: tf.signal.hamming_window(n), lambda n: ref.hamming(n, sym=False)),
    _window("signal.hann_window", lambda tf, n: tf.signal.hann_window(n), lambda n: ref.hann(n, sym=False)),
)


def _rows(length):
    """A recipe: three rows of this length."""
    return {"rows": lambda draw, dtype: (draw.values(dtype, 3, length),)}


def _symmetric(x, y):
    """The products with windows that are not periodic."""
    return x * ref.hamming(x.shape[-1]), y * ref.hann(y.shape[-1])


SPECS = (
    *calls(
        "api-signal-windows",
        *_COSINES,
        _window(
            "signal.hann_window",
            lambda tf, n: tf.signal.hann_window(n, periodic=False),
            lambda n: ref.hann(n, sym=True),
        ),
        _window("signal.vorbis_window", lambda tf, n: tf.signal.vorbis_window(n), _vorbis),
        _window(
            "signal.kaiser_window",
            lambda tf, n: tf.signal.kaiser_window(n, beta=4.0),
            lambda n: ref.kaiser(n, 4.0),
            steps=32,
        ),
        _window(
            "signal.kaiser_bessel_derived_window",
            lambda tf, n: tf.signal.kaiser_bessel_derived_window(n, beta=4.0),
            lambda n: ref.kaiser_bessel_derived(n, 4.0),
            steps=64,
        ),
        _window(
            "signal.inverse_stft_window_fn",
            lambda tf, n: tf.signal.inverse_stft_window_fn(n // 2)(n, tf.float32),
            _inverse,
            steps=32,
        ),
        recipes=_rows(_EVEN),
        ops="Cos;Sin;BesselI0e",
    ),
    *calls(
        "api-signal-windows-odd",
        *_COSINES,
        recipes=_rows(_ODD),
        ops="Cos",
        mistaken={"output": _symmetric, "grad": lambda g, *xs: _symmetric(*g)},
    ),
)
