"""List programs: chains of raw ops on a list of tensors, whose elements are like the first input or a part of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

_TYPE = ("element_dtype", "element_shape")
#: Methods that make or change a list: name → the OpDef, the arguments that the list knows, and the others, in order.
_LISTS: Mapping[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "empty": ("EmptyTensorList", _TYPE, ("max_num_elements",)),
    "reserve": ("TensorListReserve", _TYPE, ("num_elements",)),
    "unstack": ("TensorListFromTensor", ("element_shape",), ("tensor",)),
    "scatter": ("TensorListScatter", ("element_shape",), ("tensor", "indices")),
    "scatter_v2": ("TensorListScatterV2", ("element_shape",), ("tensor", "indices", "num_elements")),
    "split": ("TensorListSplit", ("element_shape",), ("tensor", "lengths")),
    "push_back": ("TensorListPushBack", ("input_handle",), ("tensor",)),
    "set_item": ("TensorListSetItem", ("input_handle",), ("index", "item", "resize_if_index_out_of_bounds")),
    "put_rows": ("TensorListScatterIntoExistingList", ("input_handle",), ("tensor", "indices")),
    "resize": ("TensorListResize", ("input_handle",), ("size",)),
}
#: Methods that read a list.
_TENSORS: Mapping[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "stack": ("TensorListStack", ("input_handle", *_TYPE), ("num_elements",)),
    "item": ("TensorListGetItem", ("input_handle", *_TYPE), ("index",)),
    "pop": ("TensorListPopBack", ("input_handle", *_TYPE), ()),
    "gather": ("TensorListGather", ("input_handle", *_TYPE), ("indices",)),
    "concat": ("TensorListConcat", ("input_handle", "element_dtype"), ()),
    "concat_v2": ("TensorListConcatV2", ("input_handle", *_TYPE), ("leading_dims",)),
    "length": ("TensorListLength", ("input_handle",), ()),
    "element_shape": ("TensorListElementShape", ("input_handle",), ("shape_type",)),
}


@dataclass(frozen=True)
class TensorList:
    """A list of tensors, or none yet; and the dtype and the shape of an element, which its raw ops have to be given.

    Its methods are those of two tables, in `list_programs`. An argument that is left out, a number of elements, is -1.
    """

    tf: Any
    dtype: Any
    shape: Any
    handle: Any = None

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in _LISTS:
            return lambda *arguments: self.at(self._call(*_LISTS[name], arguments))
        if name in _TENSORS:
            return lambda *arguments: self._call(*_TENSORS[name], arguments)
        raise AttributeError(name)

    def _call(self, op: str, known: tuple[str, ...], names: tuple[str, ...], arguments: tuple[Any, ...]) -> Any:
        own = {"input_handle": self.handle, "element_dtype": self.dtype, "element_shape": self.shape}
        given = dict(zip(names, (*arguments, -1), strict=False))
        return getattr(self.tf.raw_ops, op)(**{name: own[name] for name in known}, **given)

    def at(self, handle: Any) -> TensorList:
        """The list behind a handle."""
        return replace(self, handle=handle)

    def typed(self, dtype: Any = None, shape: Any = None) -> TensorList:
        """The list as one of elements of another dtype or shape."""
        return replace(self, dtype=self.dtype if dtype is None else dtype, shape=self.shape if shape is None else shape)

    def push(self, *tensors: Any) -> TensorList:
        """The list with further elements at its end."""
        return reduce(lambda longer, x: longer.push_back(x), tensors, self)

    def put(self, index: Any, x: Any) -> TensorList:
        """The list with another element at an index."""
        return self.set_item(index, x, False)

    def joined(self, other: TensorList) -> TensorList:
        """The elements of both lists."""
        both = {"input_a": self.handle, "input_b": other.handle}
        return self.at(self.tf.raw_ops.TensorListConcatLists(element_dtype=self.dtype, **both))


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
