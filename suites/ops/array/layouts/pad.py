"""Ops that put places around the elements of a tensor, and fill them with zeros, a constant or reflections."""

from dataclasses import replace

from tf_opdiff.harness.spec.inputs.recipes import INTEGERS
from tf_opdiff.suites.forms.array_ops.moves import of_ranks
from tf_opdiff.suites.forms.calls import call, calls_of
from tf_opdiff.suites.forms.elementwise.copies import COMMON, Dtypes
from tf_opdiff.suites.forms.of_xla import SMALL_FLOATS
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.tensor_attrs import Parameter
from tf_opdiff.suites.reference.arrays import shapes as ref
from tf_opdiff.suites.reference.arrays.moves import Back, Forward

_PADDED = {
    "matrix": ((3, 5), [[1, 2], [0, 3]]),
    "vector": ((7,), [[2, 1]]),
    "one_side": ((2, 3), [[0, 0], [4, 0]]),
    "none": ((3, 2), [[0, 0], [0, 0]]),
    "cube": ((2, 3, 2), [[0, 1], [1, 0], [2, 2]]),
    "batch_of_one": ((1, 3, 2, 2), [[0, 0], [1, 1], [1, 2], [0, 0]]),
    "rank5": ((1, 2, 1, 2, 3), [[0, 1], [0, 0], [1, 0], [0, 0], [1, 1]]),
    "rank6": ((1, 2, 1, 2, 1, 3), [[0, 0], [1, 0], [0, 0], [0, 1], [1, 0], [0, 0]]),
    "scalar": ((), []),
    "empty": ((0, 3), [[1, 2], [0, 1]]),
    "single": ((1,), [[3, 2]]),
}
#: Paddings of reflections, which are shorter than the tensor, or as long.
_MIRRORED = {
    "matrix": ((3, 5), [[1, 2], [0, 3]]),
    "vector": ((7,), [[2, 1]]),
    "one_side": ((2, 5), [[0, 0], [4, 0]]),
    "none": ((3, 2), [[0, 0], [0, 0]]),
    "cube": ((2, 3, 3), [[0, 1], [1, 0], [2, 2]]),
    "batch_of_one": ((1, 3, 3, 2), [[0, 0], [1, 1], [1, 2], [0, 0]]),
    "rank5": ((1, 2, 1, 2, 3), [[0, 0], [0, 1], [0, 0], [0, 0], [1, 1]]),
}
_SYMMETRIC = {"whole": ((3, 4), [[3, 3], [4, 0]]), "single": ((1,), [[1, 1]])}
_WRONG = {
    "negative": ((3, 5), [[1, -1], [0, 0]]),
    "too_few": ((3, 5), [[1, 1]]),
    "too_many": ((3, 5), [[1, 1], [0, 0], [0, 0]]),
    "vector": ((3, 5), [1, 1]),
    "three_columns": ((3, 5), [[1, 1, 1], [0, 0, 0]]),
    "negative_sum": ((3, 5), [[-4, 0], [0, 0]]),
}
_PADDINGS = Parameter("paddings", columns=2)
_OF_XLA = Dtypes(more=(), of_xla=SMALL_FLOATS, quantized_without_xla=())


def _paddings(calls, *more, **attrs):
    return calls_of({label: ((shape, *more), pairs) for label, (shape, pairs) in calls.items()}, "paddings", **attrs)


def _modes(calls):
    """Calls of both modes: REFLECT, which needs an element more, and SYMMETRIC."""
    symmetric = _paddings({**calls, **_SYMMETRIC}, mode="SYMMETRIC")
    return _paddings(calls, mode="REFLECT") | {f"{label}_symmetric": one for label, one in symmetric.items()}


def _within(calls):
    """Calls of the gradient's op, whose input has the padded shape."""
    padded = {}
    for label, one in calls.items():
        (shape,), pairs = one.shapes, one.attrs["paddings"]
        grown = tuple(n + sum(pair) for n, pair in zip(shape, pairs, strict=True))
        padded[label] = call(grown, **one.attrs)
    return padded


_SMALL = tuple({"paddings": [[0, 0]] * rank} for rank in (1, 2, 3))
_SMALL_MIRRORED = tuple({**small, "mode": "SYMMETRIC"} for small in _SMALL)
_FEW_WRONG = {label: _WRONG[label] for label in ("negative", "too_few", "too_many", "vector")}

SPECS = (
    *op(
        "mirror-pad",
        "MirrorPad",
        arguments=("input",),
        promise=Forward(ref.mirrored),
        calls=_modes(_MIRRORED),
        small=of_ranks(*_SMALL_MIRRORED),
        tensors=(_PADDINGS,),
        adds=True,
        built=_paddings(_WRONG, mode="REFLECT"),
        run={
            "wider_than_reflections": call((3, 5), paddings=[[3, 0], [0, 0]], mode="REFLECT"),
            "wider_than_symmetric": call((3, 5), paddings=[[0, 4], [0, 0]], mode="SYMMETRIC"),
            "empty": call((0, 3), paddings=[[1, 0], [0, 0]], mode="SYMMETRIC"),
            "empty_without_reflection": call((0, 3), paddings=[[0, 0], [0, 0]], mode="REFLECT"),
        },
        dtypes=_OF_XLA,
    ),
    *op(
        "mirror-pad-grad",
        "MirrorPadGrad",
        arguments=("input",),
        promise=Back(ref.mirrored, ref.within),
        calls=_within(_modes(_MIRRORED)),
        small=of_ranks(*_SMALL_MIRRORED),
        tensors=(_PADDINGS,),
        built=_paddings(_FEW_WRONG, mode="REFLECT")
        | {"nothing_left": call((3, 5), paddings=[[2, 2], [0, 0]], mode="SYMMETRIC")},
        run={"too_little_left": call((5, 5), paddings=[[4, 0], [0, 0]], mode="REFLECT")},
        dtypes=replace(COMMON, rough=INTEGERS, without_xla=()),
    ),
    *op(
        "pad",
        "Pad",
        arguments=("input",),
        promise=Forward(ref.padded),
        calls=_paddings(_PADDED),
        small=of_ranks(*_SMALL),
        tensors=(_PADDINGS,),
        built=_paddings(_WRONG),
        dtypes=_OF_XLA,
    ),
    *op(
        "pad-v2",
        "PadV2",
        arguments=("input", "constant_values"),
        promise=Forward(ref.padded_with),
        calls=_paddings(_PADDED, ()),
        small=of_ranks(*_SMALL, scalars=1),
        tensors=(_PADDINGS,),
        built=_paddings(_WRONG, ()),
        run={"constant_is_a_vector": call((3, 5), (2,), paddings=[[1, 1], [0, 0]])},
        dtypes=_OF_XLA,
    ),
)
