"""Elementwise functions of `tf.math` and `tf.nn`."""

from tf_opdiff.suites.forms.programs.public import Public, twins
from tf_opdiff.suites.ops.math.elementary import (
    arithmetic,
    complex,
    exponential,
    hyperbolic,
    power,
    rounding,
    trigonometric,
    unary_arithmetic,
)
from tf_opdiff.suites.ops.math.reductions import extremes
from tf_opdiff.suites.ops.math.special_functions import (
    bessel_modified,
    error_function,
    gamma,
    incomplete_beta,
    incomplete_gamma,
    zeta,
)
from tf_opdiff.suites.ops.math.truth_values import comparison, logic, predicates
from tf_opdiff.suites.ops.nn.layers import activation, rectifier

SPECS = (
    *twins(
        arithmetic,
        Public("math.accumulate_n", of="add-n"),
        Public("math.add", of="add-v2"),
        "math.add_n",
        Public("math.multiply", of="mul"),
        "math.squared_difference",
        Public("math.subtract", of="sub"),
    ),
    *twins(
        complex,
        Public("math.conj", of="conj-complex"),
        Public("math.imag", of="imag-complex", call=lambda f, input, **dtype: f(input)),
        Public("math.real", of="real-complex", call=lambda f, input, **dtype: f(input)),
    ),
    *twins(exponential, "math.exp", "math.expm1", "math.log", "math.log1p", "math.sigmoid"),
    *twins(hyperbolic, "math.acosh", "math.cosh", "math.sinh", "math.tanh"),
    *twins(power, "math.pow"),
    *twins(
        rounding, "math.ceil", Public("math.floor", place="floor"), "math.rint", Public("math.round", place="round")
    ),
    *twins(trigonometric, "math.cos", "math.sin"),
    *twins(unary_arithmetic, Public("math.negative", of="neg"), "math.reciprocal", "math.rsqrt", "math.sqrt"),
    *twins(unary_arithmetic, "math.square"),
    *twins(
        extremes,
        "math.maximum",
        "math.minimum",
        Public("math.nextafter", of=("next-after-float32", "next-after-float64")),
    ),
    *twins(bessel_modified, "math.bessel_i0", "math.bessel_i0e", "math.bessel_i1", "math.bessel_i1e"),
    *twins(error_function, "math.erf", "math.erfc", "math.erfinv", "math.ndtri"),
    *twins(gamma, "math.digamma", "math.lgamma"),
    *twins(incomplete_beta, "math.betainc"),
    *twins(incomplete_gamma, "math.igamma", "math.igammac"),
    *twins(zeta, "math.polygamma", "math.zeta"),
    *twins(comparison, "math.equal", "math.less", "math.not_equal"),
    *twins(logic, "math.logical_and", "math.logical_not", "math.logical_or"),
    *twins(predicates, "math.is_finite", "math.is_inf", "math.is_nan"),
    *twins(activation, "nn.selu", "math.softplus"),
    *twins(rectifier, "nn.relu", "nn.relu6"),
)
