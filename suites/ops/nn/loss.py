"""Losses that are raw ops. Errors count roundings: see `suites.reference.loss`."""

from dataclasses import replace

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.loose import Loose
from tf_opdiff.harness.spec.recipes import FLOATS
from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.derived.batch import batches
from tf_opdiff.suites.derived.sizes import EMPTY, sizes
from tf_opdiff.suites.forms.errors import REFUSED_BY_KERNEL, raises
from tf_opdiff.suites.forms.reduction_recipes import RECIPES
from tf_opdiff.suites.forms.rows import SHAPE
from tf_opdiff.suites.forms.softmax import LOGITS, SUBNORMAL, distributions
from tf_opdiff.suites.forms.views import Viewed, Views
from tf_opdiff.suites.reference import loss as ref
from tf_opdiff.suites.reference.subnormal import flushed_in

_SPARSE_DOC = "https://www.tensorflow.org/api_docs/python/tf/nn/sparse_softmax_cross_entropy_with_logits"
_REST = tuple(dtype for dtype in FLOATS if dtype != "float32")
_CANCELS = {"grad": Loose(lambda *xs, **_: True, "a gradient is the difference of shares and labels, which may cancel")}
_BACKPROP = {"output[1]": _CANCELS["grad"]}
#: Rows in which every class has a loss.
_ROWS = {label: recipe for label, recipe in LOGITS.items() if label not in ("masked", "upstreams")}
_ONE: Views = {"all": {}}
_NUMBERS = {label: recipe for label, recipe in RECIPES.items() if label not in ("large", "upstreams")}
_SQUARES = Viewed(
    call=lambda tf, x: tf.raw_ops.L2Loss(t=x),
    f=ref.half_squares,
    vjp=ref.half_squares_vjp,
    jvp=ref.half_squares_jvp,
    hvp=ref.half_squares_hvp,
    error=ref.half_squares_error,
    grad_error=lambda u, g, x: u * np.abs(g * x),
    jvp_error=ref.half_squares_jvp_error,
    alternatives=lambda dtype, x: [flushed_in(dtype, ref.half_squares(flushed_in(dtype, x)))],
    grad_alternatives=lambda dtype, g, x: [flushed_in(dtype, g * flushed_in(dtype, x))],
    hvp_error=lambda u, g, t, x: u * np.abs(g * t),
)


def _large(draw, dtype):
    """Numbers whose squares have a sum just in range."""
    return (np.full((3, 5, 7), 2.0 ** (int(ml_dtypes.finfo(dtype).maxexp) // 2 - 4)).astype(dtype),)


def _with_other_dtypes(*specs):
    """The specs in float32, and in the full tier in all other floats."""
    return (*specs, *(replace(spec, name=f"{spec.name}-other", dtypes=_REST, tier="full") for spec in specs))


def _wrong(name, op, program, *shapes):
    """A spec of shapes that do not fit; the second input is of integers if the op takes labels as such."""

    def recipe(draw, dtype):
        x, z = (draw.uniform(*shape, low=0, high=1) for shape in shapes)
        return x.astype(dtype), z.astype("int32" if op.startswith("Sparse") else dtype)

    return Spec(
        name=name,
        ops=op,
        program=program,
        reference=raises("ValueError"),
        contract=REFUSED_BY_KERNEL,
        recipes={"shapes": recipe},
    )


def _small(labels):
    """Recipes of rows without elements, and with one, with labels of this kind."""
    shapes = {"no_rows": (0, 3), "one_by_one": (1, 1), "one_row": (1, 5)}
    return {label: _of_shape(shape, labels) for label, shape in shapes.items()}


def _of_shape(shape, labels):
    return lambda draw, dtype: (draw.uniform(*shape).astype(dtype), labels(shape, dtype))


def _dense(tf, x, z):
    return tuple(tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=x, labels=z))


def _sparse(tf, x, z):
    return tuple(tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=z))


def _labelled(recipe, dtype):
    """A recipe: logits, and the number of a class for each row, the first and the last among them."""

    def labelled(draw, d):
        return *recipe(draw, d), np.array([0, SHAPE[1] - 1, 3, 7], dtype)

    return labelled


def _one_wrong(label):
    return lambda draw, d: (draw.values(d, *SHAPE), np.array([0, label, 3, 7], "int32"))


_DENSE = Spec(
    name="softmax-cross-entropy",
    ops="SoftmaxCrossEntropyWithLogits",
    program=lambda tf, x, z: _dense(tf, x, z)[0],
    reference=lambda x, z: ref.entropy(x, z)[0],
    vjp=ref.entropy_vjp,
    recipes={label: distributions(recipe) for label, recipe in _ROWS.items()},
    bound={
        "output[0]": ref.entropy_error,
        "grad[0]": lambda u, g, x, z: np.abs(g)[..., None] * ref.backprop_error(u, g, x, z),
        "grad[1]": ref.labels_error,
    },
    ulp=SUBNORMAL,
    loose=_CANCELS,
    unsigned_zeros=("output", "grad"),
)
_SPARSE = Spec(
    name="sparse-softmax-cross-entropy",
    ops="SparseSoftmaxCrossEntropyWithLogits",
    program=lambda tf, x, z: _sparse(tf, x, z)[0],
    reference=lambda x, z: ref.entropy(x, ref.one_hot(x, z))[0],
    vjp=lambda g, x, z: (ref.entropy_vjp(g, x, ref.one_hot(x, z))[0], None),
    recipes={
        **{label: _labelled(recipe, "int32") for label, recipe in _ROWS.items()},
        "int64": _labelled(_ROWS["plain"], "int64"),
    },
    bound={
        "output[0]": lambda u, g, x, z: ref.entropy_error(u, g, x, ref.one_hot(x, z)),
        "grad[0]": lambda u, g, x, z: np.abs(g)[..., None] * ref.backprop_error(u, g, x, ref.one_hot(x, z)),
    },
    ulp=SUBNORMAL,
    loose=_CANCELS,
    unsigned_zeros=("output", "grad"),
)

SPECS = (
    *_with_other_dtypes(
        Spec(
            name="l2-loss",
            ops="L2Loss",
            recipes={**_NUMBERS, "large": _large},
            ulp=SUBNORMAL,
            **_SQUARES.fields(_ONE),
        ),
        Spec(
            name="l2-loss-second-order",
            ops="L2Loss",
            recipes={"short": lambda draw, dtype: (draw.values(dtype, 7),)},
            **_SQUARES.fields(_ONE, second=True),
        ),
    ),
    *sizes(
        Spec(
            name="l2-loss",
            ops="L2Loss",
            recipes=(_few := {label: lambda draw, d, s=s: (draw.values(d, *s),) for label, s in EMPTY.items()}),
            constant=("output[0]",),
            **_SQUARES.fields(_ONE),
        ),
        _few,
    ),
    *_with_other_dtypes(
        _DENSE,
        replace(
            _DENSE,
            name="softmax-cross-entropy-both",
            program=_dense,
            reference=ref.entropy,
            vjp=None,
            bound={"output[0]": ref.entropy_error, "output[1]": ref.backprop_error},
            loose=_BACKPROP,
        ),
    ),
    *batches(replace(_DENSE, tier="full"), distributions(LOGITS["plain"])),
    *batches(replace(_SPARSE, tier="full"), _labelled(LOGITS["plain"], "int32")),
    *sizes(_DENSE, _small(lambda shape, dtype: (np.ones(shape) / max(shape[-1], 1)).astype(dtype))),
    _wrong("softmax-cross-entropy-classes", _DENSE.ops, _dense, (4, 11), (4, 7)),
    _wrong("softmax-cross-entropy-rank", _DENSE.ops, _dense, (2, 4, 11), (2, 4, 11)),
    *_with_other_dtypes(
        _SPARSE,
        replace(
            _SPARSE,
            name="sparse-softmax-cross-entropy-both",
            program=_sparse,
            reference=lambda x, z: ref.entropy(x, ref.one_hot(x, z)),
            vjp=None,
            bound={
                "output[0]": lambda u, g, x, z: ref.entropy_error(u, g, x, ref.one_hot(x, z)),
                "output[1]": lambda u, g, x, z: ref.backprop_error(u, g, x, ref.one_hot(x, z)),
            },
            loose=_BACKPROP,
        ),
    ),
    *sizes(_SPARSE, _small(lambda shape, dtype: np.full(shape[:1], shape[-1] - 1, "int32"))),
    _wrong("sparse-softmax-cross-entropy-rows", _SPARSE.ops, _sparse, (4, 11), (3,)),
    _wrong("sparse-softmax-cross-entropy-rank", _SPARSE.ops, _sparse, (4, 11), (4, 11)),
    Spec(
        name="sparse-softmax-cross-entropy-out-of-range",
        ops=_SPARSE.ops,
        program=_sparse,
        reference=raises("INVALID_ARGUMENT"),
        contract={
            "gpu/*": Side(
                reference=ref.lost_rows,
                why="a label out of range raises an error on CPU, and gives NaN for its loss and gradient on GPU",
                link=_SPARSE_DOC,
            )
        },
        recipes={"at_end": _one_wrong(SHAPE[1]), "negative": _one_wrong(-1), "largest": _one_wrong(2**31 - 1)},
        bound={
            "output[0]": lambda u, g, x, z: ref.entropy_error(u, g, x, ref.one_hot(x, z)),
            "output[1]": lambda u, g, x, z: ref.backprop_error(u, g, x, ref.one_hot(x, z)),
        },
        loose=_BACKPROP,
    ),
)
