"""EmptyTensorList to TensorListReserve: lists of tensors, made in several ways."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.recipes import INTEGERS
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.list_elements import Elements
from tf_opdiff.suites.forms.lists import DTYPES, contents, no_kernel, small, steps, tensors

#: The dtypes of elements for which a CPU and XLA have kernels that read them.
_ALL = (*DTYPES, *(dtype for dtype in INTEGERS if dtype not in DTYPES))
_SMALL_NUMBERS = (
    *("float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz", "float4_e2m1fn"),
    *("int4", "uint4", "int2", "uint2"),
)
_ROWS = (5, 3)


def _emptied(tf: Any, x: Any) -> Any:
    like = Elements.like(tf, x)
    return like.pop(like.push(like.empty(1), x))[1]


def _pushed(tf: Any, x: Any, y: Any) -> Any:
    like = Elements.like(tf, x)
    return like.stack(like.push(like.empty(2), x, y))


def _pushed_with_room(tf: Any, x: Any, y: Any) -> Any:
    like = Elements.like(tf, x)
    handle = like.push(like.empty(4), x, y)
    return like.stack(handle), tf.raw_ops.TensorListLength(input_handle=handle)


def _texts(tf: Any, x: Any, y: Any) -> Any:
    like = Elements.like(tf, x)
    first, second = like.push(like.empty(), x), like.put(like.reserve(2), 1, y)
    return like.stack(tf.raw_ops.TensorListConcatLists(input_a=first, input_b=second, element_dtype=x.dtype))


def _unread(tf: Any, x: Any) -> Any:
    like, ops = Elements.like(tf, x), tf.raw_ops
    lists = [like.push(like.empty(2), x), like.reserve(3)]
    lists.append(ops.TensorListConcatLists(input_a=lists[0], input_b=lists[1], element_dtype=x.dtype))
    shape = ops.TensorListElementShape(input_handle=lists[2], shape_type=tf.int32)
    return (*(ops.TensorListLength(input_handle=handle) for handle in lists), shape)


def _reserved(tf: Any, x: Any) -> Any:
    like = Elements.like(tf, x)
    return like.item(like.put(like.reserve(3), 1, x), 1)


def _unwritten(tf: Any, x: Any) -> Any:
    like = Elements.like(tf, x)
    return like.item(like.put(like.reserve(3), 1, x), 2), like.stack(like.reserve(0))


def _of_rows(tf: Any, x: Any) -> Any:
    rows = Elements.rows(tf, x)
    return rows.stack(rows.of_rows(x))


def _batch(tf: Any, x: Any, y: Any) -> Any:
    like = Elements.like(tf, x)
    handles = tf.stack([like.push(like.empty(), y), like.empty()])
    first, second = tf.unstack(tf.raw_ops.TensorListPushBackBatch(input_handles=handles, tensor=tf.stack([x, y])))
    return like.stack(first), like.stack(second)


def _joined(tf: Any, x: Any, y: Any) -> Any:
    rows = Elements.rows(tf, x)
    both = tf.raw_ops.TensorListConcatLists(input_a=rows.of_rows(x), input_b=rows.of_rows(y), element_dtype=x.dtype)
    return rows.stack(both)


SPECS = (
    *steps(
        "empty-tensor-list",
        "EmptyTensorList",
        program=_emptied,
        reference=lambda x: x,
        vjp=lambda g, x: (g,),
        recipes=contents(_ROWS),
        tiny=small(1),
        dtypes=_ALL,
    ),
    *steps(
        "tensor-list-concat-lists",
        "TensorListConcatLists",
        program=_joined,
        reference=lambda x, y: np.concatenate([x, y]),
        vjp=lambda g, x, y: (None, None),
        moving=(),
        contract=no_kernel("TensorListConcatLists"),
        recipes=contents(_ROWS, (2, 3)),
        tiny=small(2),
        dtypes=_ALL,
    ),
    *steps(
        "tensor-list-from-tensor",
        "TensorListFromTensor",
        program=_of_rows,
        reference=lambda x: x,
        vjp=lambda g, x: (g,),
        recipes=contents(_ROWS),
        tiny=small(1),
    ),
    *steps(
        "tensor-list-push-back",
        "TensorListPushBack",
        program=_pushed,
        reference=lambda x, y: np.stack([x, y]),
        vjp=lambda g, x, y: (g[0], g[1]),
        recipes=contents(_ROWS, _ROWS),
        tiny=small(2),
        moving=(0, 1),
        dtypes=_ALL,
    ),
    Spec(
        name="tensor-list-push-back-room",
        ops="TensorListPushBack",
        program=_pushed_with_room,
        reference=lambda x, y: (np.stack([x, y]), np.array(2, "int32")),
        recipes={"plain": tensors(_ROWS, _ROWS)},
        constant=("output[1]",),
    ),
    *steps(
        "tensor-list-push-back-batch",
        "TensorListPushBackBatch",
        program=_batch,
        reference=lambda x, y: (np.stack([y, x]), y[None]),
        contract=no_kernel("TensorListPushBackBatch"),
        recipes=contents(_ROWS, _ROWS),
        tiny=small(2),
    ),
    *steps(
        "tensor-list-reserve",
        "TensorListReserve",
        program=_reserved,
        reference=lambda x: x,
        vjp=lambda g, x: (g,),
        recipes=contents(_ROWS),
        tiny=small(1),
        dtypes=_ALL,
    ),
    Spec(
        name="tensor-list-reserve-unwritten",
        ops="TensorListReserve",
        program=_unwritten,
        reference=lambda x: (np.zeros_like(x), np.zeros((0, *x.shape), x.dtype)),
        recipes={"plain": tensors(_ROWS)},
        constant=("output[0]", "output[1]"),
    ),
    Spec(
        name="tensor-list-unread",  # no kernel reads elements of these dtypes
        ops="EmptyTensorList;TensorListConcatLists;TensorListPushBack;TensorListReserve",
        program=_unread,
        reference=lambda x: (*(np.array(n, "int32") for n in (1, 3, 4)), np.array(x.shape, "int32")),
        recipes={"plain": tensors(_ROWS)},
        dtypes=_SMALL_NUMBERS,
        modes=WITHOUT_XLA,
        constant=tuple(f"output[{k}]" for k in range(4)),
        tier="full",
    ),
    Spec(
        name="tensor-list-texts",
        ops="EmptyTensorList;TensorListConcatLists;TensorListPushBack;TensorListReserve",
        program=_texts,
        reference=lambda x, y: np.stack([x, np.full(x.shape, b"", object), y]),
        recipes={"plain": tensors(_ROWS, _ROWS)},
        dtypes=("bytes",),
        modes=WITHOUT_XLA,
        tier="full",
    ),
)
