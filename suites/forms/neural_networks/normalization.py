"""Normalisation: the fields of fused normalisations over a batch, and of their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.forms.aspects import batches, second_order
from tf_opdiff.suites.forms.aspects import small as of_small
from tf_opdiff.suites.forms.calls import Call, Calls, OfAll, Shape, call, fields, unfit
from tf_opdiff.suites.forms.elementwise.special_upstreams import finite
from tf_opdiff.suites.forms.elementwise.subnormal import of_gpu_kernels
from tf_opdiff.suites.forms.images.planes import in_planes
from tf_opdiff.suites.forms.neural_networks.normalization_recipes import RECIPES, Numbers, plain
from tf_opdiff.suites.forms.op import also
from tf_opdiff.suites.forms.part import Part, part, tiered, together
from tf_opdiff.suites.reference.neural_networks.normalized import (
    Gradients,
    GradientsOfBatch,
    GradientsOfCudnn,
    Normalized,
    Statistics,
)

#: Among the products are numbers that a rounded mean was taken from.
_CANCELS = Loose(reason="a gradient is a difference of sums of products, which may cancel")
#: The shape of a tensor whose channels are last; no size is a multiple of a vector's width.
_SHAPE = (2, 3, 2, 5)
_UNFIT = {
    "too-flat": ((3, 2, 5), *[(5,)] * 4),
    "other-scale": (_SHAPE, (4,), *[(5,)] * 3),
    "matrix-of-offsets": (_SHAPE, (5,), (1, 5), *[(5,)] * 2),
    "other-mean": (_SHAPE, (5,), (5,), (4,), (5,)),
}
_SMALL = {"no_batch": (0, 2, 3, 2), "no_channels": (2, 3, 1, 0), "one": (1, 1, 1, 1)}


def _call(shape: Shape, *, training: bool, first: bool = False, **factor: float) -> Call:
    """A call with a tensor of this shape, whose channels are last, and the attributes of an op of gradients.

    Args:
      shape: the shape.
      training: whether the statistics are those of the batch.
      first: whether the call takes the channels first.
      factor: `exponential_avg_factor`, which a normalisation has as well.
    """
    channels, own = (shape[-1],), (shape[0], shape[3], *shape[1:3]) if first else shape
    attrs = {"epsilon": 0.125, "data_format": "NCHW" if first else "NHWC", "is_training": training, **factor}
    return call(own, *[channels] * 4, **attrs)


#: Label → a call with a tensor without elements, or with one.
_TINY = {label: {"inference": _call(shape, training=False)} for label, shape in _SMALL.items()}


def _calls(first: bool) -> Calls:
    """A call with the statistics of the batch, and one with given ones."""
    return {label: _call(_SHAPE, training=label == "training", first=first) for label in ("training", "inference")}


def _drawn(numbers: Numbers, calls: Calls, *, back: bool = False) -> OfAll:
    """The inputs of all calls: tensors of rank 4 in the dtype of the case, and vectors in float32, as ops take them."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        every: list[np.ndarray] = []
        for one in calls.values():
            shape, first = (one.shapes or ((),))[0], one.attrs["data_format"] == "NCHW"
            x, scale, offset, mean, variance = numbers(draw, (shape[0], *shape[2:], shape[1]) if first else shape)
            x = np.moveaxis(x, -1, 1).copy() if first else x
            own = [x, scale, *([] if back else [offset]), mean, variance]
            every += [draw.uniform(*x.shape) * 2, *own] if back else own
        return tuple(np.asarray(x).astype(dtype if x.ndim == 4 else np.float32) for x in every)

    return OfAll(recipe)


@dataclass(frozen=True, kw_only=True)
class Fused:
    """A fused normalisation.

    raw         its OpDef.
    gradient    the OpDef of its gradient.
    more        the dtypes of its tensors in addition to float32.
    reserved    whether the op of gradients takes a third tensor of the forward op; that of a CPU has no elements.
    """

    raw: str
    gradient: str
    more: tuple[str, ...] = ()
    reserved: bool = False

    def results(self, tf: Any, *xs: Any, exponential_avg_factor: float = 1.0, **attrs: Any) -> Any:
        """The results of the op."""
        names = ("x", "scale", "offset", "mean", "variance")
        arguments = dict(zip(names, xs, strict=True))
        return getattr(tf.raw_ops, self.raw)(**arguments, exponential_avg_factor=exponential_avg_factor, **attrs)

    def back(self, tf: Any, *xs: Any, **attrs: Any) -> Any:
        """The gradients by the tensor, the scale and the offset, by the op of gradients.

        After the upstream, the tensor and the scale, `xs` has the tensors that the forward op reserves.
        """
        names = ("y_backprop", "x", "scale", "reserve_space_1", "reserve_space_2", "reserve_space_3")
        arguments = dict(zip(names, xs, strict=False))
        if self.reserved:
            arguments.setdefault("reserve_space_3", tf.zeros([0], tf.float32))
        return tuple(each for each in getattr(tf.raw_ops, self.gradient)(**arguments, **attrs)[:3])

    def back_of_batch(self, tf: Any, g: Any, x: Any, scale: Any, *given: Any, is_training: bool, **attrs: Any) -> Any:
        """The gradients, from the statistics that the forward op returns in training."""
        how = {"is_training": is_training, **attrs}
        kept = self.results(tf, x, scale, scale, *given, **how)[3:] if is_training else given
        return self.back(tf, g, x, scale, *kept, **how)


def fused(of: Fused) -> dict[str, Any]:
    """The fields of a fused normalisation. The default tier has float32, the full tier the dtypes of 16 bits."""
    last, first = _calls(first=False), _calls(first=True)
    inference = {"inference": last["inference"]}
    every = {**last, **{f"first_{label}": one for label, one in first.items()}}
    factors = {"share": _call(_SHAPE, training=True, exponential_avg_factor=0.25)}
    normalised = lambda tf, *xs, **attrs: of.results(tf, *xs, **attrs)[:1]  # noqa: E731
    parts = (
        also("-channels-first", calls=first, recipes={"plain": _drawn(plain, first)}, names=()),
        *([in_planes(every, normalised, recipes={"plain": _drawn(plain, every)})] if of.reserved else []),
        _statistics("", of, {**last, **factors}, ("plain", "offset", "special")),
        _statistics_with_options(of),
        of_small({label: _drawn(plain, calls) for label, calls in _TINY.items()}, inference, names=()),
        batches(inference, _drawn(plain, inference), (1, 2, 3, 4), names=()),
        second_order({"plain": _drawn(plain, every)}, every, names=(), unsigned_zeros=("output", "grad")),
    )
    return {
        "raw": of.raw,
        "parts": parts,
        "program": lambda tf, *xs, **attrs: of.results(tf, *xs, **attrs)[0],
        "promise": Normalized,
        "calls": last,
        "recipes": {label: _drawn(numbers, last) for label, numbers in {**RECIPES, "upstreams": plain}.items()},
        "upstreams": {"upstreams": finite},
        "wrong": {label: unfit(*shapes, **last["inference"].attrs) for label, shapes in _UNFIT.items()},
        "dtypes": tiered(("float32", *of.more)),
        "loose": dict.fromkeys(("grad", "jvp", "hvp"), _CANCELS),
    }


def _statistics(suffix: str, of: Fused, calls: Calls, labels: Sequence[str] = ("plain",)) -> Part:
    """A part: the mean and the variance of the batch that these calls return, by recipes of these labels."""
    return part(
        f"-statistics{suffix}",
        calls={
            label: replace(
                one,
                program=lambda tf, *xs, **attrs: tuple(y for y in of.results(tf, *xs, **attrs)[1:3]),
                promise=Statistics,
            )
            for label, one in calls.items()
        },
        recipes={label: _drawn(RECIPES[label], calls) for label in labels},
        gradient=False,
        names=(),
        unsigned_zeros=(),
        loose={},
        lowest_tier=True,
    )


def _statistics_with_options(of: Fused) -> Part:
    """A part: the statistics of channels that are first, and of one element for each channel."""
    shapes = {"first": (_SHAPE, True), "single": ((1, 1, 1, 4), False), "single_first": ((1, 1, 1, 4), True)}
    calls = {label: _call(shape, training=True, first=first) for label, (shape, first) in shapes.items()}
    calls["first_share"] = _call(_SHAPE, training=True, first=True, exponential_avg_factor=0.25)
    return together(*(_statistics(f"-{label.replace('_', '-')}", of, {label: one}) for label, one in calls.items()))


def _of_cudnn(of: Fused, calls: Calls) -> dict[str, Side]:
    """The contract of an op of gradients: on a GPU, the variance of a batch is the inverse of a standard deviation.

    XLA's third version has the variance on every device.
    """
    inverted = fields(calls, of.back, GradientsOfCudnn, gradient=False)
    side = Side(
        reference=inverted["reference"],
        bound=inverted["bound"],
        why="the documentation of reserve_space_2: the computed batch variance (inverted variance in the cuDNN case)",
        link="https://www.tensorflow.org/api_docs/python/tf/raw_ops/FusedBatchNormGrad",
    )
    return of_gpu_kernels(side) if of.reserved else {"gpu/*": side}


def fused_gradient(of: Fused) -> dict[str, Any]:
    """The fields of the op of gradients, with the mean and the variance as a forward op on a CPU returns them."""
    calls = _calls(first=False)
    inference = {"inference": calls["inference"]}
    # The op takes channels first in training alone, unless oneDNN computes it.
    differentiated = {**calls, "first": _call(_SHAPE, training=True, first=True)}
    recipes = {"plain": _drawn(plain, differentiated, back=True)}
    gradients = lambda tf, *xs, **attrs: of.back(tf, *xs, **attrs)  # noqa: E731
    planes = [in_planes(differentiated, gradients, recipes=recipes, contract=_of_cudnn(of, differentiated))]
    parts = (
        of_small(
            {label: _drawn(plain, own, back=True) for label, own in _TINY.items()},
            inference,
            constant=tuple(f"output[{i}]" for i in range(3)),
            contract={},
        ),
        part(
            "-gradient",
            calls={
                label: replace(
                    one, program=lambda tf, *xs, **attrs: of.back_of_batch(tf, *xs, **attrs), promise=GradientsOfBatch
                )
                for label, one in differentiated.items()
            },
            recipes=recipes,
            gradient=True,
            second_order=True,
            rounded=("output", "grad", "jvp"),
            unsigned_zeros=("output", "grad"),
            hvp=None,
            loose=dict.fromkeys(("grad", "jvp"), _CANCELS),
            contract={},
        ),
        *(planes if of.reserved else []),
    )
    return {
        "raw": of.gradient,
        "parts": parts,
        "program": lambda tf, *xs, **attrs: of.back(tf, *xs, **attrs),
        "promise": Gradients,
        "calls": calls,
        "recipes": {label: _drawn(numbers, calls, back=True) for label, numbers in RECIPES.items()},
        "gradient": False,
        "contract": _of_cudnn(of, calls),
        "dtypes": tiered(("float32", *of.more)),
        "names": (),
    }
