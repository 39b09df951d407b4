"""Decoders and encoders of `tf.image`. A decoded image is added to the input, so that a result depends on it."""

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.programs.api.images import image_formats as formats

_SHAPE, _GREY, _COLOUR = (8, 8, 3), 133, np.array([10, 200, 90], np.uint8)
_PIXELS = (np.arange(8 * 8 * 3).reshape(_SHAPE) * 7 % 128).astype(np.uint8)
_PLACES, _PALETTE = np.arange(64).reshape(8, 8) % 4, np.array([[0, 0, 0], [9, 8, 7], [100, 50, 25], [1, 2, 3]])
_PNG, _BMP, _GIF = formats.png(_PIXELS), formats.bmp(_PIXELS), formats.gif(_PLACES, _PALETTE)
_WEBP, _JPEG = formats.webp(8, 8, _COLOUR.tolist()), formats.jpeg(_GREY)


def _image(draw, dtype):
    return (draw.integers(*_SHAPE, low=0, high=100).astype(dtype),)


def _decoder(name, decode, pixels):
    """A call: the sum of the input and a decoded image."""
    return Call(name=name, program=lambda tf, x: x + decode(tf), reference=lambda x: x + pixels)


def _flat(name, program):
    """A call that gives an image of one grey back, whatever the quality: the mean of its levels is 128."""
    return Call(
        name=f"image.{name}",
        program=lambda tf, x: program(getattr(tf.image, name), x),
        reference=lambda x: x,
        error=lambda u, x: 4 * u * np.ones(x.shape),
    )


def _compressed(tf, x):
    """The sum of the input and an image of one grey that was encoded and decoded."""
    return x + tf.image.decode_jpeg(tf.image.encode_jpeg(tf.fill(_SHAPE, tf.constant(128, x.dtype))))


SPECS = (
    *calls(
        "api-image-decoded",
        _decoder("image.decode_png", lambda tf: tf.image.decode_png(_PNG), _PIXELS),
        _decoder("image.decode_bmp", lambda tf: tf.image.decode_bmp(_BMP), _PIXELS),
        _decoder("image.decode_gif", lambda tf: tf.image.decode_gif(_GIF)[0], _PALETTE[_PLACES].astype(np.uint8)),
        _decoder("image.decode_image", lambda tf: tf.image.decode_image(_BMP), _PIXELS),
        _decoder("image.decode_jpeg", lambda tf: tf.image.decode_jpeg(_JPEG, channels=3), np.uint8(_GREY)),
        _decoder("image.decode_webp", lambda tf: tf.image.decode_webp(_WEBP, channels=3)[0], _COLOUR),
        _decoder(
            "image.decode_and_crop_jpeg",
            lambda tf: tf.image.decode_and_crop_jpeg(_JPEG, [1, 2, 1, 1], channels=3),
            np.uint8(_GREY),
        ),
        _decoder(
            "image.extract_jpeg_shape",
            lambda tf: tf.cast(tf.image.extract_jpeg_shape(_JPEG), tf.uint8),
            np.array([8, 8, 1], np.uint8),
        ),
        _decoder(
            "image.is_jpeg",
            lambda tf: tf.cast([tf.image.is_jpeg(_JPEG), tf.image.is_jpeg(_PNG), False], tf.uint8),
            np.array([1, 0, 0], np.uint8),
        ),
        Call(
            name="image.encode_png",
            program=lambda tf, x: tf.image.decode_png(tf.image.encode_png(x)),
            reference=lambda x: x,
        ),
        Call(name="image.encode_jpeg", program=_compressed, reference=lambda x: x + np.uint8(128)),
        recipes={"pixels": _image},
        dtypes=("uint8",),
        ops="DecodePng;DecodeBmp;DecodeGif;DecodeJpeg;DecodeWebP;DecodeAndCropJpeg;ExtractJpegShape;EncodePng;EncodeJpeg",
        modes=WITHOUT_XLA,
    ),
    *calls(
        "api-image-undecoded",
        Call(
            name="image.decode_jxl",
            program=lambda tf, x: x + tf.image.decode_jxl(b"no image"),
            reference=raises("INVALID_ARGUMENT"),
        ),
        recipes={"pixels": _image},
        dtypes=("uint8",),
        ops="DecodeJxl",
        modes=WITHOUT_XLA,
    ),
    *calls(
        "api-image-qualities",
        _flat("adjust_jpeg_quality", lambda f, x: f(x, 50)),
        _flat("random_jpeg_quality", lambda f, x: f(x, 50, 90, seed=1)),
        _flat("stateless_random_jpeg_quality", lambda f, x: f(x, 50, 90, seed=(1, 2))),
        recipes={"grey": lambda draw, d: (np.full(_SHAPE, 128 / 255).astype(d),)},
        ops="EncodeJpegVariableQuality;DecodeJpeg",
        modes=WITHOUT_XLA,
    ),
)
