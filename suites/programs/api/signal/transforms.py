"""Transforms and frames of `tf.signal`, which are linear."""

import numpy as np
from scipy import fft
from scipy.signal import windows

from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.forms.programs.linear import linear

_LENGTH, _STEP = 8, 4


def _framed(x, length=_LENGTH, step=_STEP):
    """The frames of the last dimension."""
    starts = np.arange(0, x.shape[-1] - length + 1, step)
    return np.stack([x[..., i : i + length] for i in starts], -2)


def _added(frames, step=_STEP):
    """The sum of frames, each at its place."""
    count, length = frames.shape[-2:]
    y = np.zeros((*frames.shape[:-2], (count - 1) * step + length), frames.dtype)
    for i in range(count):
        y[..., i * step : i * step + length] += frames[..., i, :]
    return y


def _cosines(length=_LENGTH):
    """The matrix of the MDCT of a frame: cos(π / N (n + 1/2 + N/2) (k + 1/2)) of 2 N samples and N numbers."""
    half = length // 2
    n, k = np.arange(length)[:, None], np.arange(half)
    return np.cos(np.pi / half * (n + 0.5 + half / 2) * (k + 0.5))


def _vorbis(n=_LENGTH):
    return np.sin(np.pi / 2 * np.sin(np.pi * (np.arange(n) + 0.5) / n) ** 2)


def _mdct(x):
    """The orthonormal MDCT of frames that overlap by a half."""
    return _framed(x) * _vorbis() @ _cosines() * np.sqrt(2 / _STEP)


def _inverse_mdct(y):
    return _added(y @ _cosines().T * np.sqrt(2 / _STEP) * _vorbis())


def _stft(x):
    return np.fft.rfft(_framed(x) * windows.hann(_LENGTH, sym=False)).astype(np.complex64)


def _inverse_stft(tf, x):
    """The inverse of the transform of a signal, with the window that inverts the first one."""
    inverse = tf.signal.inverse_stft_window_fn(_STEP)
    return tf.signal.inverse_stft(tf.signal.stft(x, _LENGTH, _STEP), _LENGTH, _STEP, window_fn=inverse)


def _inside(x):
    """The signal without its first and last half of a frame, where one frame alone is not inverted."""
    return x[..., _STEP:-_STEP]


def _mel(bins, spectrum, rate, low, high):
    """Triangles of equal width on the mel scale 1127 ln(1 + f / 700); the bin of frequency 0 is left out.

    https://en.wikipedia.org/wiki/Mel_scale
    """

    def mel(f):
        return 1127 * np.log1p(np.asarray(f) / 700)

    frequencies = mel(np.linspace(0, rate / 2, spectrum)[1:])[:, None]
    edges = np.linspace(mel(low), mel(high), bins + 2)
    rising = (frequencies - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - frequencies) / (edges[2:] - edges[1:-1])
    return np.pad(np.maximum(0, np.minimum(rising, falling)), ((1, 0), (0, 0)))


def _transform_error(u, x):
    return 16 * u * np.sum(np.abs(x)) * np.ones(np.shape(_stft(x)))


def _dct(prefix, x, kind, norm):
    """A cosine transform of SciPy; the inverse of TensorFlow is not divided by the length, if it has no norm."""
    if not prefix:
        return fft.dct(x, kind, norm=norm)
    return fft.idct(x, kind, norm=norm) * (1 if norm else 2 * (x.shape[-1] - (kind == 1)))


_DCT = tuple(
    linear(
        f"signal.{prefix}dct",
        lambda tf, x, prefix=prefix, kind=kind, norm=norm: getattr(tf.signal, f"{prefix}dct")(x, type=kind, norm=norm),
        lambda x, prefix=prefix, kind=kind, norm=norm: _dct(prefix, x, kind, norm),
        mixed=True,
        steps=16,
    )
    for prefix in ("", "i")
    for kind, norm in ((1, None), (2, None), (2, "ortho"), (3, None), (3, "ortho"), (4, None), (4, "ortho"))
)


SPECS = (
    *calls("api-signal-cosines", *_DCT, recipes={"rows": lambda draw, d: (draw.values(d, 3, 9),)}, ops="RFFT;IRFFT"),
    *calls(
        "api-signal-frames",
        linear("signal.fftshift", lambda tf, x: tf.signal.fftshift(x), np.fft.fftshift),
        linear("signal.fftshift", lambda tf, x: tf.signal.fftshift(x, axes=[1]), lambda x: np.fft.fftshift(x, 1)),
        linear("signal.ifftshift", lambda tf, x: tf.signal.ifftshift(x), np.fft.ifftshift),
        linear("signal.frame", lambda tf, x: tf.signal.frame(x, _LENGTH, _STEP), _framed),
        linear("signal.mdct", lambda tf, x: tf.signal.mdct(x, _LENGTH, norm="ortho"), _mdct, mixed=True, steps=32),
        linear("signal.inverse_stft", lambda tf, x: _inside(_inverse_stft(tf, x)), _inside, mixed=True, steps=64),
        recipes={"rows": lambda draw, d: (draw.values(d, 3, 16),)},
        ops="ConcatV2;GatherV2;RFFT",
    ),
    *calls(
        "api-signal-added",
        linear("signal.overlap_and_add", lambda tf, x: tf.signal.overlap_and_add(x, _STEP), _added),
        linear(
            "signal.mfccs_from_log_mel_spectrograms",
            lambda tf, x: tf.signal.mfccs_from_log_mel_spectrograms(x),
            lambda x: fft.dct(x, 2) / np.sqrt(2 * x.shape[-1]),
            mixed=True,
            steps=16,
        ),
        recipes={"frames": lambda draw, d: (draw.values(d, 2, 3, _LENGTH),)},
        ops="RFFT;Pad",
    ),
    *calls(
        "api-signal-inverse-mdct",
        linear(
            "signal.inverse_mdct",
            lambda tf, x: tf.signal.inverse_mdct(x, norm="ortho"),
            _inverse_mdct,
            mixed=True,
            steps=32,
        ),
        recipes={"frames": lambda draw, d: (draw.values(d, 2, 3, _STEP),)},
        ops="RFFT",
    ),
    *calls(
        "api-signal-stft",
        Call(
            name="signal.stft",
            program=lambda tf, x: tf.signal.stft(x, _LENGTH, _STEP),
            reference=_stft,
            error=_transform_error,
            signed=False,
        ),
        recipes={"rows": lambda draw, d: (draw.values(d, 2, 20),)},
        ops="RFFT",
    ),
    *calls(
        "api-signal-mel",
        linear(
            "signal.linear_to_mel_weight_matrix",
            lambda tf, x: x @ tf.signal.linear_to_mel_weight_matrix(5, 17, 8000, 125.0, 3800.0),
            lambda x: x @ _mel(5, 17, 8000, 125.0, 3800.0),
            mixed=True,
            steps=64,
        ),
        recipes={"rows": lambda draw, d: (draw.values(d, 3, 17),)},
        ops="MatMul",
    ),
)
