"""Planes: calls of an op of images, with tensors of rank 5 that have one more dimension of size 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tf_opdiff.suites.forms.calls import Calls
from tf_opdiff.suites.forms.op import also
from tf_opdiff.suites.forms.part import Part


def _of_planes(results: Callable[..., Any]) -> Callable[..., Any]:
    """A program that gives its tensors a further dimension of size 1 in the middle, and takes it from the results.

    Args:
      results: results(tf, *xs, **attrs) → tensors of rank 5 and vectors.
    """

    def program(tf: Any, *xs: Any, data_format: str, **attrs: Any) -> Any:
        planes = [tf.expand_dims(x, 2) if x.shape.rank == 4 else x for x in xs]
        ys = results(tf, *planes, data_format={"NHWC": "NDHWC", "NCHW": "NCDHW"}[data_format], **attrs)
        return tuple(tf.squeeze(y, 2) if y.shape.rank == 5 else y for y in ys)

    return program


def in_planes(calls: Calls, results: Callable[..., Any], **fields: Any) -> Part:
    """A part: the calls with tensors of rank 5, whose recipe is `plain`."""
    own = {label: replace(one, program=_of_planes(results)) for label, one in calls.items()}
    return also("-planes", calls=own, names=(), dtypes=("float32",), **fields)
