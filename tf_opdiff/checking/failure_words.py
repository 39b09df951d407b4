"""Failure words: how a callable failed in eager mode, in a line that says what was expected and what came."""

from __future__ import annotations

import re

from tf_opdiff.harness.device.observation import Result

#: TensorFlow's message about a result that is no tensor, at its beginning and end: the value can be long.
_NO_TENSOR = re.compile(
    r"^Attempt to convert a value \(.*with an unsupported type \(<class '(?:\w+\.)*(\w+)'>\)", re.DOTALL
)


def how(failed: Result) -> str:
    """How a result of a callable failed."""
    if no_tensor := _NO_TENSOR.match(failed.message):
        came = "None" if no_tensor[1] == "NoneType" else f"a {no_tensor[1]}"
        return f"it returned {came}; expected a tensor, or a tuple of tensors"
    if failed.code.startswith("EXIT"):
        return f"it ends its process ({failed.code}), as sys.exit does"
    return " ".join(": ".join(filter(None, (failed.code, failed.message))).split())
