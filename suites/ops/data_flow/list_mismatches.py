"""Tensors whose shape or dtype does not fit a list."""

from collections.abc import Callable, Mapping
from typing import Any

from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.forms.errors import WHEN_BUILT
from tf_opdiff.suites.forms.list_elements import Elements
from tf_opdiff.suites.forms.lists import followed_by, refused, tensors
from tf_opdiff.suites.ops.data_flow import list_errors, list_scattering

_PROGRAMS = {spec.name: spec.program for spec in (*list_errors.SPECS, *list_scattering.SPECS)}
_ROWS = (5, 3)


def _pushed_other(change: Callable[..., Any]) -> Callable[..., Any]:
    """A program that pushes another tensor than the list holds."""

    def program(tf: Any, x: Any) -> Any:
        like = Elements.like(tf, x)
        return like.stack(like.push(like.empty(2), x, change(tf, x)))

    return program


def _set_other(change: Callable[..., Any]) -> Callable[..., Any]:
    """A program that sets an element to another tensor than the list holds."""

    def program(tf: Any, x: Any) -> Any:
        rows = Elements.rows(tf, x)
        return rows.stack(rows.put(rows.of_rows(x), 1, change(tf, x[0])))

    return program


def _stacked_as(change: Callable[[Elements], Elements], count: int = -1) -> Callable[..., Any]:
    """A program that stacks a list as one of other elements."""

    def program(tf: Any, x: Any) -> Any:
        rows = Elements.rows(tf, x)
        return change(rows).stack(rows.of_rows(x), count)

    return program


def _item_as(change: Callable[[Elements], Elements]) -> Callable[..., Any]:
    """A program that reads an element of a list of other elements."""

    def program(tf: Any, x: Any) -> Any:
        rows = Elements.rows(tf, x)
        return change(rows).item(rows.of_rows(x), 1)

    return program


def _doubles(elements: Elements) -> Elements:
    return Elements(elements.tf, elements.tf.float64, elements.shape)


def _wider(elements: Elements) -> Elements:
    return Elements(elements.tf, elements.dtype, elements.shape + 1)


def _of_unknown_shape(tf: Any, x: Any) -> Any:
    unknown = Elements(tf, x.dtype, -1)
    return unknown.stack(unknown.reserve(2)) + x


def _item_of_unknown_shape(tf: Any, x: Any) -> Any:
    unknown = Elements(tf, x.dtype, -1)
    return unknown.item(unknown.reserve(2), 0) + x


def _lists_of_two_dtypes(tf: Any, x: Any) -> Any:
    rows = Elements.rows(tf, x)
    other = tf.raw_ops.TensorListConcatLists(
        input_a=rows.of_rows(x), input_b=rows.of_rows(tf.cast(x, tf.float64)), element_dtype=x.dtype
    )
    return rows.stack(other)


def _casted(tf: Any, x: Any) -> Any:
    return tf.cast(x, tf.float64)


def _flat(tf: Any, x: Any) -> Any:
    return tf.reshape(x, [-1, 1])


def _mismatched(name: str, raw: str, program: Callable[..., Any], recipes: Mapping[str, Recipe] | None = None) -> Spec:
    """The spec of arguments that do not fit: a graph refuses them when it is built."""
    return Spec(name=name, ops=raw, program=program, recipes=recipes or _ONE, **WHEN_BUILT)


_ONE = {"plain": tensors(_ROWS)}
_SPLIT = _PROGRAMS["tensor-list-split"]


SPECS = (
    _mismatched("tensor-list-concat-lists-two-dtypes", "TensorListConcatLists", _lists_of_two_dtypes),
    _mismatched(
        "tensor-list-from-tensor-other-rank",
        "TensorListFromTensor",
        _PROGRAMS["tensor-list-from-tensor-mismatched"],
        followed_by((_ROWS,), {"rank": [3, 1]}),
    ),
    _mismatched("tensor-list-get-item-other-dtype", "TensorListGetItem", _item_as(_doubles)),
    refused("tensor-list-get-item-unknown-shape", "TensorListGetItem", _item_of_unknown_shape, _ONE),
    _mismatched("tensor-list-push-back-other-dtype", "TensorListPushBack", _pushed_other(_casted)),
    refused("tensor-list-push-back-other-shape", "TensorListPushBack", _pushed_other(_flat), _ONE),
    _mismatched(
        "tensor-list-resize-vector",
        "TensorListResize",
        _PROGRAMS["tensor-list-resize-invalid"],
        followed_by((_ROWS,), {"vector": [2, 3]}),
    ),
    refused("tensor-list-set-item-other-dtype", "TensorListSetItem", _set_other(_casted), _ONE),
    _mismatched("tensor-list-set-item-other-shape", "TensorListSetItem", _set_other(_flat)),
    _mismatched(
        "tensor-list-split-matrix", "TensorListSplit", _SPLIT, followed_by((_ROWS,), {"matrix": [[2, 0, 3]]}, "int64")
    ),
    refused("tensor-list-stack-other-count", "TensorListStack", _stacked_as(lambda rows: rows, 4), _ONE),
    _mismatched("tensor-list-stack-other-dtype", "TensorListStack", _stacked_as(_doubles)),
    _mismatched("tensor-list-stack-other-shape", "TensorListStack", _stacked_as(_wider)),
    refused("tensor-list-stack-unknown-shape", "TensorListStack", _of_unknown_shape, _ONE),
)
