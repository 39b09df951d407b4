"""EmptyTensorList to TensorListReserve: lists of tensors, made in several ways."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import INTEGERS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.of_xla import NIBBLES, SMALL_FLOATS, SMALL_NUMBERS
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.forms.state.list_programs import TensorList, like, rows
from tf_opdiff.suites.forms.state.lists import DTYPES, contents, followed_by, no_kernel, small, steps, tensors

#: The dtypes of elements for which a CPU and XLA have kernels that read them.
_ALL = (*DTYPES, *(dtype for dtype in INTEGERS if dtype not in DTYPES))
_OPS = "EmptyTensorList;TensorListConcatLists;TensorListPushBack;TensorListReserve"
_ROWS = (5, 3)
_ONE, _TWO = {"plain": tensors(_ROWS)}, {"plain": tensors(_ROWS, _ROWS)}
#: One tensor that a graph refuses when it is built, or that a kernel refuses.
_UNBUILT: dict[str, Any] = {"recipes": _ONE, **WHEN_BUILT}
_REFUSED: dict[str, Any] = {"recipes": _ONE, **IN_KERNEL}
#: Steps on one tensor, whose only gradient is the upstream.
_COPIED = steps(contents(_ROWS), small(1), dtypes=_ALL, vjp=lambda g, x: (g,))


def _pushed_with_room(like: TensorList, x: Any, y: Any) -> Any:
    pushed = like.empty(4).push(x, y)
    return pushed.stack(), pushed.length()


def _from_shape(rows: TensorList, x: Any, shape: Any) -> Any:
    return rows.at(rows.typed(shape=shape).unstack(x).handle).stack()


def _unread(like: TensorList, x: Any) -> Any:
    lists = [like.empty(2).push(x), like.reserve(3)]
    lists.append(lists[0].joined(lists[1]))
    shape = lists[2].element_shape(like.tf.int32)
    return (*(each.length() for each in lists), shape)


def _unread_in_xla(like: TensorList, x: Any) -> Any:
    lists = [like.empty(1).push(x), like.reserve(3)]
    return *(each.length() for each in lists), lists[0].element_shape(like.tf.int32)


def _batch(tf: Any, x: Any, y: Any) -> Any:
    like = TensorList(tf, x.dtype, tf.shape(x))
    handles = tf.stack([like.empty().push(y).handle, like.empty().handle])
    first, second = tf.unstack(tf.raw_ops.TensorListPushBackBatch(input_handles=handles, tensor=tf.stack([x, y])))
    return like.at(first).stack(), like.at(second).stack()


SPECS = (
    *op(
        "empty-tensor-list",
        "EmptyTensorList",
        _COPIED,
        program=like(lambda new, x: new.empty(1).push(x).pop()[1]),
        reference=lambda x: x,
    ),
    *op(
        "tensor-list-concat-lists",
        "TensorListConcatLists",
        steps(contents(_ROWS, (2, 3)), small(2), dtypes=_ALL, vjp=lambda g, x, y: (None, None), moving=()),
        part(
            "-two-dtypes",
            program=rows(lambda new, x: new.unstack(x).joined(new.unstack(new.tf.cast(x, new.tf.float64))).stack()),
            **_UNBUILT,
        ),
        program=rows(lambda new, x, y: new.unstack(x).joined(new.unstack(y)).stack()),
        reference=lambda x, y: np.concatenate([x, y]),
        contract=no_kernel("TensorListConcatLists"),
    ),
    *op(
        "tensor-list-from-tensor",
        "TensorListFromTensor",
        steps(contents(_ROWS), small(1), vjp=lambda g, x: (g,)),
        part("-mismatched", program=rows(_from_shape), recipes=followed_by((_ROWS,), {"longer": [4]}), **IN_KERNEL),
        part("-other-rank", program=rows(_from_shape), recipes=followed_by((_ROWS,), {"rank": [3, 1]}), **WHEN_BUILT),
        program=rows(lambda new, x: new.unstack(x).stack()),
        reference=lambda x: x,
        any_dtype=True,
    ),
    *op(
        "tensor-list-push-back",
        "TensorListPushBack",
        steps(contents(_ROWS, _ROWS), small(2), dtypes=_ALL, vjp=lambda g, x, y: (g[0], g[1]), moving=(0, 1)),
        part(
            "-room",
            program=like(_pushed_with_room),
            reference=lambda x, y: (np.stack([x, y]), np.array(2, "int32")),
            recipes=_TWO,
            constant=("output[1]",),
        ),
        part(
            "-other-dtype",
            program=like(lambda new, x: new.empty(2).push(x, new.tf.cast(x, new.tf.float64)).stack()),
            **_UNBUILT,
        ),
        part(
            "-other-shape",
            program=like(lambda new, x: new.empty(2).push(x, new.tf.reshape(x, [-1, 1])).stack()),
            **_REFUSED,
        ),
        part("-full", program=like(lambda new, x, y: new.empty(1).push(x, y).stack()), recipes=_TWO, **IN_KERNEL),
        program=like(lambda new, x, y: new.empty(2).push(x, y).stack()),
        reference=lambda x, y: np.stack([x, y]),
        any_dtype="TensorListStack",
    ),
    *op(
        "tensor-list-push-back-batch",
        "TensorListPushBackBatch",
        steps(contents(_ROWS, _ROWS), small(2)),
        program=_batch,
        reference=lambda x, y: (np.stack([y, x]), y[None]),
        any_dtype=True,
        contract=no_kernel("TensorListPushBackBatch"),
    ),
    *op(
        "tensor-list-reserve",
        "TensorListReserve",
        _COPIED,
        part(
            "-unwritten",
            program=like(lambda new, x: (new.reserve(3).put(1, x).item(2), new.reserve(0).stack())),
            reference=lambda x: (np.zeros_like(x), np.zeros((0, *x.shape), x.dtype)),
            recipes=_ONE,
            constant=("output[0]", "output[1]"),
        ),
        part(
            "-invalid",
            program=like(lambda new, x, count: new.reserve(count).stack()),
            recipes=followed_by((_ROWS,), {"negative": -1, "vector": [2, 3]}),
            **IN_KERNEL,
        ),
        program=like(lambda new, x: new.reserve(3).put(1, x).item(1)),
        reference=lambda x: x,
    ),
    *op(
        "tensor-list-texts",
        _OPS,
        program=like(lambda new, x, y: new.empty().push(x).joined(new.reserve(2).put(1, y)).stack()),
        reference=lambda x, y: np.stack([x, np.full(x.shape, b"", object), y]),
        recipes=_TWO,
        dtypes=("bytes",),
        modes=WITHOUT_XLA,
        tier="full",
    ),
    *op(
        "tensor-list-unread",  # no kernel reads elements of these dtypes
        _OPS,
        program=like(_unread),
        reference=lambda x: (*(np.array(n, "int32") for n in (1, 3, 4)), np.array(x.shape, "int32")),
        recipes=_ONE,
        dtypes=SMALL_NUMBERS,
        modes=WITHOUT_XLA,
        constant=tuple(f"output[{k}]" for k in range(4)),
        tier="full",
    ),
    *op(
        "tensor-list-unread-of-xla",  # XLA has no kernel that joins lists
        "EmptyTensorList;TensorListPushBack;TensorListReserve",
        program=like(_unread_in_xla),
        reference=lambda x: (np.array(1, "int32"), np.array(3, "int32"), np.array(x.shape, "int32")),
        recipes=_ONE,
        dtypes=(*SMALL_FLOATS, *NIBBLES),
        modes=("xla",),
        constant=("output[0]", "output[1]", "output[2]"),
        tier="full",
    ),
)
