"""Ops that move elements between the depth, the space and the batch of images."""

from dataclasses import replace
from math import prod

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, INTEGERS
from tf_opdiff.suites.forms.array_ops.moves import of_ranks
from tf_opdiff.suites.forms.array_ops.quantized import IN_XLA
from tf_opdiff.suites.forms.calls import call, calls_of
from tf_opdiff.suites.forms.elementwise.copies import MORE_IN_XLA
from tf_opdiff.suites.forms.of_xla import SMALL_FLOATS
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.tensor_attrs import Parameter
from tf_opdiff.suites.reference.arrays import blocks as ref
from tf_opdiff.suites.reference.arrays.moves import Forward

#: Shapes of images, and the sizes of blocks.
_DEPTHS = {
    "image": ((2, 3, 2, 8), 2),
    "batch_of_one": ((1, 1, 5, 9), 3),
    "pixel": ((1, 1, 1, 4), 2),
    "deep": ((3, 2, 1, 12), 2),
    "empty": ((0, 2, 3, 4), 2),
}
_SPACES = {
    "image": ((2, 6, 4, 2), 2),
    "batch_of_one": ((1, 3, 15, 1), 3),
    "block": ((1, 2, 2, 1), 2),
    "deep": ((3, 4, 2, 3), 2),
    "empty": ((0, 4, 6, 1), 2),
}
#: The shape of a tensor, its blocks, and what is put around it, or what is cut off.
_PADDED = {
    "image": ((2, 3, 4, 3), [2, 3], [[1, 0], [0, 2]]),
    "vector": ((3, 5), [2], [[0, 1]]),
    "channels": ((1, 6, 2, 3), [3], [[0, 0]]),
    "volume": ((1, 2, 3, 1, 2), [2, 1, 3], [[0, 0], [1, 1], [1, 1]]),
    "no_blocks": ((3, 2), [], []),
    "blocks_of_one": ((2, 3, 1), [1, 1], [[1, 0], [0, 2]]),
    "four_dimensions": ((1, 2, 1, 2, 3, 2), [2, 1, 2, 1], [[0, 0], [0, 1], [1, 1], [0, 0]]),
    "single": ((1, 1, 1, 1), [2, 2], [[0, 1], [1, 0]]),
    "empty": ((0, 2, 4, 3), [2, 2], [[0, 0], [1, 1]]),
}
_SQUARE = {
    "image": ((2, 3, 4, 3), 2, [[1, 0], [0, 2]]),
    "thirds": ((1, 5, 2, 1), 3, [[0, 1], [2, 2]]),
    "single": ((1, 1, 1, 1), 2, [[0, 1], [1, 0]]),
    "whole": ((3, 2, 4, 2), 2, [[0, 0], [0, 0]]),
    "empty": ((0, 2, 4, 3), 2, [[0, 0], [1, 1]]),
}
_BATCH = replace(
    MORE_IN_XLA,
    smooth=("float16", "bfloat16", "float64"),
    rough=INTEGERS,
    without_xla=(),
    of_xla=(*COMPLEX, "bool", *SMALL_FLOATS),
)


def _batches(calls):
    """The calls from batches to space: their inputs have the shapes of the results of these calls."""
    back = {}
    for label, (shape, block, pairs) in calls.items():
        sizes = [block] * 2 if isinstance(block, int) else block
        inner = [(n + sum(p)) // b for n, b, p in zip(shape[1:], sizes, pairs, strict=False)]
        back[label] = ((shape[0] * prod(sizes), *inner, *shape[1 + len(sizes) :]), block, pairs)
    return back


def _depth_to_space(tf, x, block_size, data_format="NHWC"):
    return tf.raw_ops.DepthToSpace(input=x, block_size=block_size, data_format=data_format)


def _space_to_depth(tf, x, block_size, data_format="NHWC"):
    return tf.raw_ops.SpaceToDepth(input=x, block_size=block_size, data_format=data_format)


def _of_square(move, name):
    """The move with one size of blocks for rows and columns."""
    return lambda x, block_size, **pairs: move(x, (block_size, block_size), pairs[name])


def _of_images(shapes):
    """The shapes of rank 4."""
    return {label: each[:1] for label, each in shapes.items()}


_NO_PAIRS = [[0, 0], [0, 0]]
_WRONG_PAIRS = {
    "negative": ((4, 4, 4, 2), 2, [[-1, 1], [0, 0]]),
    "too_few": ((4, 4, 4, 2), 2, [[0, 0]]),
    "three_columns": ((4, 4, 4, 2), 2, [[0, 0, 0], [0, 0, 0]]),
    "vector": ((4, 4, 4, 2), 2, [0, 0]),
    "too_flat": ((4, 4, 4), 2, _NO_PAIRS),
    "too_deep": ((4, 4, 4, 2, 1), 2, _NO_PAIRS),
}
_WRONG_BLOCKS = {
    "no_block": ((4, 4, 4, 2), [2, 0], _NO_PAIRS),
    "negative_block": ((4, 4, 4, 2), [2, -2], _NO_PAIRS),
    "negative": ((4, 4, 4, 2), [2, 2], [[-2, 0], [0, 0]]),
    "too_few": ((4, 4, 4, 2), [2, 2], [[0, 0]]),
    "three_columns": ((4, 4, 4, 2), [2, 2], [[0, 0, 0], [0, 0, 0]]),
    "too_flat": ((4, 4), [2, 2], _NO_PAIRS),
    "matrix_of_blocks": ((4, 4, 4, 2), [[2, 2]], _NO_PAIRS),
}
_CROPS, _PADDINGS, _BLOCK = Parameter("crops", columns=2), Parameter("paddings", columns=2), Parameter("block_shape")
_EMPTY_BATCHES = {
    "no_batch": ((0, 2, 2, 3), (0, 2, 3)),
    "no_channels": ((4, 2, 2, 0), (4, 2, 0)),
    "one": ((4, 1, 1, 1), (2, 1, 1)),
}
_EMPTY_SPACES = {
    "no_batch": ((0, 1, 1, 3), (0, 1, 3)),
    "no_channels": ((2, 1, 3, 0), (2, 3, 0)),
    "one": ((1, 1, 1, 1), (1, 1, 1)),
}
_HALF = [[0, 1], [1, 0]]
#: The calls of second order of ops whose sizes of blocks are a tensor. After 32 traces of an op, forward mode of
#: TensorFlow makes all shapes unknown, and these ops refuse sizes of unknown shape:
#: https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/eager/forwardprop.py
_FEW = ("image",)

SPECS = (
    *op(
        "batch-to-space",
        "BatchToSpace",
        arguments=("input",),
        promise=Forward(_of_square(ref.batch_to_space, "crops")),
        calls=calls_of(_batches(_SQUARE), "block_size", "crops"),
        small=of_ranks({"block_size": 2, "crops": _HALF}, shapes=_of_images(_EMPTY_BATCHES)),
        tensors=(_CROPS,),
        built=calls_of(_WRONG_PAIRS, "block_size", "crops")
        | {
            "other_batch": call((3, 4, 4, 2), block_size=2, crops=_NO_PAIRS),
            "nothing_left": call((4, 1, 1, 2), block_size=2, crops=[[2, 1], [0, 0]]),
        },
        dtypes=_BATCH,
    ),
    *op(
        "batch-to-space-nd",
        "BatchToSpaceND",
        arguments=("input",),
        promise=Forward(ref.batch_to_space),
        calls=calls_of(_batches(_PADDED), "block_shape", "crops"),
        few=_FEW,
        small=of_ranks(
            {"block_shape": [2, 2], "crops": _HALF}, {"block_shape": [2], "crops": _HALF[:1]}, shapes=_EMPTY_BATCHES
        ),
        tensors=(_BLOCK, _CROPS),
        built=calls_of(_WRONG_BLOCKS, "block_shape", "crops")
        | {
            "other_batch": call((3, 4, 4, 2), block_shape=[2, 2], crops=_NO_PAIRS),
            "nothing_left": call((4, 1, 1, 2), block_shape=[2, 2], crops=[[2, 1], [0, 0]]),
        },
        dtypes=_BATCH,
    ),
    *op(
        "depth-to-space",
        "DepthToSpace",
        program=_depth_to_space,
        promise=Forward(ref.depth_to_space),
        calls=calls_of(_DEPTHS, "block_size"),
        small=of_ranks(
            {"block_size": 2},
            shapes={"no_batch": ((0, 2, 2, 4),), "no_rows": ((2, 0, 2, 4),), "pixel": ((1, 1, 1, 4),)},
        ),
        built=calls_of(
            {"other_depth": ((2, 3, 2, 6), 2), "too_flat": ((3, 2, 8), 2), "too_deep": ((1, 1, 3, 2, 8), 2)},
            "block_size",
        ),
        dtypes=MORE_IN_XLA,
    ),
    *op(
        "depth-to-space-channels-first",
        "DepthToSpace",
        program=_depth_to_space,
        promise=Forward(ref.depth_to_space),
        calls=calls_of(
            {"image": ((2, 8, 3, 2), 2), "batch_of_one": ((1, 9, 1, 5), 3)}, "block_size", data_format="NCHW"
        ),
        dtypes=replace(MORE_IN_XLA, without_xla=()),
        modes=("xla",),
    ),
    *op(
        "space-to-batch",
        "SpaceToBatch",
        arguments=("input",),
        promise=Forward(_of_square(ref.space_to_batch, "paddings")),
        calls=calls_of(_SQUARE, "block_size", "paddings"),
        small=of_ranks({"block_size": 2, "paddings": _HALF}, shapes=_of_images(_EMPTY_SPACES)),
        tensors=(_PADDINGS,),
        built=calls_of(_WRONG_PAIRS, "block_size", "paddings")
        | {"other_space": call((4, 3, 4, 2), block_size=2, paddings=_NO_PAIRS)},
        dtypes=_BATCH,
    ),
    *op(
        "space-to-batch-nd",
        "SpaceToBatchND",
        arguments=("input",),
        promise=Forward(ref.space_to_batch),
        calls=calls_of(_PADDED, "block_shape", "paddings"),
        few=_FEW,
        small=of_ranks(
            {"block_shape": [2, 2], "paddings": _HALF},
            {"block_shape": [2], "paddings": _HALF[:1]},
            shapes=_EMPTY_SPACES,
        ),
        tensors=(_BLOCK, _PADDINGS),
        built=calls_of(_WRONG_BLOCKS, "block_shape", "paddings")
        | {"other_space": call((4, 3, 4, 2), block_shape=[2, 2], paddings=_NO_PAIRS)},
        dtypes=_BATCH,
    ),
    *op(
        "space-to-depth",
        "SpaceToDepth",
        program=_space_to_depth,
        promise=Forward(ref.space_to_depth),
        calls=calls_of(_SPACES, "block_size"),
        small=of_ranks(
            {"block_size": 2},
            shapes={"no_batch": ((0, 2, 2, 4),), "no_rows": ((2, 0, 2, 4),), "block": ((1, 2, 2, 1),)},
        ),
        built=calls_of(
            {"other_space": ((2, 3, 2, 6), 2), "too_flat": ((4, 2, 8), 2), "too_deep": ((1, 1, 4, 2, 8), 2)},
            "block_size",
        ),
        dtypes=replace(MORE_IN_XLA, quantized=IN_XLA[:1], quantized_of_xla=IN_XLA[1:]),
    ),
    *op(
        "space-to-depth-channels-first",
        "SpaceToDepth",
        program=_space_to_depth,
        promise=Forward(ref.space_to_depth),
        calls=calls_of(
            {"image": ((2, 2, 6, 4), 2), "batch_of_one": ((1, 1, 3, 15), 3)}, "block_size", data_format="NCHW"
        ),
        dtypes=replace(MORE_IN_XLA, without_xla=()),
        modes=("xla",),
    ),
)
