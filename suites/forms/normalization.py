"""Normalisation: the specs of fused normalisations over a batch, and of their gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.loose import Loose
from tf_opdiff.harness.spec.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.batch import batches
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.errors import REFUSED_BY_KERNEL, raises
from tf_opdiff.suites.forms.special_upstreams import in_turn
from tf_opdiff.suites.reference.accumulation import FLOAT32
from tf_opdiff.suites.reference.normalization import Normalization, error, exact

Shape = tuple[int, ...]
#: A gradient is a difference of sums of products with numbers that a rounded mean was taken from.
CANCELS = Loose(lambda *xs: True, "a gradient is a difference of sums of products, which may cancel")
_FORMATS = {False: "NHWC", True: "NCHW"}
#: The calls of one program, by label: with the statistics of the batch, and with given ones.
CALLS: Mapping[str, Normalization] = {
    "training": Normalization(training=True),
    "inference": Normalization(training=False),
}
#: The shape of a tensor whose channels are last; no size is a multiple of a vector's width.
SHAPE = (2, 3, 2, 5)
SMALL: Mapping[str, Shape] = {"no_batch": (0, 2, 3, 2), "no_channels": (2, 3, 1, 0), "one": (1, 1, 1, 1)}


def _values(draw: Draw, shape: Shape, channels: int) -> list[np.ndarray]:
    """A tensor, and a scale, an offset, a mean and a variance for each channel, of moderate size."""
    x = draw.uniform(*shape) * 4
    scale, offset, mean = (draw.uniform(channels) * 2 for _ in range(3))
    return [x, scale, offset, mean, draw.uniform(channels, low=0.5, high=4)]


def _typed(xs: Sequence[np.ndarray], dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """The tensors of rank 4 in the dtype of the case, and vectors in float32, as the ops take them."""
    return tuple(np.asarray(x).astype(dtype if x.ndim == 4 else np.float32) for x in xs)


def plain(draw: Draw, shape: Shape) -> list[np.ndarray]:
    """A tensor and vectors of moderate size."""
    return _values(draw, shape, shape[-1])


def _offset(draw: Draw, shape: Shape) -> list[np.ndarray]:
    """A tensor far from zero: its variance is small beside its mean."""
    x, *rest = _values(draw, shape, shape[-1])
    return [x / 4 + 32, *rest]


def _equal(draw: Draw, shape: Shape) -> list[np.ndarray]:
    """Equal numbers in each channel: a variance of 0."""
    x, *rest = _values(draw, shape, shape[-1])
    return [np.broadcast_to(np.round(x[:1, :1, :1]), shape), *rest]


def _special(draw: Draw, shape: Shape) -> list[np.ndarray]:
    """A channel with a NaN, one with an infinity, and plain ones."""
    x, *rest = _values(draw, shape, shape[-1])
    x[0, 0, 0, 0], x[0, 0, 0, 1] = np.nan, np.inf
    return [x, *rest]


RECIPES = {"plain": plain, "offset": _offset, "equal": _equal, "special": _special, "upstreams": plain}
_upstreams = in_turn(lambda dtype: np.array((0.0, -0.0, 1.0, -2.0, 0.5)).astype(dtype))


@dataclass(frozen=True, kw_only=True)
class Fused:
    """A fused normalisation: its OpDef, that of its gradient, and the dtypes beside float32 of its tensors."""

    raw: str
    gradient: str
    more: tuple[str, ...] = ()

    def call(self, tf: Any, how: Normalization, *xs: Any) -> Any:
        """The results of the op."""
        attributes = {
            "epsilon": how.epsilon,
            "exponential_avg_factor": how.factor,
            "data_format": _FORMATS[how.first],
            "is_training": how.training,
        }
        names = ("x", "scale", "offset", "mean", "variance")
        return getattr(tf.raw_ops, self.raw)(**dict(zip(names, xs, strict=True)), **attributes)

    def back(self, tf: Any, how: Normalization, *xs: Any) -> Any:
        """The gradients by the tensor, the scale and the offset, by the op of gradients.

        After the upstream, the tensor and the scale, `xs` has the mean and the variance, and for version 3 a tensor of
        the forward op; by default, that of a CPU.
        """
        names = ("y_backprop", "x", "scale", "reserve_space_1", "reserve_space_2", "reserve_space_3")
        arguments = dict(zip(names, xs, strict=False))
        if self.gradient.endswith("V3"):
            arguments.setdefault("reserve_space_3", tf.zeros([0], tf.float32))
        attributes = {"epsilon": how.epsilon, "data_format": _FORMATS[how.first], "is_training": how.training}
        return getattr(tf.raw_ops, self.gradient)(**arguments, **attributes)[:3]


def each_call(calls: Sequence[Normalization], function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The results of a function of each call and its own inputs, as one tuple."""

    def results(*xs: Any) -> tuple[Any, ...]:
        every: list[Any] = []
        for n, how in enumerate(calls):
            result = function(how, *xs[count * n : count * (n + 1)])
            every += result if isinstance(result, tuple) else (result,)
        return tuple(every)

    return results


def shaped(recipe: Callable[..., Any], shape: Shape, calls: Sequence[Normalization], back: bool = False) -> Recipe:
    """A recipe: the inputs of each call."""

    def inputs(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        every: list[np.ndarray] = []
        for how in calls:
            x, scale, offset, mean, variance = recipe(draw, shape)
            x = np.moveaxis(x, -1, 1).copy() if how.first else x
            own = [draw.uniform(*x.shape) * 2, x, scale, mean, variance] if back else [x, scale, offset, mean, variance]
            every += _typed(own, dtype)
        return tuple(every)

    return inputs


def _bounds(calls: Sequence[Normalization], *, gradient: bool) -> dict[str, Callable[..., Any]]:
    """The bounds of the outputs of normalisations, and of their gradients."""
    bounds: dict[str, Callable[..., Any]] = {}
    for n, how in enumerate(calls):

        def output(u: float, gs: Any, *xs: Any, n: int = n, how: Normalization = how) -> Any:
            return error(how.f)(u, *xs[5 * n : 5 * n + 5])

        bounds[f"output[{n}]"] = output
        for i in range(3) if gradient else ():

            def by(u: float, gs: Any, *xs: Any, n: int = n, how: Normalization = how, i: int = i) -> Any:
                g = gs[n] if isinstance(gs, tuple) else gs
                return error(how.gradients, i)(u if i == 0 else min(u, FLOAT32), g, *xs[5 * n : 5 * n + 5])

            bounds[f"grad[{5 * n + i}]"] = by
    return bounds


def forward(op: Fused, calls: Sequence[Normalization]) -> dict[str, Any]:
    """The fields of a spec of normalised tensors and their gradients."""

    def vjp(gs: Any, *xs: Any) -> tuple[Any, ...]:
        each = gs if isinstance(gs, tuple) else (gs,)
        every: list[Any] = []
        for n, how in enumerate(calls):
            every += [*exact(how.gradients)(each[n], *xs[5 * n : 5 * n + 5]), None, None]
        return tuple(every)

    def program(tf: Any, *xs: Any) -> Any:
        return tuple(op.call(tf, how, *xs[5 * n : 5 * n + 5])[0] for n, how in enumerate(calls))

    return {
        "ops": op.raw,
        "program": program,
        "reference": each_call(calls, lambda how, *xs: exact(how.f)(*xs), 5),
        "vjp": vjp,
        "bound": _bounds(calls, gradient=True),
        "loose": {"grad": CANCELS},
        "unsigned_zeros": ("output", "grad"),
    }


def fused(name: str, op: Fused) -> tuple[Spec, ...]:
    """The specs of a fused normalisation. The default tier has float32, the full tier the dtypes of 16 bits."""
    calls = tuple(CALLS.values())
    recipes = {label: shaped(recipe, SHAPE, calls) for label, recipe in RECIPES.items()}
    main = Spec(
        name=name, recipes=recipes, upstreams={"upstreams": _upstreams}, names=tuple(CALLS), **forward(op, calls)
    )
    first = (Normalization(training=True, first=True), Normalization(training=False, first=True))
    turned = Spec(name=f"{name}-channels-first", recipes={"plain": shaped(plain, SHAPE, first)}, **forward(op, first))
    only = (CALLS["inference"],)
    tiny = {label: shaped(plain, shape, only) for label, shape in SMALL.items()}
    small = Spec(name=name, recipes=tiny, constant=("output[0]",), **forward(op, only))
    given = shaped(plain, SHAPE, only)
    inference = Spec(name=name, recipes={"plain": given}, **forward(op, only))
    rows = batches(inference, given, shared=(1, 2, 3, 4))
    specs = [main, turned, _statistics(name, op), *sizes(small, tiny), *rows, *_wrong(name, op)]
    if op.more:
        specs += [replace(spec, name=f"{spec.name}-other", dtypes=op.more, tier="full") for spec in (main, turned)]
    return tuple(specs)


def _statistics(name: str, op: Fused) -> Spec:
    """The spec of means and variances, with and without a share of the given ones."""
    calls = (*CALLS.values(), Normalization(training=True, factor=0.25))

    def bound(n: int, i: int) -> Callable[..., Any]:
        return lambda u, gs, *xs: error(calls[n].statistics, i)(u, *xs[5 * n : 5 * n + 5])

    def program(tf: Any, *xs: Any) -> Any:
        return tuple(y for n, how in enumerate(calls) for y in op.call(tf, how, *xs[5 * n : 5 * n + 5])[1:3])

    labels = ("plain", "offset", "special")
    return Spec(
        name=f"{name}-statistics",
        ops=op.raw,
        program=program,
        reference=each_call(calls, lambda how, *xs: exact(how.statistics)(*xs), 5),
        recipes={label: shaped(RECIPES[label], SHAPE, calls) for label in labels},
        bound={f"output[{2 * n + i}]": bound(n, i) for n in range(len(calls)) for i in range(2)},
    )


def _wrong(name: str, op: Fused) -> tuple[Spec, ...]:
    """The specs of tensors of another rank, and of vectors that do not fit: an error in every mode."""
    shapes: dict[str, tuple[Shape, ...]] = {
        "too-flat": ((3, 2, 5), *[(5,)] * 4),
        "other-scale": (SHAPE, (4,), *[(5,)] * 3),
        "matrix-of-offsets": (SHAPE, (5,), (1, 5), *[(5,)] * 2),
        "other-mean": (SHAPE, (5,), (5,), (4,), (5,)),
    }
    how = CALLS["inference"]
    return tuple(
        Spec(
            name=f"{name}-{label}",
            ops=op.raw,
            program=lambda tf, *xs: op.call(tf, how, *xs)[0],
            reference=raises("ValueError"),
            contract=REFUSED_BY_KERNEL,
            recipes={"plain": lambda draw, dtype, own=own: tuple(draw.values(dtype, *shape) for shape in own)},
        )
        for label, own in shapes.items()
    )
