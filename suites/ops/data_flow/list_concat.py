"""TensorListConcat and TensorListConcatV2: the elements of a list, one behind the other."""

from typing import Any

import numpy as np

from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.forms.state.list_programs import TensorList, like, pieces
from tf_opdiff.suites.forms.state.lists import contents, no_kernel, one_length, small, steps, tensors

_ROWS = (5, 3)
_SEVERAL = {"plain": tensors(_ROWS, (2, 3)), "none": tensors((4, 3), (0, 3))}
_ONE_LENGTH = one_length("INTERNAL", "Invalid TensorList shape")


def _with_gap(pieces: TensorList, x: Any, y: Any) -> Any:
    tf, written = pieces.tf, pieces.reserve(3).put(0, x).put(2, y)
    return written.concat_v2(tf.stack([0, tf.shape(x, tf.int64)[0], 0]))


def _vjp(g: Any, x: Any, y: Any) -> Any:
    return g[: len(x)], g[len(x) :]


def _vjp_with_gap(g: Any, x: Any, y: Any) -> Any:
    return g[: len(x)], g[2 * len(x) :]


SPECS = (
    *op(
        "tensor-list-concat",
        "TensorListConcat",
        steps(contents(_ROWS, (2, 3)), small(2), vjp=_vjp, moving=(0, 1)),
        part(
            "-known-shape",
            program=like(lambda new, x, y: new.empty(2).push(x, y).concat()[0]),
            recipes={"plain": tensors(_ROWS, _ROWS)},
            vjp=_vjp,
        ),
        part(
            "-lengths",
            program=pieces(lambda new, x, y: new.empty(2).push(x, y).concat()[1]),
            reference=lambda x, y: np.array([len(x), len(y)]),
            recipes=_SEVERAL,
            constant=("output[0]",),
        ),
        program=pieces(lambda new, x, y: new.empty(2).push(x, y).concat()[0]),
        reference=lambda x, y: np.concatenate([x, y]),
        contract=no_kernel("TensorListConcat"),
    ),
    *op(
        "tensor-list-concat-v2",
        "TensorListConcatV2",
        steps(contents(_ROWS, _ROWS), small(2), vjp=_vjp_with_gap, moving=(0, 1)),
        part(
            "-lengths",
            program=pieces(lambda *inputs: _with_gap(*inputs)[1]),
            reference=lambda x, y: np.array([len(x), len(x), len(y)]),
            recipes=_SEVERAL,
            constant=("output[0]",),
            contract=_ONE_LENGTH,
        ),
        part("-several-lengths", recipes=_SEVERAL, contract=_ONE_LENGTH, vjp=_vjp_with_gap),
        program=pieces(lambda *inputs: _with_gap(*inputs)[0]),
        reference=lambda x, y: np.concatenate([x, np.zeros_like(x), y]),
    ),
)
