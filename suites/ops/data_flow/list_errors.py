"""Indices, sizes and handles that ops on lists of tensors refuse."""

from typing import Any

import numpy as np

from tf_opdiff.suites.forms.list_elements import Elements
from tf_opdiff.suites.forms.lists import clamped, followed_by, no_kernel, one_length, refused, tensors
from tf_opdiff.suites.ops.data_flow import list_reading, list_scattering

_PROGRAMS = {spec.name: spec.program for spec in (*list_reading.SPECS, *list_scattering.SPECS)}
_ROWS = (5, 3)
_OUTSIDE = {"at_end": 5, "beyond": 2**31 - 1, "negative": -1}


def _resized(tf: Any, x: Any, size: Any) -> Any:
    rows = Elements.rows(tf, x)
    return rows.stack(tf.raw_ops.TensorListResize(input_handle=rows.of_rows(x), size=size))


def _from_tensor_as(tf: Any, x: Any, shape: Any) -> Any:
    rows = Elements(tf, x.dtype, shape)
    return Elements.rows(tf, x).stack(rows.of_rows(x))


def _refilled(tf: Any, x: Any, count: Any) -> Any:
    like = Elements.like(tf, x)
    return like.stack(like.reserve(count))


def _overfull(tf: Any, x: Any, y: Any) -> Any:
    like = Elements.like(tf, x)
    return like.stack(like.push(like.empty(1), x, y))


def _popped_twice(tf: Any, x: Any) -> Any:
    like = Elements.like(tf, x)
    return like.pop(like.pop(like.push(like.empty(1), x))[0])[1]


def _no_list(tf: Any, x: Any) -> Any:
    variant = tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[], rt_dense_values=x, batched_input=False)
    return tf.raw_ops.TensorListLength(input_handle=variant)


_ONE = {"plain": tensors(_ROWS)}
_SPLIT = _PROGRAMS["tensor-list-split"]
_ONTO_END = clamped(lambda x, i: x[np.clip(i, 0, len(x) - 1)])


SPECS = (
    refused(
        "tensor-list-from-tensor-mismatched",
        "TensorListFromTensor",
        _from_tensor_as,
        followed_by((_ROWS,), {"longer": [4]}),
    ),
    refused(
        "tensor-list-gather-out-of-range",
        "TensorListGather",
        _PROGRAMS["tensor-list-gather"],
        followed_by((_ROWS,), {"at_end": [0, 5], "negative": [-1, 0]}),
        _ONTO_END,
    ),
    refused(
        "tensor-list-get-item-out-of-range",
        "TensorListGetItem",
        _PROGRAMS["tensor-list-get-item"],
        followed_by((_ROWS,), _OUTSIDE),
        _ONTO_END,
    ),
    refused("tensor-list-length-no-list", "TensorListLength", _no_list, _ONE),
    refused("tensor-list-pop-back-empty", "TensorListPopBack", _popped_twice, _ONE),
    refused("tensor-list-push-back-full", "TensorListPushBack", _overfull, {"plain": tensors(_ROWS, _ROWS)}),
    refused(
        "tensor-list-reserve-invalid",
        "TensorListReserve",
        _refilled,
        followed_by((_ROWS,), {"negative": -1, "vector": [2, 3]}),
    ),
    refused(
        "tensor-list-resize-invalid",
        "TensorListResize",
        _resized,
        followed_by((_ROWS,), {"negative": -1}),
        no_kernel("TensorListResize"),
    ),
    refused(
        "tensor-list-scatter-invalid",
        "TensorListScatter",
        _PROGRAMS["tensor-list-scatter"],
        followed_by(((3, 5),), {"negative": [2, -1, 3], "fewer": [2, 0], "more": [2, 0, 1, 3]}),
        no_kernel("TensorListScatter"),
    ),
    refused(
        "tensor-list-scatter-into-existing-list-invalid",
        "TensorListScatterIntoExistingList",
        _PROGRAMS["tensor-list-scatter-into-existing-list"],
        followed_by((_ROWS, (3, 3)), {"negative": [2, -1, 3], "fewer": [2, 0], "more": [2, 0, 1, 3]}),
        no_kernel("TensorListScatterIntoExistingList"),
    ),
    refused(
        "tensor-list-scatter-v2-invalid",
        "TensorListScatterV2",
        _PROGRAMS["tensor-list-scatter-v2"],
        followed_by(((3, 5),), {"negative": [2, -1, 3], "at_end": [2, 0, 6], "fewer": [2, 0], "more": [2, 0, 1, 3]}),
        no_kernel("TensorListScatterV2"),
    ),
    refused(
        "tensor-list-set-item-out-of-range",
        "TensorListSetItem",
        _PROGRAMS["tensor-list-set-item"],
        followed_by((_ROWS, (3,)), _OUTSIDE),
        clamped(lambda x, y, i: list_reading.replaced(x, y, np.clip(i, 0, len(x) - 1))),
    ),
    refused("tensor-list-split-fewer", "TensorListSplit", _SPLIT, followed_by((_ROWS,), {"fewer": [1, 1, 1]}, "int64")),
    refused(
        "tensor-list-split-invalid",
        "TensorListSplit",
        _SPLIT,
        followed_by((_ROWS,), {"negative": [3, -1, 3], "more": [2, 2, 2]}, "int64"),
        one_length("UNIMPLEMENTED", ""),
    ),
)
