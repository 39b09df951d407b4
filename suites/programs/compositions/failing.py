"""Failing ops whose result is unused, multiplied by zero, or not chosen.

Eager mode runs every op, so every failing op raises. A graph runs only the ops that its results need, and may not raise
for an unused op; an op with side effects, such as Assert, counts as needed in a `tf.function`. An op whose result is
multiplied by zero is needed.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.forms.programs.control_flow import XLA

_STRICT = "https://www.tensorflow.org/guide/intro_to_graphs#non-strict_execution"
_GATHER = "https://www.tensorflow.org/api_docs/python/tf/gather"
_UNUSED = Side(
    reference=lambda x: 2 * x,
    why="a graph runs only the ops that its results need, and an error is no such result",
    link=_STRICT,
)


def _ignored(reference: Callable[..., Any]) -> dict[str, Side]:
    """The contract of an assertion that fails: XLA compiles none, and the program goes on."""
    return {"*/xla": Side(reference=reference, why="XLA compiles no assertion", link=XLA)}


def _unused(failing: Callable[..., Any]) -> Callable[..., Any]:
    """The program that runs an op, and returns twice its input."""

    def program(tf, x):  # without annotations: scripts of findings hold this text
        failing(tf, x)
        return 2 * x

    return program


def _plain(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    return (draw.values(dtype, 7),)


def _failing(name: str, program: Callable[..., Any], says: str, dtype: str = "float32", **fields: Any) -> Spec:
    """A program that raises INVALID_ARGUMENT, except under the plans of a contract."""
    return Spec(
        name=f"compose-failing-{name}",
        program=program,
        reference=lambda x: Raises("INVALID_ARGUMENT", says),
        recipes={"plain": _plain},
        ops="",
        dtypes=(dtype,),
        **fields,
    )


def _zeroed(reference: Callable[..., Any], *modes: str) -> dict[str, Side]:
    """The contract of a gather whose index is out of range: kernels for GPUs raise no error."""
    side = Side(reference=reference, why="on GPU a 0 is stored in the corresponding output value", link=_GATHER)
    return {f"gpu/{mode}": side for mode in modes}


_PRUNED = {"*/function": _UNUSED, "*/graph": _UNUSED, "*/xla": _UNUSED}
_RANGE, _DIVISION, _NUMERICS = "is not in", "division by zero", "Tensor had NaN"

SPECS = (
    _failing(
        "gather-unused",
        _unused(lambda tf, x: tf.gather(x, [100])),
        _RANGE,
        contract=_PRUNED | _zeroed(lambda x: 2 * x, "eager"),
    ),
    _failing(
        "gather-times-zero",
        lambda tf, x: tf.gather(x, [100]) * 0.0 + x,
        _RANGE,
        contract=_zeroed(lambda x: x, "eager", "function", "graph"),
    ),
    _failing(
        "gather-times-zero-int32",
        lambda tf, x: tf.gather(x, [100]) * 0 + x,
        _RANGE,
        "int32",
        contract=_zeroed(lambda x: x, "eager", "graph"),  # a function computes int32 on the host
    ),
    _failing(
        "gather-not-chosen",
        lambda tf, x: tf.where(False, tf.gather(x, [100]), x),
        _RANGE,
        contract=_zeroed(lambda x: x, "eager", "graph"),  # a function computes constants on the host
    ),
    _failing("division-unused", _unused(lambda tf, x: x // 0), _DIVISION, "int32", contract=_PRUNED),
    _failing("division-times-zero", lambda tf, x: (x // 0) * 0, _DIVISION, "int32"),
    _failing("division-of-zero", lambda tf, x: (x * 0) // (x - x), _DIVISION, "int32"),
    _failing("remainder-not-chosen", lambda tf, x: tf.where(x < -99, x % (x - x), x), _DIVISION, "int32"),
    _failing(
        "check-numerics-unused",
        _unused(lambda tf, x: tf.debugging.check_numerics(x * np.nan, "here")),
        _NUMERICS,
        contract={"*/graph": _UNUSED} | _ignored(lambda x: 2 * x),
    ),
    _failing(
        "check-numerics-times-zero",
        lambda tf, x: tf.debugging.check_numerics(x * np.nan, "here") * 0.0,
        _NUMERICS,
        contract=_ignored(lambda x: x * np.float32(np.nan)),
    ),
    _failing(
        "assert-unused",
        _unused(lambda tf, x: tf.debugging.Assert(tf.reduce_any(x < -99.0), ["never"])),
        "",
        contract={"*/graph": _UNUSED} | _ignored(lambda x: 2 * x),
    ),
)
