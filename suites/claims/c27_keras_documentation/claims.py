"""The sentence of Keras' documentation, and its exception: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.plan import without_modes
from tf_opdiff.harness.spec.spec import Claim, Spec
from tf_opdiff.suites.claims.c27_keras_documentation import program, reference
from tf_opdiff.suites.claims.c27_keras_numerics.claims import ORDER, TWICE, identical
from tf_opdiff.suites.claims.c27_keras_numerics.topic import TOPIC

IN_ORDER = without_modes("graph")


def _images(channels, draw, dtype):
    """An image of numbers from 0 to 1, as in the issue; the kernel that Keras draws by default; a bias of zeros."""
    limit = np.sqrt(6 / (reference.WINDOW * (channels + 4)))
    images = draw.uniform(1, 16, 16, channels, low=0, high=1)
    kernel = draw.uniform(4, 7, channels, 4, low=-limit, high=limit)
    return images.astype(dtype), kernel.astype(dtype), np.zeros(4, dtype)


def _factors(products, draw, dtype):
    """Two matrices whose product has this many products for each element."""
    return draw.uniform(8, products).astype(dtype), draw.uniform(products, 8).astype(dtype)


def _far_from_zero(draw, dtype):
    """Eight rows of quarters near 4096: all sums of them are exact, and so are the squares of their differences."""
    return ((4096.25 + draw.integers(8, 16, low=-16, high=17) / 4).astype(dtype),)


_spec = partial(Spec, recipes={"plain": _far_from_zero})


def _exception(**more):
    return Claim(
        topic=TOPIC,
        letter="b",
        says="In general, operations of Keras are identical across backends up to 1e-7 precision in float32; it is "
        "Conv2D that may show larger variations.",
        ulp=TWICE,
        **more,
    )


SPECS = (
    Spec(
        name="claim-c27-conv-layer",
        program=program.call_and_sum,
        reference=reference.model,
        bound={"output[0]": reference.model_bound, "output[1]": reference.sum_bound},
        recipes={"images": partial(_images, 16), "deep": partial(_images, 32)},
        ops="Conv2D;Sum",
        evidence="called:keras.layers.Conv2D;called:keras.ops.sum",
        modes=IN_ORDER,
        state=program.model_of_a_convolution,
        claims=(identical(refuted={"*/*": ORDER}, instead="claim-c27-conv-in-float64"),),
    ),
    Spec(
        name="claim-c27-dense-layer",
        program=program.call_layer,
        reference=np.matmul,
        bound={"output": reference.dense_bound},
        recipes={"plain": partial(_factors, 512), "fewer": partial(_factors, 128)},
        ops="MatMul",
        evidence="called:keras.layers.Dense",
        modes=IN_ORDER,
        state=program.dense_layer,
        claims=(
            _exception(
                about=("output",),
                reference=reference.one_after_the_other,
                refuted={"*/*": "a layer without a convolution adds hundreds of products too, in an order of its own"},
                instead="claim-c27-conv-in-float64",
            ),
        ),
    ),
    _spec(
        name="claim-c27-moments",
        program=program.moments,
        reference=reference.moments,
        ops="Mean;SquaredDifference",
        evidence="called:keras.ops.moments",
        claims=(
            _exception(
                about=("output[1]",),
                reference=reference.moments_by_squares,
                refuted={
                    "*/*": "NumPy's backend subtracts the square of the mean, TensorFlow's subtracts the mean first"
                },
                instead="claim-c27-var",
            ),
        ),
    ),
    _spec(
        name="claim-c27-var",
        program=program.mean_and_var,
        reference=reference.moments,
        ops="Mean;Square",
        evidence="called:keras.ops.var",
        claims=(_exception(about=("output",)),),
    ),
)
