"""Layers of spectrograms: https://keras.io/api/layers/preprocessing_layers/audio_preprocessing/."""

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.forms.programs.keras_layers import Layer, layers
from tf_opdiff.suites.forms.recipes.elements import uniform

#: The size of a frame, the step between frames, and samples per second.
_FRAME, _STEP, _RATE = 16, 8, 1000


def _frames(x):
    starts = range(0, x.shape[-1] - _FRAME + 1, _STEP)
    return np.stack([x[..., start : start + _FRAME] for start in starts], axis=-2)


def _powers(frames):
    """The squares of the Fourier transform of each frame: https://en.wikipedia.org/wiki/Discrete_Fourier_transform."""
    angles = 2 * np.pi * np.outer(np.arange(_FRAME), np.arange(_FRAME // 2 + 1)) / _FRAME
    return (frames @ np.cos(angles)) ** 2 + (frames @ np.sin(angles)) ** 2


def _window(places):
    """Hann's window of a frame: https://en.wikipedia.org/wiki/Hann_function."""
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_FRAME) / places)


def _mel(hertz):
    """The mel scale of HTK: https://en.wikipedia.org/wiki/Mel_scale."""
    return 1127 * np.log(1 + hertz / 700)


def _triangles(bands, low, high):
    """The weights of frequencies in bands that overlap by half on the mel scale; none of the constant."""
    edges = np.linspace(_mel(low), _mel(high), bands + 2)
    mels = _mel(np.linspace(0, _RATE / 2, _FRAME // 2 + 1))[:, None]
    up, down = (mels - edges[:-2]) / np.diff(edges)[:-1], (edges[2:] - mels) / np.diff(edges)[1:]
    weights = np.maximum(0, np.minimum(up, down))
    weights[0] = 0
    return weights


def _mel_spectrogram(x):
    """Decibels of bands, at most 80 below the loudest; half a frame is mirrored before and after the signal."""
    half = _FRAME // 2
    mirrored = np.concatenate([x[:, half:0:-1], x, x[:, -2 : -half - 2 : -1]], axis=-1)
    powers = _powers(_frames(mirrored) * _window(_FRAME)) @ _triangles(3, 20, 500)
    decibels = 10 * np.log10(np.where(powers.real > 1e-10, powers, 1e-10))
    floor = np.max(decibels.real) - 80
    return np.swapaxes(np.where(decibels.real > floor, decibels, floor), -1, -2)


def _density(x):
    """The squares of the Fourier transform by a symmetric window, over the squares of the window.

    A frequency stands for its negative one, too; the first and the last one have none.
    """
    window, twice = _window(_FRAME - 1), np.array([1, *[2] * (_FRAME // 2 - 1), 1])
    return twice * _powers(_frames(x[..., 0]) * (window / np.sqrt(np.sum(window**2))))


def _spectrogram(tf, x):
    with tf.keras.StatelessScope(initialize_variables=False):  # the kernels are those that the layer begins with
        layer = tf.keras.layers.STFTSpectrogram("psd", frame_length=16, frame_step=8, dtype=x.dtype.name)
        return layer(x)


SPECS = (
    layers(
        "api-keras-mel-spectrogram",
        Layer(
            name="MelSpectrogram",
            make=lambda tf, d: tf.keras.layers.MelSpectrogram(
                fft_length=16, sequence_stride=8, sampling_rate=1000, num_mel_bins=3, dtype=d
            ),
            formula=_mel_spectrogram,
            shapes=((2, 40),),
            units=64,
        ),
        recipes={"plain": uniform},
        gradient=False,
        dtypes=("float32",),
    ),
    *calls(
        "api-keras-spectrogram",
        Call(
            name="keras.layers.STFTSpectrogram",
            program=_spectrogram,
            reference=_density,
            error=lambda u, x: 64 * u * np.sum(_density(x), axis=-1, keepdims=True),
        ),
        recipes={"plain": lambda draw, dtype: (draw.uniform(2, 40, 1).astype(dtype),)},
        tier="full",
    ),
)
