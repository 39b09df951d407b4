"""Own tests: whether the default tolerances of TensorFlow's own tests would notice a difference."""

from __future__ import annotations

import cmath

from tf_opdiff.harness.spec.modes import xla_compiles
from tf_opdiff.harness.store.records.record import Record

#: The tolerances, relative and absolute alike, of `assertAllCloseAccordingToType`; it has another for small dtypes.
_ALL_CLOSE, _SMALL = 1e-6, {"float16": 1e-3, "bfloat16": 1e-2}
#: The tolerances of `_assertOpOutputMatchesExpected` in tensorflow/compiler/tests/unary_ops_test.py.
_XLA = (1e-3, 1e-5)


def noticed(record: Record) -> str:
    """A sentence about the example of a record; empty if its two results are no numbers, such as errors and arrays."""
    try:
        got, want = complex(record.got), complex(record.want)
    except ValueError:
        return ""
    if xla_compiles(record.mode):
        relative, absolute = _XLA
        tests = "The tolerances of TensorFlow's tests under XLA (1e-3, 1e-5 in compiler/tests/unary_ops_test.py)"
    else:
        relative = absolute = _SMALL.get(record.dtype, _ALL_CLOSE)
        tests = f"The tolerances of TensorFlow's `assertAllCloseAccordingToType` ({relative:g} for {record.dtype})"
    return f"{tests} {'allow' if _close(got, want, relative, absolute) else 'do not allow'} this result."


def _close(got: complex, want: complex, relative: float, absolute: float) -> bool:
    """As NumPy's `allclose`, where NaN equals NaN."""
    if got == want or (cmath.isnan(got) and cmath.isnan(want)):
        return True
    return cmath.isfinite(want) and abs(got - want) <= absolute + relative * abs(want)
