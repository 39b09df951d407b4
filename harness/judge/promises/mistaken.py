"""Mistaken: the wrong results that TensorFlow computes because of a known failure, as a spec gives them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.judge.promises import reference
from tf_opdiff.harness.judge.promises.expectation import widened
from tf_opdiff.harness.spec.quantity import Quantity
from tf_opdiff.harness.spec.spec import Case


@np.errstate(all="ignore")
def mistaken(
    case: Case, quantity: str, inputs: Sequence[np.ndarray], upstreams: Sequence[np.ndarray | None]
) -> np.ndarray:
    """The wrong result of a quantity by `Spec.mistaken`, before it is rounded to the dtype of the result.

    A function that has an argument `dtype` gets that of the case.

    Raises:
      LookupError: the spec has no such function, or the function has no array for the quantity.
      ReferenceFault: the function failed.
    """
    family, number = Quantity.parse(quantity)
    function = case.spec.mistaken.get(family)
    if function is None:
        raise LookupError(f"spec {case.spec.name} has no mistaken {family}")
    arguments: list[Any] = [widened(x) for x in inputs]
    if family == "grad":
        gs = tuple(None if g is None else widened(g) for g in upstreams)
        arguments = [gs if len(gs) > 1 else gs[0], *arguments]
    if "dtype" in inspect.signature(function).parameters:
        function = partial(function, dtype=np.dtype(case.dtype))
    results = reference.call(function, f"mistaken {family}", case, *arguments)
    each = results if isinstance(results, tuple) else (results,)
    if number >= len(each) or each[number] is None:
        raise LookupError(f"mistaken {family} of spec {case.spec.name} has no {quantity}")
    return np.asarray(each[number])
