"""Sign: -1, 0 or 1, NaN for NaN, x / |x| for complex numbers; the gradient of a real sign is zeros, not unconnected."""

from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, SHAPES, UNARY, edges, filled, plain, subnormals
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.forms.aspects import not_allowed
from tf_opdiff.suites.forms.elementwise.flushed import outputs
from tf_opdiff.suites.forms.elementwise.subnormal import flushing
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, unconnected
from tf_opdiff.suites.reference.elementwise.sign import complex_sign, complex_vjp, real_sign, zero_kept


def axes(draw, dtype):
    """Numbers on the axes, whose squares do not overflow, and zero."""
    real = (draw.uniform(67, low=0.5, high=4.0) * np.where(draw.booleans(67), 1, -1)).astype(dtype)
    return (np.where(np.arange(67) % 7 == 3, 0, np.where(draw.booleans(67), real, real * 1j)).astype(dtype),)


def _scaled(exponent):
    """A recipe: numbers whose size is about 2^(exponent × largest exponent), so that their squares leave the range."""

    def recipe(draw, dtype):
        top = ml_dtypes.finfo(np.dtype(f"f{dtype.itemsize // 2}")).maxexp
        return (((draw.values(np.dtype("complex128"), 67) + (5 + 5j)) * 2.0 ** int(exponent * top)).astype(dtype),)

    return recipe


def nan_parts(draw, dtype):
    """NaN in the real part, in the imaginary part, and in both; and a plain number."""
    nan = np.nan
    return (
        filled([complex(nan, 0), complex(0, nan), 3 - 4j, complex(nan, 1), complex(1, nan), complex(nan, nan)], dtype),
    )


_STABLEHLO = "https://docs.jax.dev/en/latest/_autosummary/jax.lax.sign.html"
_KERNELGEN = (
    "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/kernels/mlir_generated/gpu_op_sign.cc"
)
_ZERO = "stablehlo.sign of -0 is -0"
#: tf.sign of a complex number is x / |x|, by Python; only the raw op meets the kernels.
_IN_PYTHON: dict[str, Any] = {"ops": "DivNoNan;ComplexAbs"}
_RAW: dict[str, Any] = {"program": lambda tf, z: tf.raw_ops.Sign(x=z)}
_VALUE: dict[str, Any] = {
    "reference": complex_sign,
    "dtypes": COMPLEX,
    "ulp": {"output": 5},  # |z| costs 2 roundings, the division by it up to 3 in each part
}
_WITH_GRADIENT: dict[str, Any] = {
    **_VALUE,
    "positions": True,
    "vjp": complex_vjp,
    "recipes": {"plain": plain, "axes": axes, "large": _scaled(0.7), **SHAPES},
    "bound": {"grad[0]": lambda u, g, z: 16 * u * np.abs(g) / np.where(z == 0, np.inf, np.abs(z))},
}
_SMALL: dict[str, Any] = {**_VALUE, "recipes": {"small": _scaled(-0.7)}}

SPECS = op(
    "sign",
    "Sign",
    part(
        positions=True,
        reference=real_sign,
        vjp=lambda g, x: np.zeros_like(x),
        recipes=UNARY,
        every_input=True,
        dtypes=FLOATS,
        contract={
            "*/xla": Side(reference=zero_kept, why=_ZERO, link=_STABLEHLO, alternatives={"output": outputs(zero_kept)}),
            "gpu/*": Side(  # that of bfloat16 is not, and keeps the promise
                reference=zero_kept,
                why=f"GPU kernels are generated from it: {_ZERO}",
                link=_KERNELGEN,
                alternatives={"output": lambda dtype, g, x: [(real_sign(x),), *outputs(real_sign)(dtype, g, x)]},
            ),
        },
        tier="smoke",
    ),
    part("-complex", **_IN_PYTHON, **_WITH_GRADIENT),
    part(
        "-complex-nan",
        **_IN_PYTHON,
        **_VALUE | {"reference": lambda z: np.where(np.isnan(z), complex(np.nan, np.nan), complex_sign(z))},
        recipes={"nan": nan_parts},
    ),
    part("-complex-raw", **_RAW, **_WITH_GRADIENT),
    part("-complex-raw-small", **_RAW, **_SMALL),
    part("-complex-small", **_IN_PYTHON, **_SMALL),
    part(
        "-integer",
        positions=True,
        reference=np.sign,
        vjp=unconnected,
        recipes={"edges": edges, "plain": plain, **SHAPES},
        dtypes=("int8", "int16", "int32", "int64"),
    ),
    part(
        "-subnormal",
        positions=True,
        reference=real_sign,
        vjp=lambda g, x: np.zeros_like(x),
        recipes={"subnormals": subnormals},
        dtypes=FLOATS,
        contract={"cpu/xla": flushing(zero_kept)},
    ),
    not_allowed(
        "-unsigned",
        dtypes=("uint8", "uint16", "uint32", "uint64"),
        why="the OpDef allows no unsigned integers; an eager op is checked by the runtime",
        eager="not in the list of allowed values",
    ),
    program=lambda tf, x: tf.sign(x),
)
