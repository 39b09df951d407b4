"""Softmax and its logarithm. Errors follow from the distances of the logits: see `suites.reference.softmax`."""

from tf_opdiff.suites.forms.softmax import softmax_like
from tf_opdiff.suites.reference import softmax as ref
from tf_opdiff.suites.reference.promise import OfOneTensor
from tf_opdiff.suites.reference.subnormal import flushed_in

SPECS = (
    *softmax_like(
        "log-softmax",
        "LogSoftmax",
        OfOneTensor(
            f=ref.log_softmax,
            vjp=ref.log_softmax_vjp,
            jvp=ref.log_softmax_jvp,
            hvp=ref.log_softmax_hvp,
            error=ref.log_softmax_error,
            grad_error=ref.log_softmax_vjp_error,
            jvp_error=ref.log_softmax_jvp_error,
            hvp_error=ref.log_softmax_hvp_error,
        ),
    ),
    *softmax_like(
        "softmax",
        "Softmax",
        OfOneTensor(
            f=ref.softmax,
            vjp=ref.softmax_vjp,
            jvp=ref.softmax_jvp,
            hvp=ref.softmax_hvp,
            error=ref.softmax_error,
            grad_error=ref.softmax_vjp_error,
            jvp_error=ref.softmax_jvp_error,
            hvp_error=ref.softmax_hvp_error,
            others=lambda dtype, x: [flushed_in(dtype, ref.softmax(x))],
        ),
    ),
)
