"""Sign: -1, 0 or 1, NaN for NaN, x / |x| for complex numbers; the gradient of a real sign is zeros, not unconnected."""

from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, SHAPES, UNARY, edges, filled, plain, subnormals
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.references.subnormal import DENORMALS, LINK, WHY, flushed


def real_sign(x):
    """+0 for either zero, as the documentation has it: "0 if x == 0"."""
    return np.where(np.isnan(x), x, np.sign(x) + 0.0)


def zero_kept(x):
    """The sign of a zero is that zero."""
    return np.where(x == 0, x, real_sign(x))


def complex_sign(z):
    """z / |z|, and 0 for 0: https://www.tensorflow.org/api_docs/python/tf/math/sign; hypot does not underflow."""
    size = np.abs(z)
    return np.where(z == 0, 0, z / np.where(size == 0, 1, size))


def complex_vjp(g, z):
    """(g - s² conj(g)) / 2|z| with s = z / |z|: what is left of g along the unit circle; 0 at 0.

    TensorFlow's VJP of f is conj(∂f/∂z) g + (∂f/∂z̄) conj(g), https://github.com/tensorflow/tensorflow/issues/3348.
    """
    s, size = complex_sign(z), np.abs(z)
    return np.where(z == 0, 0, (g - s * s * np.conj(g)) / (2 * np.where(size == 0, 1, size)))


def _zeros(g, x):
    return np.zeros_like(x)


def _none(g, x):
    return None


def axes(draw, dtype):
    """Numbers on the axes, whose squares do not overflow, and zero."""
    real = (draw.uniform(67, low=0.5, high=4.0) * np.where(draw.booleans(67), 1, -1)).astype(dtype)
    return (np.where(np.arange(67) % 7 == 3, 0, np.where(draw.booleans(67), real, real * 1j)).astype(dtype),)


def _scaled(exponent):
    """Numbers of moderate shape whose squares leave the range: a recipe, 2^(exponent × largest exponent) in size."""

    def recipe(draw, dtype):
        top = ml_dtypes.finfo(np.dtype(f"f{dtype.itemsize // 2}")).maxexp
        return (((draw.values(np.dtype("complex128"), 67) + (5 + 5j)) * 2.0 ** int(exponent * top)).astype(dtype),)

    return recipe


def nan_parts(draw, dtype):
    """NaN in the real part, the imaginary one, or both, beside zero, one and a number; and plain numbers between."""
    nan = np.nan
    return (
        filled([complex(nan, 0), complex(0, nan), 3 - 4j, complex(nan, 1), complex(1, nan), complex(nan, nan)], dtype),
    )


_UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
_OPDEF = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/ops/math_ops.cc"
_STABLEHLO = "https://docs.jax.dev/en/latest/_autosummary/jax.lax.sign.html"
_KERNELGEN = (
    "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/kernels/mlir_generated/gpu_op_sign.cc"
)
_ZERO = "stablehlo.sign of -0 is -0"
_COMPLEX: dict[str, Any] = {
    "recipes": {"plain": plain, "axes": axes, "large": _scaled(0.7), **SHAPES},
    "dtypes": COMPLEX,
    "ulp": {"output": 5},  # |z| costs 2 roundings, the division by it up to 3 in each part
}

SPECS = (
    Spec(
        name="sign",
        ops="Sign",
        program=lambda tf, x: tf.sign(x),
        reference=real_sign,
        vjp=_zeros,
        recipes=UNARY,
        dtypes=FLOATS,
        contract={
            "*/xla": Side(reference=zero_kept, why=_ZERO, link=_STABLEHLO),
            "gpu/*": Side(reference=zero_kept, why=f"GPU kernels are generated from it: {_ZERO}", link=_KERNELGEN),
        },
        tier="smoke",
    ),
    Spec(
        name="sign-complex",
        ops="DivNoNan;ComplexAbs",  # tf.sign computes x / |x| in Python; see sign-complex-raw for the op
        program=lambda tf, z: tf.sign(z),
        reference=complex_sign,
        vjp=complex_vjp,
        bound={"grad[0]": lambda u, g, z: 16 * u * np.abs(g) / np.where(z == 0, np.inf, np.abs(z))},
        **_COMPLEX,
    ),
    Spec(
        name="sign-complex-nan",
        ops="DivNoNan;ComplexAbs",
        program=lambda tf, z: tf.sign(z),
        reference=lambda z: np.where(np.isnan(z), complex(np.nan, np.nan), complex_sign(z)),
        recipes={"nan": nan_parts},
        dtypes=COMPLEX,
        ulp={"output": 5},
    ),
    Spec(
        name="sign-complex-raw",
        ops="Sign",
        program=lambda tf, z: tf.raw_ops.Sign(x=z),
        reference=complex_sign,
        vjp=complex_vjp,
        bound={"grad[0]": lambda u, g, z: 16 * u * np.abs(g) / np.where(z == 0, np.inf, np.abs(z))},
        **_COMPLEX,
    ),
    Spec(
        name="sign-complex-raw-small",
        ops="Sign",
        program=lambda tf, z: tf.raw_ops.Sign(x=z),
        reference=complex_sign,
        recipes={"small": _scaled(-0.7)},
        dtypes=COMPLEX,
        ulp={"output": 5},
    ),
    Spec(
        name="sign-complex-small",
        ops="DivNoNan;ComplexAbs",
        program=lambda tf, z: tf.sign(z),
        reference=complex_sign,
        recipes={"small": _scaled(-0.7)},
        dtypes=COMPLEX,
        ulp={"output": 5},
    ),
    Spec(
        name="sign-integer",
        ops="Sign",
        program=lambda tf, x: tf.sign(x),
        reference=np.sign,
        vjp=_none,
        recipes={"edges": edges, "plain": plain, **SHAPES},
        dtypes=("int8", "int16", "int32", "int64"),
    ),
    Spec(
        name="sign-subnormal",
        ops="Sign",
        program=lambda tf, x: tf.sign(x),
        reference=real_sign,
        vjp=_zeros,
        recipes={"subnormals": subnormals},
        dtypes=FLOATS,
        contract={"cpu/xla": Side(reference=lambda x: zero_kept(flushed(x)), why=WHY, link=LINK, unless=DENORMALS)},
    ),
    Spec(
        name="sign-unsigned",
        ops="Sign",
        program=lambda tf, x: tf.sign(x),
        reference=lambda x: Raises("TypeError", "not in list of allowed values"),
        recipes={"plain": plain},
        dtypes=_UNSIGNED,
        contract={
            "*/eager": Side(
                reference=lambda x: Raises("INVALID_ARGUMENT", "not in the list of allowed values"),
                why="the OpDef allows no unsigned integers; an eager op is checked by the runtime",
                link=_OPDEF,
            )
        },
    ),
)
