"""Second element: a comparison that shows one element of a result also shows another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.differences.comparison import Comparison, Element
from tf_opdiff.harness.judge.promises.want import Want


def with_second(
    shown: Comparison, came: Result, want: Want, quantity: str, *, inputs: Sequence[np.ndarray]
) -> Comparison:
    """The comparison with another element as `simplest`, if its simplest element is its worst.

    The other element is the worst of those that remain. If nothing differs, which is evidence against a claim that
    denies the value, it is the last element, or the first. Without a second element the comparison stays as it is.
    """
    at, easy = shown.index, shown.simplest
    if at is None or (easy and easy.index != at) or came.status != "value" or came.value is None or want.value is None:
        return shown
    if not shown.kind:
        for index in (tuple(n - 1 for n in came.value.shape), (0,) * len(at)):
            if index != at:
                return replace(shown, simplest=Element(index, str(came.value[index]), str(want.value[index])))
        return shown
    rest = came.value.copy()
    with np.errstate(all="ignore"):
        rest[at] = want.value[at]
    second = compare(replace(came, value=rest), want, quantity, inputs=inputs)
    if not second.kind or second.index is None:
        return shown
    return replace(shown, simplest=Element(second.index, second.got, second.want))
