"""Local response normalisation and its gradient. Errors are those of a running error analysis."""

from dataclasses import replace
from typing import Any

from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.forms.calls import call, unfit
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.elements import not_numbers, plain, tiny
from tf_opdiff.suites.forms.reductions.overflow import OVERFLOW
from tf_opdiff.suites.reference.neural_networks.local_response import LocalResponse, LocalResponseGradient

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
_CANCELS = Loose(reason="a gradient is a difference of two products, which may cancel")


def _calls(norms, count=1):
    """Calls with this number of tensors of one shape."""
    return {label: call(*(shape,) * count, **vars(norm)) for label, (shape, norm) in norms.items()}


def _from_image(*norms):
    """The field of a spec of gradients of these norms, or of the small one: those with the result for `input_image`."""

    def results(*xs):
        own = norms if len(xs) == 3 * len(norms) else (_ONE,)
        each = zip(own, xs[::3], xs[1::3], strict=True)
        return tuple(norm.backward(g, x, norm.formula(x)) for norm, g, x in each)

    return {"mistaken": {"output": results}}


def _lost_squares(count):
    """The field `changed`: twins of large numbers get the results of kernels; calls have `count` tensors."""
    norms = [norm for _, norm in _NORMS.values()]

    def outputs(*xs, dtype):
        each: Any = zip(norms, (xs[i : i + count] for i in range(0, len(xs), count)), strict=True)
        return tuple(norm.kernel(*x, dtype) if count == 1 else norm.kernel_back(*x, dtype) for norm, x in each)

    def gradients(gs, *xs, dtype):
        each = zip(norms, gs, xs, strict=True)
        return tuple(norm.kernel_back(g, x, norm.kernel(x, dtype), dtype) for norm, g, x in each)

    wrong = {"output": outputs, **({"grad": gradients} if count == 1 else {})}
    return lambda spec: replace(spec, mistaken=wrong) if spec.aspect == OVERFLOW else spec


def _small(count):
    """Calls with tensors without elements, or with one."""
    return {label: call(*(shape,) * count, **vars(_ONE)) for label, shape in _SMALL.items()}


def _wrong(count):
    """Calls with this number of tensors that an op refuses."""
    return {
        "too-flat": ((2, 3, 4),) * count,
        "too-deep": ((1,) * 5,) * count,
        "negative-radius": unfit(*(_SHAPE,) * count, promise=IN_KERNEL, depth_radius=-1),
    }


_FURTHER_OF = {"recipes": {"plain": plain}, "dtypes": tiered(("float32",), ())}
SPECS = (
    *op(
        "lrn",
        "LRN",
        also("-channels", calls=_calls(_MANY), **_FURTHER_OF),
        also("-further", calls=_calls(_FURTHER), **_FURTHER_OF),
        arguments=("input",),
        promise=LocalResponse,
        calls=_calls(_NORMS),
        recipes={"plain": plain, "special": not_numbers, "tiny": tiny, "upstreams": plain},
        second=("plain",),
        batch=_calls(_NORMS),
        small=_small(1),
        wrong=_wrong(1),
        dtypes=tiered(("float32", "float16")),
        loose={"grad": _CANCELS, "hvp": _CANCELS},
        changed=_lost_squares(1),
        ordinary=ordinary.IN_OWN_RECIPES,
    ),
    *op(
        "lrn-grad",
        "LRNGrad",
        also("-further", calls=_calls(_FURTHER, 3), mistaken={}, **_FURTHER_OF),
        also(
            "-gradient",
            calls=_calls({"root": _NORMS["root"]}, 3),
            recipes={"plain": plain},
            gradient=True,
            dtypes=("float32",),
            **_from_image(_NORMS["root"][1]),
        ),
        arguments=("input_grads", "input_image", "output_image"),
        promise=LocalResponseGradient,
        calls=_calls(_NORMS, 3),
        # Special elements are in an upstream, in a tensor, or in a result.
        recipes={
            "plain": plain,
            "special_upstream": (not_numbers, plain),
            "special": (plain, not_numbers, plain),
            "special_result": (plain, plain, not_numbers),
            "tiny": tiny,
        },
        batch=_calls(_NORMS, 3),
        small=_small(3),
        wrong=_wrong(3)
        | {
            "other-tensor": (_SHAPE, (1, 2, 3, 5), _SHAPE),
            "other-result": (_SHAPE, _SHAPE, (1, 2, 4, 4)),
            "other-upstream": ((2, 2, 3, 4), _SHAPE, _SHAPE),
        },
        dtypes=tiered(("float32", "float16")),
        gradient=False,
        loose={"output": _CANCELS, "grad": _CANCELS},
        changed=_lost_squares(3),
        ordinary=ordinary.overflowing("2", "the operand is the result of the op, which is no larger than its tensor"),
        **_from_image(*(norm for _, norm in _NORMS.values())),
    ),
)
