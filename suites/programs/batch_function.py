"""BatchFunction: a batch for a function, which waits for no other callers."""

from typing import Any

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.of_xla import OF_CPU
from tf_opdiff.suites.forms.programs.functions import of_dtypes, traced

#: Attributes that are about several callers.
_BATCHING = {
    "merged": {"mixed_priority_policy": "priority_merge"},
    "padded": {"mixed_priority_policy": "low_priority_padding_with_next_allowed_batch_size"},
    "isolated": {"mixed_priority_policy": "priority_isolation", "low_priority_max_batch_size": 4},
    "down": {"batch_padding_policy": "BATCH_DOWN"},
    "cheap": {"batch_padding_policy": "MINIMIZE_TPU_COST_PER_REQUEST"},
    "split": {"enable_large_batch_splitting": True},
}


def batched(tf, x, y, **attrs):
    """BatchFunction of a batch and a captured tensor, by a function that waits for no other callers: it is full."""
    (f,) = traced(tf, (x, y), lambda x, y: [tf.identity(x), tf.reshape(tf.identity(y), [-1])])
    threads = {"num_batch_threads": 1, "max_batch_size": 4, "batch_timeout_micros": 0}
    call = tf.raw_ops.BatchFunction
    return call(in_tensors=[x], captured_tensors=[y], f=f, Tout=[x.dtype, y.dtype], **threads, **attrs)


_BATCHED: dict[str, Any] = {
    "program": batched,
    "reference": lambda x, y, **attrs: (x, y),
    "recipes": {"rows": lambda draw, d: (draw.values(d, 4, 3), draw.values(d, 4))},
    "ops": "BatchFunction",
    "modes": WITHOUT_XLA,
}


SPECS = (
    *of_dtypes("batch-function", **_BATCHED, without_xla=OF_CPU),
    Spec(**_BATCHED, name="batch-function-attributes", attrs=_BATCHING, tier="full"),
)
