"""List elements: the raw ops on lists of tensors, for elements of one dtype and shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Elements:
    """The raw ops on lists that have to be given the dtype and the shape of an element."""

    tf: Any
    dtype: Any
    shape: Any

    @classmethod
    def like(cls, tf: Any, x: Any) -> Elements:
        """Of lists whose elements have the dtype and the shape of a tensor."""
        return cls(tf, x.dtype, tf.shape(x))

    @classmethod
    def rows(cls, tf: Any, x: Any) -> Elements:
        """Of lists whose elements have the dtype and the shape of the rows of a tensor."""
        return cls(tf, x.dtype, tf.shape(x)[1:])

    @classmethod
    def pieces(cls, tf: Any, x: Any) -> Elements:
        """Of lists whose elements are parts of a tensor, with any number of its rows."""
        return cls(tf, x.dtype, tf.concat([[-1], tf.shape(x)[1:]], 0))

    @property
    def _typed(self) -> dict[str, Any]:
        return {"element_dtype": self.dtype, "element_shape": self.shape}

    def empty(self, room: int = -1) -> Any:
        """A list without elements; `room` is the largest number of elements, which XLA needs."""
        return self.tf.raw_ops.EmptyTensorList(max_num_elements=room, **self._typed)

    def reserve(self, count: Any) -> Any:
        """A list of elements that were not written."""
        return self.tf.raw_ops.TensorListReserve(num_elements=count, **self._typed)

    def of_rows(self, x: Any) -> Any:
        """The list of the rows of a tensor."""
        return self.tf.raw_ops.TensorListFromTensor(tensor=x, element_shape=self.shape)

    def push(self, handle: Any, *tensors: Any) -> Any:
        """The list with further elements at its end."""
        for x in tensors:
            handle = self.tf.raw_ops.TensorListPushBack(input_handle=handle, tensor=x)
        return handle

    def put(self, handle: Any, index: Any, x: Any, *, resize: bool = False) -> Any:
        """The list with another element at an index."""
        return self.tf.raw_ops.TensorListSetItem(
            input_handle=handle, index=index, item=x, resize_if_index_out_of_bounds=resize
        )

    def stack(self, handle: Any, count: int = -1) -> Any:
        """The elements as the rows of a tensor."""
        return self.tf.raw_ops.TensorListStack(input_handle=handle, num_elements=count, **self._typed)

    def item(self, handle: Any, index: Any) -> Any:
        """An element."""
        return self.tf.raw_ops.TensorListGetItem(input_handle=handle, index=index, **self._typed)

    def pop(self, handle: Any) -> Any:
        """The list without its last element, and that element."""
        return self.tf.raw_ops.TensorListPopBack(input_handle=handle, **self._typed)

    def gather(self, handle: Any, indices: Any) -> Any:
        """The elements at some indices as the rows of a tensor."""
        return self.tf.raw_ops.TensorListGather(input_handle=handle, indices=indices, **self._typed)

    def concat(self, handle: Any, lengths: Any) -> Any:
        """The elements one behind the other, and their lengths; `lengths` has those of elements not written."""
        return self.tf.raw_ops.TensorListConcatV2(input_handle=handle, leading_dims=lengths, **self._typed)
