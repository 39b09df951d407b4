"""Ops that change rows of their first input in place. Programs give them a copy, because inputs may not change.

TensorFlow has no gradient of them, and XLA does not have them.
"""

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.recipes import COMPLEX
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.forms.scatter import FLOATS, INTEGERS, Scatter, Target, results
from tf_opdiff.suites.reference.scatter import ADD, SUB, UPDATE

_NUMBERS = (*FLOATS, *INTEGERS, *COMPLEX)


def _call(tf, raw, x, i, u):
    """A call with all indices in one vector, and all updates in rows."""
    rows = tf.concat([[tf.size(i)], tf.shape(x)[1:]], 0)
    return raw(x=tf.raw_ops.DeepCopy(x=x), i=tf.cast(tf.reshape(i, [-1]), "int32"), v=tf.reshape(u, rows))


def _inputs(x, i, u):
    """A recipe: a tensor, indices, and updates of these shapes."""
    return lambda draw, dtype: (draw.values(dtype, *x), np.array(i, "int32"), draw.values(dtype, *u))


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


def _inplace(name, raw, how, no_kernel, *parts):
    """The specs of an op; `no_kernel` are dtypes for which the kernel that takes every dtype has no code."""
    scatter = Scatter(raw=raw, how=how, target=Target(call=_call, modes=WITHOUT_XLA))

    def around(x, i, u):
        """An index beyond the rows is counted around: tensorflow/core/kernels/inplace_ops.cc, DoInplaceOp."""
        return scatter.of(x, i % len(x), u) if len(x) else x

    return op(
        name,
        raw,
        lambda op: results(name, scatter, _NUMBERS),
        part("-beyond", reference=around, recipes=_BEYOND, ulp={"output": 0.5}),
        part("-mismatched", recipes=_WRONG, **IN_KERNEL),
        part("-refused-dtypes", recipes={"plain": _inputs((5, 3), [2, 1], (2, 3))}, dtypes=no_kernel, **IN_KERNEL),
        *parts,
        program=lambda tf, x, i, u: getattr(tf.raw_ops, raw)(x=tf.raw_ops.DeepCopy(x=x), i=i, v=u),
        modes=WITHOUT_XLA,
    )


_REFUSED = ("bool", "bytes", *FLOAT8_OF_CPU)
_OTHER_KINDS = part(
    "-other-kinds",
    reference=Scatter(raw="InplaceUpdate", how=UPDATE, target=Target(call=_call)).of,
    recipes={"plain": _inputs((5, 3), [3, 0], (2, 3))},
    dtypes=("bool", "bytes"),
    tier="full",
)

SPECS = (
    *_inplace("inplace-add", "InplaceAdd", ADD, _REFUSED),
    *_inplace("inplace-sub", "InplaceSub", SUB, _REFUSED),
    *_inplace("inplace-update", "InplaceUpdate", UPDATE, FLOAT8_OF_CPU, _OTHER_KINDS),
)
