"""`tf.image.convert_image_dtype`: https://www.tensorflow.org/api_docs/python/tf/image/convert_image_dtype.

Floats in [0, 1) stand for the whole range [0, MAX] of an integer dtype.
"""

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls

_SMALL = ("uint8", "int8", "uint16", "int16")


def _levels(draw, dtype):
    """Every level of the eight-bit dtypes; for the others, both ends and levels all over the range."""
    top = int(np.iinfo(dtype).max)
    levels = {top * i // 254 for i in range(255)} | {0, 1, 2, top - 1, top}
    return (np.resize(np.array(sorted(levels), dtype), 257),)


def _negative(draw, dtype):
    """Levels below zero, which have no place in an image, and both ends."""
    info = np.iinfo(dtype)
    levels = [info.min, info.min + 1, -100, -2, -1, 0, 1, 2, 100, info.max]
    return (np.resize(np.array(levels, dtype), 257),)


def _as_float(x):
    return (x.astype(np.longdouble) / np.iinfo(x.dtype).max).astype(np.float32)


def _scaled(target):
    """Integers to integers: by the ratio of the sizes of the two ranges, rounded down."""

    def reference(x):
        into, out_of = int(np.iinfo(target).max), int(np.iinfo(x.dtype).max)
        values = [v * (into + 1) // (out_of + 1) for v in x.tolist()]
        return np.array([max(np.iinfo(target).min, min(into, v)) for v in values], object).astype(target)

    return reference


def _convert(target, saturate=False):
    return Call(
        name="image.convert_image_dtype",
        program=lambda tf, x: tf.image.convert_image_dtype(x, target, saturate=saturate),
        reference=_scaled(target),
    )


def _there_and_back(source, saturate):
    return Call(
        name="image.convert_image_dtype",
        program=lambda tf, x: tf.image.convert_image_dtype(
            tf.image.convert_image_dtype(x, "float32"), source, saturate=saturate
        ),
        reference=lambda x: x,
    )


SPECS = tuple(
    spec
    for source in _SMALL
    for spec in (
        *calls(
            f"api-convert-image-from-{source}",
            Call(
                name="image.convert_image_dtype",
                program=lambda tf, x: tf.image.convert_image_dtype(x, "float32"),
                reference=_as_float,
                # The product with the rounded reciprocal of MAX.
                ulp=2,
            ),
            _there_and_back(source, False),
            _there_and_back(source, True),
            *(_convert(target) for target in (*_SMALL, "int32", "int64") if target != source),
            recipes={"levels": _levels},
            ops="Cast",
            dtypes=(source,),
            tier="default" if source == "uint8" else "full",
        ),
        *(
            calls(
                f"api-convert-image-negative-{source}",
                *(_convert(target, True) for target in _SMALL if target != source),
                recipes={"negative": _negative},
                ops="Cast",
                dtypes=(source,),
            )
            if source.startswith("int")
            else ()
        ),
    )
)
