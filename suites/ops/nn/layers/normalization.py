"""Normalisations over a batch. Errors are those of float32: see `suites.reference.promises.running`."""

import numpy as np

from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.neural_networks.normalization import Fused, fused, fused_gradient
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import calling, part, tiered
from tf_opdiff.suites.forms.programs.removed import Removed
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.reference.promises.running import bound

_HALVES = ("float16", "bfloat16")
_V1 = Fused(raw="FusedBatchNorm", gradient="FusedBatchNormGrad")
_V2 = Fused(raw="FusedBatchNormV2", gradient="FusedBatchNormGradV2", more=_HALVES)
_V3 = Fused(raw="FusedBatchNormV3", gradient="FusedBatchNormGradV3", more=_HALVES, reserved=True)


#: Attributes of a normalisation by given means and variances.
_GLOBAL = {
    "scaled": {"variance_epsilon": 0.125, "scale_after_normalization": True},
    "plain": {"variance_epsilon": 0.5, "scale_after_normalization": False},
}
_NAMES = ("t", "m", "v", "beta", "gamma")


def _given(x, mean, variance, beta, gamma, **attrs):
    """A tensor, normalised by the given means and variances of its last axis."""
    normalized = (x - mean) / np.sqrt(variance + attrs["variance_epsilon"])
    return (normalized * gamma if attrs["scale_after_normalization"] else normalized) + beta


def _gradients(x, mean, variance, gamma, g, **attrs):
    """Its gradients: by the tensor, the means, the variances, beta and gamma."""
    total = lambda y: np.sum(np.sum(np.sum(y, axis=0), axis=0), axis=0)  # noqa: E731
    epsilon, scaled = attrs["variance_epsilon"], attrs["scale_after_normalization"]
    deviation = np.sqrt(variance + epsilon)
    scale = gamma / deviation if scaled else 1 / deviation
    off = total(g * (x - mean))
    by_gamma = off / deviation if scaled else total(g[:0])  # zeros, whatever gamma is
    return g * scale, -total(g) * scale, off * scale / (variance + epsilon) * -0.5, total(g), by_gamma


def _bound(f, number):
    """The bound of a result: see `suites.reference.promises.running`."""
    return lambda u, g, *xs, **attrs: bound(lambda *xs: f(*xs, **attrs), number)(u, g, *xs)


def _by_global(draw, dtype, *shape):
    """A recipe: a tensor, means, variances, beta and gamma."""
    vectors = (draw.uniform(shape[-1], low=0.5, high=2).astype(dtype) for _ in range(4))
    return draw.uniform(*shape, low=-2, high=2).astype(dtype), *vectors


#: The first sizes of images; those of images without elements, and of one channel of one pixel.
_IMAGES = {"odd": (2, 3, 5, 3), "one": (1, 1, 1, 3), "empty": (0, 2, 3, 3), "single": (1, 1, 1, 1)}
_FEW = {"none": (0, 2, 3, 3), "no_rows": (2, 0, 3, 3), "no_channels": (1, 2, 3, 0), "one": (1, 1, 1, 1)}
_IN_DEFAULT = ("none", "no_rows", "one")


def _of_shapes(*order, shapes=_IMAGES):
    """Recipes of images; `order` has the numbers of the inputs, 5 for the upstream."""

    def recipe(shape):
        def inputs(draw, dtype):
            every = *_by_global(draw, dtype, *shape), draw.uniform(*shape, low=-2, high=2).astype(dtype)
            return tuple(every[i] for i in order)

        return inputs

    return {label: recipe(shape) for label, shape in shapes.items()}


def _removed(raw, *arguments):
    """The fields of an op that GraphDef lacks since version 9: values in an older graph, and the error elsewhere."""
    removed = Removed(raw, arguments, version=9)
    dtypes = tiered(("float32", "float64", "float16"))
    return {
        "program": removed.older(calling(raw, arguments)),
        "attrs": _GLOBAL,
        "dtypes": dtypes,
        **removed.fields,
    }


def _vjp(g, x, mean, variance, beta, gamma, **attrs):
    by_x, by_mean, by_variance, by_beta, by_gamma = _gradients(x, mean, variance, gamma, g, **attrs)
    return by_x, by_mean, by_variance, by_beta, by_gamma


def _vjp_bound(number):
    own = _bound(_gradients, number)
    return lambda u, g, x, mean, variance, beta, gamma, **attrs: own(u, g, x, mean, variance, gamma, g, **attrs)


SPECS = (
    *op(
        "batch-norm-with-global-normalization",
        "BatchNormWithGlobalNormalization",
        part(recipes=_of_shapes(0, 1, 2, 3, 4), vjp=_vjp),
        small(_of_shapes(0, 1, 2, 3, 4, shapes=_FEW), few=_IN_DEFAULT, vjp=_vjp),
        reference=_given,
        bound={
            "output": _bound(lambda *xs, **attrs: (_given(*xs, **attrs),), 0),
            **{f"grad[{i}]": _vjp_bound(i) for i in range(5)},
        },
        **_removed("BatchNormWithGlobalNormalization", *_NAMES),
    ),
    *op(
        "batch-norm-with-global-normalization-grad",
        "BatchNormWithGlobalNormalizationGrad",
        part(recipes=_of_shapes(0, 1, 2, 4, 5)),
        small(_of_shapes(0, 1, 2, 4, 5, shapes=_FEW), few=_IN_DEFAULT),
        reference=_gradients,
        bound={f"output[{i}]": _bound(_gradients, i) for i in range(5)},
        **_removed("BatchNormWithGlobalNormalizationGrad", "t", "m", "v", "gamma", "backprop"),
    ),
    *op("fused-batch-norm", **fused(_V1), ordinary=ordinary.MEANS),
    *op("fused-batch-norm-grad", **fused_gradient(_V1), ordinary=ordinary.SIGNS),
    *op("fused-batch-norm-grad-v2", **fused_gradient(_V2), ordinary=ordinary.SIGNS_OF_FLOAT32),
    *op("fused-batch-norm-grad-v3", **fused_gradient(_V3), ordinary=ordinary.SIGNS_OF_FLOAT32),
    *op("fused-batch-norm-v2", **fused(_V2), ordinary=ordinary.MEANS),
    *op("fused-batch-norm-v3", **fused(_V3), ordinary=ordinary.MEANS),
)
