"""Filled rows: the declarations of the gradients of ops that fill the empty rows of sparse or ragged tensors."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from tf_opdiff.harness.spec.inputs.recipes import INTEGERS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.calls import Call, call
from tf_opdiff.suites.forms.elementwise.copies import COMMON
from tf_opdiff.suites.forms.reductions.sparse import tensors
from tf_opdiff.suites.reference.arrays.moves import Back, Forward
from tf_opdiff.suites.reference.sparse_tensors import sparse as ref


def _gradient(op: str, output: int, tf: Any, g: Any, mapped: Any, count: Any) -> Any:
    return getattr(tf.raw_ops, op)(reverse_index_map=mapped, grad_values=g)[output]


def _filled(count: int, mapped: list[Any]) -> Call:
    """A call of the gradient of filled rows: the number of all values, and the new places of those of the input."""
    return call((count,), mapped=mapped, count=count)


_FILLED = {
    "mixed": _filled(7, [5, 0, 3]),
    "all": _filled(4, [3, 1, 0, 2]),
    "none": _filled(5, []),
    "empty": _filled(0, []),
    "single": _filled(1, [0]),
}


_SHARED: dict[str, Any] = {
    "calls": _FILLED,
    "tensors": tensors("mapped"),
    "modes": WITHOUT_XLA,
    "gradient": False,
    "dtypes": replace(COMMON, rough=INTEGERS, without_xla=()),
}


def by_values(raw: str) -> dict[str, Any]:
    """The declaration of the gradient by the values, which is the first output of the OpDef."""
    return {
        "raw": raw,
        "program": partial(_gradient, raw, 0),
        "promise": Forward(lambda g, mapped, count: ref.from_filled(g, mapped)),
        "small_fed": {"none": call((0,), mapped=[], count=0), "one": call((1,), mapped=[0], count=0)},
        "run": {"out_of_bounds": _filled(3, [0, 3]), "negative": _filled(3, [0, -1])},
        "built": {"matrix": _filled(3, [[0, 1, 2]])},
        **_SHARED,
    }


def by_default(raw: str) -> dict[str, Any]:
    """The declaration of the gradient by the default value, which is the second output of the OpDef."""
    promise = Back(ref.into_empty_rows, lambda g, mapped, count: ())
    return {"raw": raw, "program": partial(_gradient, raw, 1), "promise": promise, **_SHARED}
