"""Functions of `tf.signal` that are Fourier transforms."""

from tf_opdiff.suites.forms.programs.public import Public, twins
from tf_opdiff.suites.ops.spectral import fourier


def _planes(f, input, fft_length=None):
    """A transform of the last two dimensions, by the function for any number of them."""
    return f(input, input.shape[-2:] if fft_length is None else fft_length, axes=[-2, -1])


SPECS = (
    *twins(fourier, "signal.fft", "signal.fft2d", "signal.fft3d", "signal.ifft", "signal.ifft2d", "signal.ifft3d"),
    *twins(fourier, "signal.irfft", "signal.irfft2d", "signal.irfft3d"),
    *twins(fourier, "signal.rfft", "signal.rfft2d", "signal.rfft3d"),
    *twins(
        fourier,
        Public("signal.fftnd", of="fft2d", call=_planes, ops="FFTND"),
        Public("signal.ifftnd", of="ifft2d", call=_planes, ops="IFFTND"),
        Public("signal.irfftnd", of="irfft2d", call=_planes, ops="IRFFTND"),
        Public("signal.rfftnd", of="rfft2d", call=_planes, ops="RFFTND"),
    ),
)
