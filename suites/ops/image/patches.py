"""Ops that copy windows of images and of volumes into the channels of pixels."""

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.array_ops.moves import Refused, of_ranks
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.elementwise.copies import Dtypes
from tf_opdiff.suites.forms.errors import OUT_OF_RANGE, OUT_OF_RANGE_WHEN_BUILT, UNSUPPORTED
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.reference.arrays import blocks as ref
from tf_opdiff.suites.reference.arrays.moves import Forward

_INTEGERS = ("int8", "int16", "int64", "uint8", "uint16", "uint32", "uint64")
_NO_QUANTIZED = {"quantized": (), "quantized_without_xla": (), "quantized_of_xla": ()}


def _windows(ksizes, strides, padding, rates=()):
    """The arguments of a call, from the sizes along the images."""
    every = {"ksizes": ksizes, "strides": strides, **({"rates": rates} if rates else {})}
    return {name: [1, *sizes, 1] for name, sizes in every.items()} | {"padding": padding}


_IMAGES = {
    "valid": call((2, 5, 4, 3), **_windows((2, 3), (1, 1), "VALID", (1, 1))),
    "same": call((1, 5, 4, 2), **_windows((3, 2), (1, 1), "SAME", (1, 1))),
    "strides": call((1, 7, 6, 2), **_windows((2, 2), (3, 2), "VALID", (1, 1))),
    "same_strides": call((2, 5, 7, 1), **_windows((3, 2), (2, 3), "SAME", (1, 1))),
    "rates": call((1, 6, 7, 2), **_windows((2, 3), (1, 2), "VALID", (3, 2))),
    "same_rates": call((1, 5, 5, 1), **_windows((3, 2), (2, 1), "SAME", (2, 3))),
    "apart": call((1, 5, 5, 1), **_windows((1, 1), (2, 3), "VALID", (1, 1))),
    "pixel": call((1, 1, 1, 1), **_windows((1, 1), (1, 1), "SAME", (1, 1))),
    "around_pixel": call((1, 1, 1, 2), **_windows((3, 3), (1, 1), "SAME", (1, 1))),
}
_VOLUMES = {
    "valid": call((2, 3, 4, 3, 2), **_windows((2, 3, 1), (1, 1, 1), "VALID")),
    "same": call((1, 3, 2, 4, 2), **_windows((2, 1, 3), (1, 1, 1), "SAME")),
    "strides": call((1, 5, 4, 3, 1), **_windows((2, 2, 1), (3, 2, 2), "VALID")),
    "same_strides": call((1, 3, 5, 2, 1), **_windows((2, 3, 2), (2, 3, 1), "SAME")),
    "voxel": call((1, 1, 1, 1, 1), **_windows((1, 1, 1), (1, 1, 1), "SAME")),
    "around_voxel": call((1, 1, 1, 1, 2), **_windows((3, 1, 2), (1, 1, 1), "SAME")),
}
_SAME, _SAME_VOLUMES = _windows((2, 3), (1, 2), "SAME", (1, 1)), _windows((2, 3, 1), (1, 2, 1), "SAME")


def _wrong(good, shape):
    """Calls that shape inference refuses, from the arguments and the shape of one that an op takes."""
    return {
        "too_flat": call(shape[1:], **good),
        "too_deep": call((1, *shape), **good),
        "few_sizes": call(shape, **{**good, "ksizes": good["ksizes"][1:]}),
        "few_strides": call(shape, **{**good, "strides": good["strides"][1:]}),
        "too_large": call(shape, **{**good, "ksizes": [1, 9, *good["ksizes"][2:]], "padding": "VALID"}),
    }


def _refused(good, shape):
    """Calls with other errors, from the same."""
    across = {"sizes": {"ksizes": [2, *good["ksizes"][1:]]}, "strides": {"strides": [*good["strides"][:-1], 2]}}
    return {
        "across": Refused({label: call(shape, **{**good, **wrong}) for label, wrong in across.items()}, UNSUPPORTED),
        "no-size": Refused({"rows": call(shape, **{**good, "ksizes": [1, 0, *good["ksizes"][2:]]})}, OUT_OF_RANGE),
        "no-stride": Refused(
            {"rows": call(shape, **{**good, "strides": [1, 0, *good["strides"][2:]]})}, OUT_OF_RANGE_WHEN_BUILT
        ),
    }


SPECS = (
    *op(
        "extract-image-patches",
        "ExtractImagePatches",
        arguments=("images",),
        promise=Forward(ref.patches, mistake=ref.patches_of_xla),
        calls=_IMAGES,
        small=of_ranks(
            _SAME, shapes={"no_images": ((0, 3, 4, 2),), "no_channels": ((1, 3, 4, 0),), "pixel": ((1, 1, 1, 1),)}
        ),
        adds=True,
        built=_wrong(_SAME, (1, 5, 4, 2)),
        refused=_refused(_SAME, (1, 5, 4, 2)),
        dtypes=Dtypes(
            smooth=("float16", "bfloat16", "float64"),
            smooth_without_xla=COMPLEX,
            rough=("int32",),
            more=(),
            without_xla=_INTEGERS,
            of_xla=(),
            **_NO_QUANTIZED,
        ),
    ),
    *op(
        "extract-volume-patches",
        "ExtractVolumePatches",
        arguments=("input",),
        promise=Forward(ref.patches),
        calls=_VOLUMES,
        small=of_ranks(
            _SAME_VOLUMES,
            shapes={"no_volumes": ((0, 3, 4, 1, 2),), "no_channels": ((1, 3, 4, 1, 0),), "voxel": ((1, 1, 1, 1, 1),)},
        ),
        adds=True,
        built=_wrong(_SAME_VOLUMES, (1, 5, 4, 3, 2)),
        refused=_refused(_SAME_VOLUMES, (1, 5, 4, 3, 2)),
        dtypes=Dtypes(
            smooth=("float16", "bfloat16", "float64"),
            rough=("int32", *_INTEGERS),
            more=(),
            without_xla=(),
            of_xla=(),
            **_NO_QUANTIZED,
        ),
        modes=WITHOUT_XLA,
    ),
)
