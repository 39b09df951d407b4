"""The numerics of Keras across backends: the claims."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import SIZE
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.claims.c27_keras_numerics import program, reference
from tf_opdiff.suites.claims.c27_keras_numerics.topic import TOPIC


def _images(draw, dtype):
    """Two images and a kernel: each element of the result is a sum of up to 896 products of either sign."""
    return draw.uniform(2, 16, 16, 32).astype(dtype), draw.uniform(4, 7, 32, 8).astype(dtype)


#: Two ULPs of float32 are between 1.2e-7 and 2.4e-7 of a number: more than the sentence grants.
TWICE = {"output": 2}
ORDER = "a backend adds hundreds of products in an order of its own; where they cancel, more digits differ"


def identical(**more):
    return TOPIC.claim(
        "a",
        "The numerics of Keras are identical across backends, up to 1e-7 precision in float32, per function.",
        "output",
        ulp=TWICE,
        **more,
    )


REFUTED = identical(refuted={"*/*": ORDER}, instead="claim-c27-conv-in-float64")

SPECS = (
    Spec(
        name="claim-c27-sqrt",
        program=program.sqrt,
        reference=np.sqrt,
        ulp={"output": 1},
        recipes={"plain": lambda draw, dtype: (draw.uniform(SIZE, low=0, high=9).astype(dtype),)},
        ops="Sqrt",
        evidence="called:keras.ops.sqrt",
        claims=(identical(),),
    ),
    Spec(
        name="claim-c27-conv",
        program=program.conv,
        reference=reference.conv,
        bound={"output": reference.conv_bound},
        recipes={"images": _images},
        ops="Conv2D",
        evidence="called:keras.ops.conv",
        claims=(REFUTED,),
    ),
    Spec(
        name="claim-c27-matmul",
        program=program.matmul,
        reference=np.matmul,
        bound={"output": reference.matmul_bound},
        recipes={"plain": lambda draw, dtype: (draw.values(dtype, 8, 512), draw.values(dtype, 512, 8))},
        ops="MatMul",
        evidence="called:keras.ops.matmul",
        claims=(REFUTED,),
    ),
    Spec(
        name="claim-c27-conv-in-float64",
        program=program.conv_in_float64,
        reference=reference.conv,
        ulp={"output": 1},
        recipes={"images": _images},
        ops="Conv2D;Cast",
        evidence="called:keras.ops.conv",
        claims=(identical(),),
    ),
)
