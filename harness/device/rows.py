"""Rows: self-checks of a batch: a row gives the same result alone, and beside rows of NaN and infinities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.repeat import Rerun, differing
from tf_opdiff.harness.device.request import Arguments
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.quantity import family_of, number_of

#: The code with which an op refuses special values in other rows, such as a matrix without an inverse: no row leaks.
_REFUSED = "INVALID_ARGUMENT"
#: The values of the other rows, in turn, in the check for leaks.
_SPECIAL = (np.nan, np.inf, -np.inf)


def compared_rows(count: int) -> tuple[int, ...]:
    """The rows of a batch that are compared: the first, a middle one and the last."""
    return tuple(sorted({0, count // 2, count - 1}))


def alone(arguments: Arguments, shared: Sequence[int], row: int) -> Arguments:
    """The arguments of one row, as a batch of one; without tangents."""
    return _changed(arguments, shared, lambda x: x[row : row + 1])


def beside_special(arguments: Arguments, shared: Sequence[int], row: int) -> Arguments:
    """The arguments of the whole batch, with NaN and infinities in all floats of the other rows; without tangents."""

    def special(x: np.ndarray) -> np.ndarray:
        if x.dtype.kind != "c" and not is_float(x.dtype):
            return x
        values = np.resize(np.array(_SPECIAL).astype(x.dtype), len(x)).reshape(-1, *[1] * (x.ndim - 1))
        others = np.broadcast_to(values, x.shape).copy()
        others[row] = x[row]
        return others

    changed = _changed(arguments, shared, special)
    return Arguments(changed.inputs, arguments.upstreams)


def _changed(arguments: Arguments, shared: Sequence[int], change: Callable[[Any], Any]) -> Arguments:
    """The arguments with a change of each input that has rows, and of each upstream."""
    inputs = [x if i in shared else change(x) for i, x in enumerate(arguments.inputs)]
    upstreams = arguments.upstreams and [None if g is None else change(g) for g in arguments.upstreams]
    return Arguments(inputs, upstreams)


def run_row_checks(
    kinds: Sequence[str], shared: Sequence[int], arguments: Arguments, results: Mapping[str, Result], rerun: Rerun
) -> dict[str, dict[str, Result]]:
    """The results whose rows differ from those of the batch, by self-check and quantity.

    Args:
      kinds: out of `harness.device.repeat.ROW_CHECKS`.
      shared: the numbers of the inputs that all rows share; their gradients are sums over the batch, and no rows.
      arguments: those of the run.
      results: those of the run.
      rerun: see `harness.device.repeat.Rerun`.
    """
    count = next(len(x) for i, x in enumerate(arguments.inputs) if i not in shared)
    differences: dict[str, dict[str, Result]] = {}
    for kind in kinds:
        changed = differences[kind] = {}
        for row in compared_rows(count):
            single = kind == "batch"
            new = alone(arguments, shared, row) if single else beside_special(arguments, shared, row)
            repeats, error = rerun(new, False)
            if error and not single and error.code == _REFUSED:
                continue
            for quantity, first in results.items():
                if not _has_rows(quantity, first, shared):
                    continue
                before = changed.get(quantity, first)
                after = _with_row(before, error or repeats[quantity], row, single=single)
                if after is not before:
                    changed[quantity] = after
    return differences


def _has_rows(quantity: str, result: Result, shared: Sequence[int]) -> bool:
    """Whether the rows of a quantity are compared: those of outputs, and of gradients by inputs that have rows."""
    family = family_of(quantity)
    return result.status == "value" and (family == "output" or (family == "grad" and number_of(quantity) not in shared))


def _with_row(base: Result, other: Result, row: int, *, single: bool) -> Result:
    """The result of a batch with a row of another result in place of its own; the same object if no bit differs.

    `single`: the other result is that of the row alone. A result of another shape or dtype, or an error, takes the
    place of the whole batch, and stays.
    """
    whole, value = base.value, other.value
    if base.status != "value" or whole is None:
        return base
    expected = (1, *whole.shape[1:]) if single else whole.shape
    if other.status != "value" or value is None:
        return other
    if not whole.ndim or (value.shape, value.dtype) != (expected, whole.dtype):
        return other
    own = value[:1] if single else value[row : row + 1]
    if not differing(own, whole[row : row + 1]).any():
        return base
    joined = whole.copy()
    joined[row] = own[0]
    return replace(base, value=joined)
