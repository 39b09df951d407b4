"""Local response normalisation and its gradient. Errors are those of a running error analysis."""

from tf_opdiff.harness.spec.loose import Loose
from tf_opdiff.suites.forms.calls import Call, Wrong
from tf_opdiff.suites.forms.elements import not_numbers, plain, tiny
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import calling, tiered
from tf_opdiff.suites.reference.local_response import LocalResponse, LocalResponseGradient

#: Shapes and attributes: the exponents 1/2 and 1 have kernels of their own, and so have many channels.
_NORMS = {
    "root": ((2, 3, 2, 7), LocalResponse(2)),
    "inverse": ((1, 2, 3, 5), LocalResponse(1, 2.0, 0.25, 1.0)),
    "power": ((1, 3, 2, 6), LocalResponse(3, 0.5, 0.5, 0.75)),
}
_FURTHER = {
    "all_channels": ((2, 1, 2, 3), LocalResponse(5, 1.0, 1.0, 0.25)),
    "own_channel": ((1, 1, 3, 4), LocalResponse(0, 1.0, 2.0, 0.5)),
}
#: More than 384 channels.
_MANY = {"root": ((1, 1, 1, 385), LocalResponse(2)), "inverse": ((1, 1, 1, 385), LocalResponse(3, 1.0, 0.5, 1.0))}
_SMALL = {
    "no_images": (0, 2, 3, 2),
    "no_rows": (2, 0, 3, 2),
    "no_columns": (2, 3, 0, 2),
    "no_channels": (2, 3, 2, 0),
    "one": (1, 1, 1, 1),
    "one_row": (1, 1, 5, 1),
}
_SHAPE, _ONE = (1, 2, 3, 4), LocalResponse(1)
_CANCELS = Loose(lambda *xs: True, "a gradient is a difference of two products, which may cancel")
_LOOSE = {"loose": {"grad": _CANCELS, "hvp": _CANCELS}}
_LOOSE_GRADIENT = {"loose": {"output": _CANCELS, "grad": _CANCELS}}
_RECIPES = {"plain": (plain,), "special": (not_numbers,), "tiny": (tiny,), "upstreams": (plain,)}
#: The elements of an upstream, of a tensor and of a result, with special ones in each of them.
_OF_THREE = {
    "plain": (plain,),
    "special_upstream": (not_numbers, plain),
    "special": (plain, not_numbers, plain),
    "special_result": (plain, plain, not_numbers),
    "tiny": (tiny,),
}


_OF_OP, _OF_GRADIENT = ("input",), ("input_grads", "input_image", "output_image")


def _attributes(norm):
    return {"depth_radius": norm.radius, "bias": norm.bias, "alpha": norm.alpha, "beta": norm.beta}


def _forward(norms):
    """Calls of the normalisation."""
    return {
        label: Call(calling("LRN", _OF_OP, **_attributes(norm)), norm, (shape,))
        for label, (shape, norm) in norms.items()
    }


def _gradient(norms):
    """Calls of its gradient."""
    return {
        label: Call(calling("LRNGrad", _OF_GRADIENT, **_attributes(norm)), LocalResponseGradient(norm), (shape,) * 3)
        for label, (shape, norm) in norms.items()
    }


def _from_image(*norms):
    """The field of a spec of gradients of these norms, or of the small one: those with the result for `input_image`."""

    def results(*xs):
        own = norms if len(xs) == 3 * len(norms) else (_ONE,)
        each = zip(own, xs[::3], xs[1::3], strict=True)
        return tuple(norm.backward(g, x, norm.normalized(x)) for norm, g, x in each)

    return {"mistaken": {"output": results}}


def _small(calls):
    """Calls with tensors without elements, or with one."""
    return {label: calls({"only": (shape, _ONE)}) for label, shape in _SMALL.items()}


def _wrong(op, names):
    """Calls that an op of tensors with these names refuses."""
    call, count = calling(op, names), len(names)
    return {
        "too-flat": Wrong(call, ((2, 3, 4),) * count),
        "too-deep": Wrong(call, ((1,) * 5,) * count),
        "negative-radius": Wrong(calling(op, names, depth_radius=-1), (_SHAPE,) * count, IN_KERNEL),
    }


_OTHER_SHAPES = {
    label: Wrong(calling("LRNGrad", _OF_GRADIENT), shapes)
    for label, shapes in {
        "other-tensor": (_SHAPE, (1, 2, 3, 5), _SHAPE),
        "other-result": (_SHAPE, _SHAPE, (1, 2, 4, 4)),
        "other-upstream": ((2, 2, 3, 4), _SHAPE, _SHAPE),
    }.items()
}

_PLAIN, _FULL = {"plain": (plain,)}, {"tier": "full"}
SPECS = (
    *op(
        "lrn",
        "LRN",
        calls=_forward(_NORMS),
        recipes=_RECIPES,
        batch=_forward(_NORMS),
        small=_small(_forward),
        wrong=_wrong("LRN", _OF_OP),
        dtypes=tiered(("float32", "float16")),
        second=("plain",),
        fields=_LOOSE,
    ),
    *op("lrn-channels", "LRN", calls=_forward(_MANY), recipes=_PLAIN, fields=_LOOSE | _FULL),
    *op("lrn-further", "LRN", calls=_forward(_FURTHER), recipes=_PLAIN, fields=_LOOSE | _FULL),
    *op(
        "lrn-grad",
        "LRNGrad",
        calls=_gradient(_NORMS),
        recipes=_OF_THREE,
        batch=_gradient(_NORMS),
        small=_small(_gradient),
        wrong=_wrong("LRNGrad", _OF_GRADIENT) | _OTHER_SHAPES,
        dtypes=tiered(("float32", "float16")),
        gradient=False,
        fields=_LOOSE_GRADIENT | _from_image(*(norm for _, norm in _NORMS.values())),
    ),
    *op(
        "lrn-grad-further",
        "LRNGrad",
        calls=_gradient(_FURTHER),
        gradient=False,
        recipes=_PLAIN,
        fields=_LOOSE_GRADIENT | {"tier": "full"},
    ),
    *op(
        "lrn-grad-gradient",
        "LRNGrad",
        calls=_gradient({"root": _NORMS["root"]}),
        recipes=_PLAIN,
        fields=_LOOSE_GRADIENT | _from_image(_NORMS["root"][1]),
    ),
)
