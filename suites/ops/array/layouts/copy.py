"""DeepCopy, PlaceholderWithDefault, Reverse, and TensorStridedSliceUpdate: copies, whole or with elements elsewhere."""

from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.array_ops import strided
from tf_opdiff.suites.forms.array_ops.moves import Apart, Refused, of_ranks
from tf_opdiff.suites.forms.calls import call, calls_of
from tf_opdiff.suites.forms.elementwise.copies import COMMON, Dtypes
from tf_opdiff.suites.forms.errors import IN_KERNEL, WRONG_OR_UNSUPPORTED
from tf_opdiff.suites.forms.of_xla import SMALL_NUMBERS
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.forms.tensor_attrs import Parameter
from tf_opdiff.suites.reference.arrays import slices as ref
from tf_opdiff.suites.reference.arrays.moves import Forward

_SHAPES = {"matrix": (3, 5), "scalar": (), "empty_inside": (3, 0, 2), "single": (1,), "batch_of_one": (1, 4)}
_REVERSED = {
    "matrix": ((3, 5), [True, False]),
    "both": ((3, 5), [True, True]),
    "neither": ((2, 3), [False, False]),
    "vector": ((7,), [True]),
    "scalar": ((), []),
    "empty_rows": ((3, 0), [True, True]),
    "single": ((1,), [True]),
    "batch_of_one": ((1, 4, 3), [True, False, True]),
    "rows_of_three": ((2, 5, 3), [False, True, False]),
    "rank5": ((2, 1, 3, 2, 2), [True, True, False, True, False]),
    "rank8": ((1, 2, 1, 2, 1, 2, 1, 3), [False, True, False, False, True, True, False, True]),
}
_INDEX = tuple(map(Parameter, ("begin", "end", "strides")))


def _placeholder(tf, x, shape):
    return tf.raw_ops.PlaceholderWithDefault(input=x, shape=tf.TensorShape(shape))


def _updated(tf, x, v, begin, end, strides, **masks):
    return tf.raw_ops.TensorStridedSliceUpdate(input=x, begin=begin, end=end, strides=strides, value=v, **masks)


def _kind(one):
    """The kind of an update: XLA translates those of some elements in unit strides."""
    if 0 in one.shapes[1]:
        return "nothing"
    return "units" if all(abs(step) == 1 for step in one.attrs["strides"]) else "strides"


def _updates(kind):
    """The updates of a kind."""
    return {label: one for label, one in strided.UPDATES.items() if _kind(one) == kind}


SPECS = (
    *op(
        "deep-copy",
        "DeepCopy",
        # The kernel for all dtypes has no code for these.
        part("-refused-dtypes", recipes={"plain": plain}, dtypes=SMALL_NUMBERS, tier="full", **IN_KERNEL),
        arguments=("x",),
        promise=Forward(lambda x: x),
        calls={label: call(shape) for label, shape in _SHAPES.items()},
        small=of_ranks({}, {}, {}),
        gradient=False,
        dtypes=COMMON,
        modes=WITHOUT_XLA,
    ),
    *op(
        "placeholder-with-default",
        "PlaceholderWithDefault",
        program=_placeholder,
        promise=Forward(lambda x, shape: x),
        calls={label: call(shape, shape=list(shape)) for label, shape in _SHAPES.items()}
        | {"any_rows": call((3, 5), shape=[None, 5]), "any_shape": call((3, 5), shape=None)},
        small=of_ranks({"shape": [None]}, {"shape": [None, None]}, {"shape": None}),
        any_dtype=True,
        built={"other_size": call((3, 5), shape=[3, 4]), "other_rank": call((3, 5), shape=[15])},
    ),
    *op(
        "reverse",
        "Reverse",
        arguments=("tensor",),
        promise=Forward(ref.reversed_axes),
        calls=calls_of(_REVERSED, "dims"),
        small=of_ranks(*tuple({"dims": [True] * rank} for rank in (1, 2, 3))),
        tensors=(Parameter("dims", ("bool",)),),
        built={
            "too_few": call((3, 5), dims=[True]),
            "too_many": call((3, 5), dims=[True, False, True]),
            "matrix": call((3, 5), dims=[[True, False]]),
        },
        dtypes=COMMON,
    ),
    *op(
        "tensor-strided-slice-update",
        "TensorStridedSliceUpdate",
        program=_updated,
        promise=Forward(ref.updated),
        calls=_updates("units"),
        apart={"strides": Apart(_updates("strides"), _INDEX), "nothing": Apart(_updates("nothing"), _INDEX)},
        small=of_ranks(*tuple(strided.everything(rank) for rank in (1, 2, 3)), inputs=2),
        tensors=_INDEX,
        run={label: call((3, 5), (3, 5), **bounds) for label, bounds in strided.REFUSED.items()},
        refused={
            "other-values": Refused(
                {"rows": call((3, 5), (2, 5), begin=[0, 0], end=[3, 5], strides=[1, 1])}, WRONG_OR_UNSUPPORTED
            )
        },
        dtypes=Dtypes(quantized_without_xla=()),
    ),
)
