"""The gradients of largest elements as ops of their own, and the gradients of these."""

from dataclasses import replace
from functools import partial

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.recipes import FLOATS
from tf_opdiff.suites.forms.calls import Wrong
from tf_opdiff.suites.forms.elements import infinite, limits, plain, small_integers, ties, tiny
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT, WRONG_OR_UNSUPPORTED
from tf_opdiff.suites.forms.lists import no_gradient_kernel
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.pooling import (
    CHANNELS_FIRST,
    CUBES,
    CUBES_CHANNELS_FIRST,
    EXPLICIT,
    POOLS,
    bad_attributes,
    of_both,
    refused,
    small,
)
from tf_opdiff.suites.reference.pooling import Largest, LargestAt, LargestGradient, LargestGradientAt, LargestSecond

_WHOLE = ("int32", "int64", "int16", "int8", "uint8", "uint16", "uint32", "uint64")
_OF_WHOLE = {"plain": (plain,), "limits": (limits,)}
#: The elements of the tensor that was pooled, and of the upstream.
_RECIPES = {
    "plain": (plain,),
    "exact": (plain, small_integers),
    "ties": (ties, plain),
    "infinite": (plain, infinite),
    "upstreams": (plain,),
}
#: Tensors and upstreams that processors may flush.
_TINY = {"tiny": (plain, tiny)}
_FEW = {label: _RECIPES[label] for label in ("plain", "exact")}
_SECOND = ("plain", "exact")
#: XLA has no kernel of MaxPoolGradWithArgmax, none of explicit padding, and MaxPoolGradGrad of float32 alone.
_WITHOUT_XLA = {"modes": WITHOUT_XLA}
#: The faults that a gradient leaves to its kernel, by rank and by op; and those that shape inference sees in
#: MaxPoolGradGrad, whose result has the shape of the result of pooling.
_LATE_STRIDES = dict.fromkeys(("no_stride", "negative_stride"), IN_KERNEL)
_LATE_3D = _LATE_STRIDES | dict.fromkeys(("too_large", "large_by_one"), IN_KERNEL)
_LATE = _LATE_STRIDES | dict.fromkeys(("too_large", "large_by_one"), WRONG_OR_UNSUPPORTED)
_LATE_V2 = _LATE | dict.fromkeys(("few_sizes", "few_strides"), IN_KERNEL)
_EARLY = dict.fromkeys(("no_size", "negative_size"), WHEN_BUILT)
#: The calls of a gradient, by an op's name and windows; and those of the gradient of a gradient.
_first = partial(of_both, promise=LargestGradient, forward=Largest)
_again = partial(of_both, promise=LargestSecond, forward=Largest, like_input=True)
_by_index = partial(of_both, promise=LargestGradientAt, forward=LargestAt, names=("input", "grad", "argmax"))
_by_index_in_batch = partial(
    of_both,
    promise=partial(LargestGradientAt, batch=True),
    forward=partial(LargestAt, batch=True),
    names=("input", "grad", "argmax"),
    include_batch_in_index=True,
)


def _gradient(name, raw, of, pools, promises, **fields):
    """The specs of a gradient of largest elements. Some faults have other promises than those of pooling."""
    rank = len(pools["valid"].size)
    bad = {
        label: change | ({"promise": promises[label]} if label in promises else {})
        for label, change in bad_attributes(rank).items()
    }
    return op(
        name,
        raw,
        calls=of(raw, pools=pools),
        recipes=_RECIPES,
        forward=_TINY,
        small={label: of(raw, pools=one) for label, one in small(rank).items()},
        of_small=(plain, small_integers),
        wrong=refused(lambda pools, **attrs: of(raw, pools=pools, **attrs), rank, bad),
        of_integers=_OF_WHOLE,
        **fields,
    )


def _differentiated(*arguments, **fields):
    """The same with a gradient, for which XLA has a kernel in float32 alone."""
    for spec in _gradient(*arguments, second=_SECOND, **fields):
        if spec.name.endswith("-second-order-other"):
            yield replace(spec, modes=WITHOUT_XLA)
        elif spec.vjp and spec.name.endswith("-other"):
            (side,) = no_gradient_kernel("MaxPoolGradGrad in this dtype", spec.reference).values()
            yield replace(spec, contract={"*/xla": replace(side, alternatives=spec.alternatives)})
        else:
            yield spec


def _laid(name, raw, of, pools, **fields):
    """The specs of the same op with another layout or padding."""
    return op(name, raw, calls=of(raw, pools=pools), recipes=_FEW, **fields)


def _with_index(at, attrs, tf, x, g):
    """The gradient where every window has the same index."""
    argmax = tf.fill(tf.shape(g), tf.constant(at, tf.int64))
    return tf.raw_ops.MaxPoolGradWithArgmax(input=x, grad=g, argmax=argmax, **POOLS["valid"].attrs | attrs)


def _refused_with_index(shapes=((2, 5, 7, 3), (2, 2, 2, 3)), promise=IN_KERNEL, at=0, **attrs):
    return Wrong(partial(_with_index, at, attrs), shapes, promise)


_WRONG_WITH_INDEX = {
    "few-sizes": _refused_with_index(ksize=[1, 2, 1], promise=WHEN_BUILT),
    "few-strides": _refused_with_index(strides=[1, 2, 1], promise=WHEN_BUILT),
    "index-of-the-next-image": _refused_with_index(at=210),
    "negative-index": _refused_with_index(at=-1),
    "negative-size": _refused_with_index(ksize=[1, 2, -2, 1]),
    "negative-stride": _refused_with_index(strides=[1, -1, 3, 1]),
    "no-size": _refused_with_index(ksize=[1, 2, 0, 1]),
    "no-stride": _refused_with_index(strides=[1, 0, 3, 1]),
    "other-upstream": _refused_with_index(((2, 5, 7, 3), (2, 2, 1, 3))),
    "too-flat": _refused_with_index(((5, 7, 3), (2, 2, 3)), WHEN_BUILT),
    "too-large": _refused_with_index(ksize=[1, 9, 3, 1]),
}
_MOST = {label: POOLS[label] for label in ("valid", "same", "gaps", "larger")}
SPECS = (
    *_differentiated(
        "max-pool-3d-grad", "MaxPool3DGrad", _first, CUBES, _LATE_3D, dtypes=tiered(("float32", "bfloat16"))
    ),
    *_laid("max-pool-3d-grad-channels-first", "MaxPool3DGrad", _first, CUBES_CHANNELS_FIRST),
    *_laid(
        "max-pool-3d-grad-of-xla",
        "MaxPool3DGrad",
        _first,
        CUBES,
        gradient=False,
        fields={"modes": ("xla",), "dtypes": ("float16",), "tier": "full"},
    ),
    *_gradient(
        "max-pool-3d-grad-grad",
        "MaxPool3DGradGrad",
        _again,
        CUBES,
        _EARLY,
        dtypes=tiered(("float32", "bfloat16")),
        second=_SECOND,
    ),
    *_differentiated(
        "max-pool-grad",
        "MaxPoolGrad",
        _first,
        POOLS,
        _LATE,
        dtypes=tiered(FLOATS),
        integers=tiered(_WHOLE),
    ),
    *_laid("max-pool-grad-channels-first", "MaxPoolGrad", _first, CHANNELS_FIRST),
    *_laid(
        "max-pool-grad-explicit",
        "MaxPoolGrad",
        _first,
        EXPLICIT,
        dtypes=tiered(FLOATS),
        gradient=False,
        fields=_WITHOUT_XLA,
    ),
    *_gradient(
        "max-pool-grad-grad",
        "MaxPoolGradGrad",
        _again,
        POOLS,
        _EARLY,
        dtypes=tiered(FLOATS),
        integers=tiered(_WHOLE),
        second=_SECOND,
    ),
    *_gradient(
        "max-pool-grad-grad-v2",
        "MaxPoolGradGradV2",
        _again,
        POOLS,
        _EARLY,
        dtypes=tiered(FLOATS),
        integers=tiered(_WHOLE),
        gradient=False,
    ),
    *_differentiated(
        "max-pool-grad-v2",
        "MaxPoolGradV2",
        _first,
        POOLS,
        _LATE_V2,
        dtypes=tiered(FLOATS),
        integers=tiered(_WHOLE),
    ),
    *op(
        "max-pool-grad-with-argmax",
        "MaxPoolGradWithArgmax",
        calls={
            **_by_index("MaxPoolGradWithArgmax", pools=_MOST),
            **_by_index_in_batch("MaxPoolGradWithArgmax", pools={"batch": POOLS["valid"]}),
        },
        recipes=_RECIPES,
        forward=_TINY,
        small={label: _by_index("MaxPoolGradWithArgmax", pools=one) for label, one in small(2).items()},
        of_small=(plain, small_integers),
        wrong=_WRONG_WITH_INDEX,
        of_integers=_OF_WHOLE,
        dtypes=tiered(FLOATS),
        integers=tiered(_WHOLE),
        gradient=False,
        fields=_WITHOUT_XLA,
    ),
)
