"""Ops that change rows of their first input in place. No program gives them a copy, which would hide the change.

TensorFlow has no gradient of them, and XLA does not have them.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.array_ops.scatter import Scatter, scatter
from tf_opdiff.suites.forms.array_ops.scatter_recipes import around, plain
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.of_xla import SMALL_NUMBERS
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered, together
from tf_opdiff.suites.reference.arrays.scatter import ADD, SUB, UPDATE


def _flat(raw):
    """A program that calls an op with all indices in one vector, and all updates in rows."""

    def program(tf, x, i, u):
        rows = tf.concat([[tf.size(i)], tf.shape(x)[1:]], 0)
        flat = tf.cast(tf.reshape(i, [-1]), "int32")
        return getattr(tf.raw_ops, raw)(x=x, i=flat, v=tf.reshape(u, rows))

    return program


def _as_they_are(raw):
    """A program that gives an op its inputs as they are."""
    return lambda tf, x, i, u: getattr(tf.raw_ops, raw)(x=x, i=i, v=u)


def _inputs(x, i, u):
    """A recipe: a tensor, indices, and updates of these shapes."""
    return around(plain(*x), np.array(i, "int32"), plain(*u))


_WRONG = {
    "columns": _inputs((5, 3), [2, 1, 0], (3, 4)),
    "rows": _inputs((5, 3), [2, 1, 0], (4, 3)),
    "rank": _inputs((5, 3), [2], (3,)),
    "matrix_of_indices": _inputs((5, 3), [[2]], (1, 3)),
    "scalar": _inputs((), [0], ()),
    "scalar_index": _inputs((5, 3), 2, (1, 3)),
}
_BEYOND = {
    "at_end": _inputs((5, 3), [2, 5], (2, 3)),
    "negative": _inputs((5, 3), [-1, -12], (2, 3)),
    "no_rows": _inputs((0, 3), [0], (1, 3)),
}


def _around(how):
    """The reference of an op that counts indices around: tensorflow/core/kernels/inplace_ops.cc, DoInplaceOp."""
    return lambda x, i, u: Scatter(how=how).of(x, i % len(x), u) if len(x) else x


def _in_place(how, no_kernel):
    """A part: `no_kernel` are dtypes for which the kernel that takes every dtype has no code."""

    def specs(op):
        shared = {"lowest_tier": True, "program": _as_they_are(op.raw)}
        return together(
            scatter(how, refuses=False),
            part("-beyond", reference=_around(how), recipes=_BEYOND, ulp={"output": 0.5}, **shared),
            part("-mismatched", recipes=_WRONG, **IN_KERNEL, **shared),
            part(
                "-refused-dtypes",
                recipes={"plain": _inputs((5, 3), [2, 1], (2, 3))},
                dtypes=no_kernel,
                **IN_KERNEL,
                **shared,
            ),
        )(replace(op, program=_flat(op.raw)))

    return specs


_OF_ALL: dict[str, Any] = {
    "gradient": False,
    "dtypes": tiered((*FLOATS, *INTEGERS, *COMPLEX), ("float32",)),
    "modes": WITHOUT_XLA,
}

SPECS = (
    *op("inplace-add", "InplaceAdd", _in_place(ADD, ("bool", "bytes", *SMALL_NUMBERS)), **_OF_ALL),
    *op("inplace-sub", "InplaceSub", _in_place(SUB, ("bool", "bytes", *SMALL_NUMBERS)), **_OF_ALL),
    *op(
        "inplace-update",
        "InplaceUpdate",
        _in_place(UPDATE, SMALL_NUMBERS),
        part(
            "-other-kinds",
            program=_as_they_are("InplaceUpdate"),
            reference=Scatter(how=UPDATE).of,
            recipes={"plain": _inputs((5, 3), [3, 0], (2, 3))},
            dtypes=("bool", "bytes"),
            tier="full",
        ),
        **_OF_ALL,
    ),
)
