"""Planted twins of OpDefs whose tables say less than TensorFlow has: Floor allows float32, and Floor has its kernel."""

from tf_opdiff.suites.derived.op_types import OpTypes
from tf_opdiff.suites.derived.other_dtypes import refused_dtypes, twins
from tf_opdiff.suites.derived.refused_calls import refused_calls

_WITHOUT = {"CPU": ("float64",), "XLA_CPU_JIT": ("float32", "float64")}
_REFUSES = OpTypes(name="Floor", inputs={"x": "T"}, allowed={"T": ("float64",)}, kernels={"T": {}})
_LACKS = OpTypes(name="Floor", inputs={"x": "T"}, allowed={"T": ("float32", "float64")}, kernels={"T": _WITHOUT})

SPECS = (
    *refused_dtypes([_REFUSES]),
    *refused_calls([_REFUSES]),
    *twins(_REFUSES),
    *(s for s in twins(_LACKS) if s.aspect == "dtypes-of-xla"),
)
