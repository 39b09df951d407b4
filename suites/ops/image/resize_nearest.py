"""ResizeNearestNeighbor: images in another size, made of their pixels; and the op of its gradient."""

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.array_ops.moves import Apart, Refused, of_ranks
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.elementwise.copies import Dtypes
from tf_opdiff.suites.forms.errors import WRONG_OR_UNSUPPORTED
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.tensor_attrs import Parameter
from tf_opdiff.suites.reference.arrays.moves import Back, Forward
from tf_opdiff.suites.reference.images.resize import nearest, nearest_of_kernel

_ALIGNED, _CENTRED = {"align_corners": True}, {"half_pixel_centers": True}
#: Label → the shape of images, their new size, and how pixels lie.
_SIZES = {
    "up": ((2, 3, 4, 3), [5, 7], {}),
    "up_aligned": ((1, 3, 4, 2), [5, 7], _ALIGNED),
    "up_centred": ((1, 3, 4, 2), [5, 7], _CENTRED),
    "down": ((1, 7, 5, 2), [3, 2], {}),
    "down_aligned": ((2, 7, 5, 1), [3, 2], _ALIGNED),
    "down_centred": ((1, 7, 5, 2), [3, 2], _CENTRED),
    "whole": ((1, 2, 4, 1), [6, 2], {}),
    "whole_centred": ((1, 2, 6, 1), [6, 2], _CENTRED),
    "halves_aligned": ((1, 2, 4, 1), [3, 7], _ALIGNED),
    "same": ((1, 3, 2, 2), [3, 2], _CENTRED),
    "many": ((1, 1, 300, 1), [1, 257], {}),
    "to_one": ((1, 4, 3, 2), [1, 1], {}),
    "to_one_aligned": ((1, 4, 3, 2), [1, 1], _ALIGNED),
    "to_one_centred": ((1, 4, 3, 2), [1, 1], _CENTRED),
    "from_one": ((1, 1, 1, 2), [3, 2], {}),
    "from_one_aligned": ((1, 1, 1, 2), [3, 2], _ALIGNED),
    "from_one_centred": ((1, 1, 1, 2), [3, 2], _CENTRED),
}
#: Sizes of which the place of a pixel is a whole number, and a product with a rounded scale is less.
_BELOW_WHOLE = {
    "default": ((1, 26, 1, 1), [22, 1], {}),
    "aligned": ((1, 1, 14, 1), [1, 23], _ALIGNED),
    "centred": ((1, 1, 14, 1), [1, 23], _CENTRED),
}
_SHAPES = {"no_images": (0, 3, 4, 2), "pixel": (1, 1, 1, 1)}
_ONE = ((1, 5, 2, 1), (1, 1, 1, 1))
_SIZE = Parameter("size", ("int32",))
_NO_MORE = {"more": (), "without_xla": (), "of_xla": (), "quantized": (), "quantized_without_xla": ()}
_FLOATS = ("float16", "bfloat16", "float64")
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16")
_PLAIN, _TWO = (1, 3, 4, 2), [5, 2]
#: Sizes that do not fit.
_WRONG_SIZES = {"one": [5], "three": [5, 2, 2], "matrix": [[5, 2]], "scalar": 5}


def _called(shapes, size, **more):
    """Calls with these shapes and a size."""
    return {label: call(shape, size=size, **more) for label, shape in shapes.items()}


def _sized(sizes, **more):
    """Calls of the same images with these sizes."""
    return {label: call(_PLAIN, size=size, **more) for label, size in sizes.items()}


def _of_sizes(sizes):
    """The calls of these sizes."""
    return {label: call(shape, size=size, **centers) for label, (shape, size, centers) in sizes.items()}


def _back(shape, size, centers):
    """The call of the gradient that belongs to a call: of upstreams of the new size, in the size of the images."""
    batch, *old, channels = shape
    return call((batch, *size, channels), size=old, seen=size, **centers)


SPECS = (
    *op(
        "resize-nearest-neighbor",
        "ResizeNearestNeighbor",
        arguments=("images",),
        promise=Forward(nearest, mistake=nearest_of_kernel),
        calls=_of_sizes(_SIZES),
        apart={"below-whole": Apart(_of_sizes(_BELOW_WHOLE), (_SIZE,))},
        small=of_ranks({"size": _TWO}, shapes={label: (shape,) for label, shape in _SHAPES.items()}),
        tensors=(_SIZE,),
        adds=True,
        built={
            **_sized(_WRONG_SIZES),
            **_called({"too_flat": (3, 4, 2), "too_deep": (1, 1, 3, 4, 2)}, _TWO),
        },
        run={
            **_sized({"zero": [0, 2], "negative": [5, -1]}),
            **_called({"no_rows": (1, 0, 4, 2), "no_channels": (1, 3, 4, 0)}, _TWO),
        },
        refused={"both": Refused({"both": call(_PLAIN, size=_TWO, **_ALIGNED, **_CENTRED)}, WRONG_OR_UNSUPPORTED)},
        dtypes=Dtypes(smooth=_FLOATS, rough=_INTEGERS, **_NO_MORE),
    ),
    *op(
        "resize-nearest-neighbor-grad",
        "ResizeNearestNeighborGrad",
        program=lambda tf, g, size, seen, **centers: tf.raw_ops.ResizeNearestNeighborGrad(
            grads=g, size=size, **centers
        ),
        promise=Back(
            lambda x, size, seen, **centers: nearest(x, seen, **centers),
            shape=lambda g, size, **_: (g.shape[0], *size, g.shape[3]),
            mistake=lambda x, size, seen, **centers: nearest_of_kernel(x, seen, **centers),
        ),
        calls={label: _back(*one) for label, one in _SIZES.items()},
        apart={"below-whole": Apart({label: _back(*one) for label, one in _BELOW_WHOLE.items()}, (_SIZE,))},
        small=of_ranks(
            {"size": [3, 4], "seen": _TWO},
            {"size": [1, 1], "seen": [1, 1]},
            shapes={
                "no_images": ((0, 5, 2, 2), (0, 1, 1, 2)),
                "no_channels": ((1, 5, 2, 0), (1, 1, 1, 0)),
                "one": _ONE,
            },
        ),
        tensors=(_SIZE,),
        gradient=False,
        built={
            **_sized(_WRONG_SIZES, seen=_TWO),
            **_called({"too_flat": (3, 4, 2), "too_deep": (1, 1, 3, 4, 2)}, _TWO, seen=_TWO),
        },
        run=_sized({"zero": [0, 2], "negative": [5, -1]}, seen=_TWO),
        dtypes=Dtypes(smooth=_FLOATS, rough=("int8", "int32", "uint8"), **_NO_MORE),
        modes=WITHOUT_XLA,
    ),
)
