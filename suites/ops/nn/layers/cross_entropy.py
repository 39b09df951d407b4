"""Cross entropies of softmax. Errors count roundings: see `suites.reference.neural_networks.loss`."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.forms.aspects import drawn, second_order, small
from tf_opdiff.suites.forms.calls import Call, Drawn, call, fields
from tf_opdiff.suites.forms.errors import WHEN_BUILT, raises
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes.elements import plain, uniform
from tf_opdiff.suites.forms.recipes.logits import LOGITS, SUBNORMAL
from tf_opdiff.suites.forms.recipes.rows import SHAPE
from tf_opdiff.suites.reference.neural_networks.loss import CrossEntropy, LossAndGradient, SparseCrossEntropy

_SPARSE_DOC = "https://www.tensorflow.org/api_docs/python/tf/nn/sparse_softmax_cross_entropy_with_logits"
_CANCELS = Loose(reason="a gradient is the difference of shares and labels, which may cancel", size=1)
_OF_BOTH = {"loose": {"output[1]": _CANCELS}}
_SMALL = {"no_rows": (0, 3), "one_by_one": (1, 1), "one_row": (1, 5)}
_PAIRS = {
    "shared_labels": ((4, 5), (1, 5)),
    "shared_logits": ((1, 5), (4, 5)),
    "one_share": ((4, 5), (4, 1)),
    "one_label": ((4, 5), (1, 1)),
}


def _logits(recipe):
    """The elements of logits that a recipe gives in the shape of `SHAPE`."""
    return lambda draw, dtype, *shape: recipe(draw, dtype)[0]


#: Rows in which every class has a loss.
_ROWS = {label: _logits(recipe) for label, recipe in LOGITS.items() if label not in ("masked", "upstreams")}


def _distributions(draw, dtype, *shape):
    """Distributions; the first one is one-hot."""
    labels = draw.uniform(*shape, low=0, high=1)
    labels[0] = np.eye(shape[1])[3]
    return (labels / labels.sum(axis=1, keepdims=True)).astype(dtype)


def _shares(draw, dtype, *shape):
    """Shares of five classes."""
    return (draw.uniform(*shape, low=0.25, high=1) / 5).astype(dtype)


def _equal_shares(draw, dtype, *shape):
    return (np.ones(shape) / max(shape[-1], 1)).astype(dtype)


def _classes(dtype, second=SHAPE[1] - 1):
    """The number of a class for each row, the first one and the last one among them, or another second one."""
    return lambda draw, d, *shape: np.array([0, second, 3, 7], dtype)


def _last_class(x):
    return np.full(x.shape[:1], x.shape[-1] - 1, "int32")


def _unfit(suffix, program, of_labels, *shapes):
    """A part: shapes that do not fit, with labels of this dtype, or of that of the logits."""

    def recipe(draw, dtype):
        x, z = (draw.uniform(*shape, low=0, high=1) for shape in shapes)
        return x.astype(dtype), z.astype(of_labels or dtype)

    return part(suffix, program=program, recipes={"shapes": recipe}, lowest_tier=True, loose={}, **WHEN_BUILT)


def _dense(tf, x, z):
    return tuple(tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=x, labels=z))


def _sparse(tf, x, z):
    return tuple(tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=z))


#: The loss and its gradient.
_DENSE_BOTH = {"": Call(_dense, LossAndGradient(CrossEntropy()), (SHAPE, SHAPE))}
_SPARSE_BOTH = {"": Call(_sparse, LossAndGradient(SparseCrossEntropy()), (SHAPE, SHAPE[:1]))}
_BROADCAST = {label: Drawn({"": call(*shapes)}, (uniform, _shares)) for label, shapes in _PAIRS.items()}
_OF_DENSE = {label: (elements, _distributions) for label, elements in _ROWS.items()}
_OF_SPARSE = {
    **{label: (elements, _classes("int32")) for label, elements in _ROWS.items()},
    "int64": (_ROWS["plain"], _classes("int64")),
}
_SHARED: dict[str, Any] = {
    "dtypes": tiered(FLOATS),
    "ulp": SUBNORMAL,
    "loose": dict.fromkeys(("grad", "jvp", "hvp"), _CANCELS),
    "unsigned_zeros": ("output", "grad"),
}
SPECS = (
    *op(
        "softmax-cross-entropy",
        "SoftmaxCrossEntropyWithLogits",
        part("-broadcast", calls=_DENSE_BOTH, recipes=_BROADCAST, gradient=False, **_OF_BOTH),
        part("-broadcast-gradient", recipes=_BROADCAST),
        part("-both", calls=_DENSE_BOTH, recipes=_OF_DENSE, gradient=False, **_OF_BOTH),
        second_order({"near": (uniform, _distributions)}),
        small(
            drawn({label: {"": call(shape, shape)} for label, shape in _SMALL.items()}, uniform, _equal_shares),
            constant=(),
        ),
        _unfit("-classes", _dense, "", (4, 11), (4, 7)),
        _unfit("-rank", _dense, "", (2, 4, 11), (2, 4, 11)),
        program=lambda tf, x, z: _dense(tf, x, z)[0],
        promise=CrossEntropy(),
        calls={"": call(SHAPE, SHAPE)},
        recipes=_OF_DENSE,
        batch={"": call(SHAPE, SHAPE)},
        **_SHARED,
        ordinary={"minus-inf_0": "nothing documents 0 times the infinite logarithm of a share"},
    ),
    *op(
        "sparse-softmax-cross-entropy",
        "SparseSoftmaxCrossEntropyWithLogits",
        part("-both", calls=_SPARSE_BOTH, recipes=_OF_SPARSE, gradient=False, **_OF_BOTH),
        second_order({"near": (uniform, _classes("int32"))}),
        small(
            drawn(
                {label: {"": Call(shapes=(shape,), computed=(_last_class,))} for label, shape in _SMALL.items()},
                uniform,
            ),
            constant=(),
        ),
        _unfit("-rows", _sparse, "int32", (4, 11), (3,)),
        _unfit("-rank", _sparse, "int32", (4, 11), (4, 11)),
        part(
            "-out-of-range",
            program=_sparse,
            reference=raises("INVALID_ARGUMENT"),
            contract={
                "gpu/*": Side(
                    reference=LossAndGradient(SparseCrossEntropy()).lost,
                    why="a label out of range raises an error on CPU, and gives NaN for its loss and gradient on GPU",
                    link=_SPARSE_DOC,
                )
            },
            recipes={
                label: Drawn(_SPARSE_BOTH, (plain, _classes("int32", number)))
                for label, number in {"at_end": SHAPE[1], "negative": -1, "largest": 2**31 - 1}.items()
            },
            bound=fields(_SPARSE_BOTH, gradient=False)["bound"],
            ulp={},
            unsigned_zeros=(),
            lowest_tier=True,
            **_OF_BOTH,
        ),
        program=lambda tf, x, z: _sparse(tf, x, z)[0],
        promise=SparseCrossEntropy(),
        calls={"": call(SHAPE, SHAPE[:1])},
        recipes=_OF_SPARSE,
        batch={"": call(SHAPE, SHAPE[:1])},
        **_SHARED,
    ),
)
