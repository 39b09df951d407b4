"""List programs: chains of raw ops on a list of tensors, whose elements are like the first input or a part of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class TensorList:
    """A list of tensors, or none yet; and the dtype and the shape of an element, which its raw ops have to be given."""

    tf: Any
    dtype: Any
    shape: Any
    handle: Any = None

    def _next(self, op: str, **arguments: Any) -> TensorList:
        return self.at(getattr(self.tf.raw_ops, op)(**arguments))

    def _call(self, op: str, **arguments: Any) -> Any:
        typed = {"element_dtype": self.dtype, "element_shape": self.shape}
        return getattr(self.tf.raw_ops, op)(**arguments, **typed)

    def _read(self, op: str, **arguments: Any) -> Any:
        return self._call(op, input_handle=self.handle, **arguments)

    def at(self, handle: Any) -> TensorList:
        """The list behind a handle."""
        return replace(self, handle=handle)

    def typed(self, dtype: Any = None, shape: Any = None) -> TensorList:
        """The list as one of elements of another dtype or shape."""
        return replace(self, dtype=self.dtype if dtype is None else dtype, shape=self.shape if shape is None else shape)

    def empty(self, room: int = -1) -> TensorList:
        """A list without elements; `room` is the largest number of elements, which XLA needs."""
        return self.at(self._call("EmptyTensorList", max_num_elements=room))

    def reserve(self, count: Any) -> TensorList:
        """A list of elements that were not written."""
        return self.at(self._call("TensorListReserve", num_elements=count))

    def unstack(self, x: Any) -> TensorList:
        """The list of the rows of a tensor."""
        return self._next("TensorListFromTensor", tensor=x, element_shape=self.shape)

    def scatter(self, x: Any, indices: Any) -> TensorList:
        """The list with the rows of a tensor at some indices."""
        return self._next("TensorListScatter", tensor=x, indices=indices, element_shape=self.shape)

    def scatter_v2(self, x: Any, indices: Any, count: int) -> TensorList:
        """The list of so many elements with the rows of a tensor at some indices."""
        where = {"indices": indices, "element_shape": self.shape, "num_elements": count}
        return self._next("TensorListScatterV2", tensor=x, **where)

    def split(self, x: Any, lengths: Any) -> TensorList:
        """The list of pieces of a tensor."""
        return self._next("TensorListSplit", tensor=x, element_shape=self.shape, lengths=lengths)

    def push(self, *tensors: Any) -> TensorList:
        """The list with further elements at its end."""
        longer = self
        for x in tensors:
            longer = longer._next("TensorListPushBack", input_handle=longer.handle, tensor=x)
        return longer

    def put(self, index: Any, x: Any, *, resize: bool = False) -> TensorList:
        """The list with another element at an index."""
        where = {"index": index, "resize_if_index_out_of_bounds": resize}
        return self._next("TensorListSetItem", input_handle=self.handle, item=x, **where)

    def put_rows(self, x: Any, indices: Any) -> TensorList:
        """The list with the rows of a tensor at some indices."""
        return self._next("TensorListScatterIntoExistingList", input_handle=self.handle, tensor=x, indices=indices)

    def resize(self, size: Any) -> TensorList:
        """The list with so many elements."""
        return self._next("TensorListResize", input_handle=self.handle, size=size)

    def joined(self, other: TensorList) -> TensorList:
        """The elements of both lists."""
        both = {"input_a": self.handle, "input_b": other.handle}
        return self._next("TensorListConcatLists", element_dtype=self.dtype, **both)

    def stack(self, count: int = -1) -> Any:
        """The elements as the rows of a tensor."""
        return self._read("TensorListStack", num_elements=count)

    def item(self, index: Any) -> Any:
        """An element."""
        return self._read("TensorListGetItem", index=index)

    def pop(self) -> Any:
        """The handle of the list without its last element, and that element."""
        return self._read("TensorListPopBack")

    def gather(self, indices: Any) -> Any:
        """The elements at some indices as the rows of a tensor."""
        return self._read("TensorListGather", indices=indices)

    def concat(self) -> Any:
        """The elements one behind the other, and their lengths."""
        return self.tf.raw_ops.TensorListConcat(input_handle=self.handle, element_dtype=self.dtype)

    def concat_v2(self, lengths: Any) -> Any:
        """The elements one behind the other, and their lengths; `lengths` has those of elements not written."""
        return self._read("TensorListConcatV2", leading_dims=lengths)

    def length(self) -> Any:
        """The number of elements."""
        return self.tf.raw_ops.TensorListLength(input_handle=self.handle)

    def element_shape(self, dtype: Any) -> Any:
        """The shape of an element."""
        return self.tf.raw_ops.TensorListElementShape(input_handle=self.handle, shape_type=dtype)


#: steps(list without elements, *inputs) → the outputs.
Steps = Callable[..., Any]


def like(steps: Steps) -> Callable[..., Any]:
    """A program of lists whose elements have the shape of the first input."""
    return lambda tf, x, *others: steps(TensorList(tf, x.dtype, tf.shape(x)), x, *others)


def rows(steps: Steps) -> Callable[..., Any]:
    """A program of lists whose elements have the shape of the rows of the first input."""
    return lambda tf, x, *others: steps(TensorList(tf, x.dtype, tf.shape(x)[1:]), x, *others)


def pieces(steps: Steps) -> Callable[..., Any]:
    """A program of lists whose elements are parts of the first input, with any number of its rows."""
    return lambda tf, x, *others: steps(TensorList(tf, x.dtype, tf.concat([[-1], tf.shape(x)[1:]], 0)), x, *others)


def unknown(steps: Steps) -> Callable[..., Any]:
    """A program of lists whose elements have an unknown shape."""
    return lambda tf, x, *others: steps(TensorList(tf, x.dtype, -1), x, *others)
