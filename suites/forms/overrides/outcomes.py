"""Outcomes: by override, mechanism, place and mode, whether TensorFlow applies the override, and why not."""

from __future__ import annotations

from dataclasses import dataclass

from tf_opdiff.harness.spec.lists.override_cell import APPLIED, IGNORED, OWN, REFUSED
from tf_opdiff.harness.spec.spec import Raises
from tf_opdiff.suites.forms.contracts import TAPE, TAPE_LINK
from tf_opdiff.suites.forms.overrides.declaration import Override

_API = "https://www.tensorflow.org/api_docs/python/tf/"
_SOURCE = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/"
_FORWARD_TEST = f"{_SOURCE}python/eager/forwardprop_test.py"
_GATHER = "https://openxla.org/xla/operation_semantics#gather"

#: The names of places; the fitted ones run in eager mode, and Keras chooses how.
FITTED = {"fitted-eagerly": "eager", "fitted-in-function": "function", "fitted-by-xla": "xla"}
V1 = ("cond-v1", "loop-v1")
DERIVED = ("second-order", "forward-mode")
#: Mechanisms whose gradient `tf.custom_gradient` gives.
CUSTOM = ("custom-gradient", "keras-layer")


@dataclass(frozen=True)
class Outcome:
    """The outcome in one mode.

    state: one of `harness.spec.lists.override_cell.STATES`.
    why, link: the reason, and its source; empty if the override is applied.
    raises: the promise of an error; None if there is a result.
    known: TensorFlow is at fault: the spec promises the override, and a known failure has the difference.
    """

    state: str = APPLIED
    why: str = ""
    link: str = ""
    raises: Raises | None = None
    known: bool = False


_UNSUPPORTED = Raises("INVALID_ARGUMENT", "unsupported operations")
_NO_PYTHON = Outcome(
    REFUSED, "XLA compiles no Python function: it has no kernel of PyFunc", f"{_API}numpy_function", _UNSUPPORTED
)
_NO_KERNEL = Outcome(
    REFUSED, "XLA compiles ops that have a kernel for XLA, and this library has none", f"{_API}function", _UNSUPPORTED
)
_TAPED = Outcome(IGNORED, TAPE, TAPE_LINK)
_EAGER = Outcome(
    IGNORED,
    "an eager op is no node of a graph, so the map has nothing to mark; the tape goes by the op's type",
    TAPE_LINK,
)
_NO_OP = Outcome(
    IGNORED,
    "executed eagerly, py_func calls the function and makes no op, so the map has nothing to mark",
    f"{_API}compat/v1/py_func",
)
_NO_IF = Outcome(
    IGNORED, "v1's cond is made of Switch and Merge: there is no op that the map could mark", f"{_API}cond"
)
_CUSTOM_FORWARD = Outcome(
    IGNORED,
    "forward mode differentiates the ops inside the function and does not ask for its custom gradient",
    _FORWARD_TEST,
    known=True,
)
_TRANSPOSED = Raises("NotImplementedError", "recompute_grad tried to transpose grad")
_RECOMPUTED = Outcome(
    REFUSED,
    "in a graph, the second derivative of recompute_grad is the error that is meant for forward mode",
    f"{_SOURCE}python/ops/custom_gradient.py#L755",
    known=True,
)
_FORWARDED = Outcome(
    REFUSED,
    "recompute_grad has no forward mode: its authors made that an error, NotImplementedError",
    "https://github.com/tensorflow/tensorflow/pull/39042",
    _TRANSPOSED,
)
_FORWARD = "forward mode goes by the type of an op and never sees the mark that the map left on the node"
_CAPTURED = Outcome(
    REFUSED,
    "in a branch or a body, the gradient of recompute_grad calls the function again in another graph, and can't reach "
    "the variable that the function updates",
    f"{_SOURCE}python/ops/custom_gradient.py#L740",
    known=True,
)
_OWN = Outcome(OWN)
_WITHOUT_GRADIENT = Outcome(
    OWN,
    "the op has no gradient, and Keras raises ValueError for a weight without one",
    "https://www.tensorflow.org/api_docs/python/tf/keras/optimizers/Optimizer",
    Raises("ValueError", "No gradients provided"),
)


def expressible(override: Override, mechanism: str, place: str, mode: str) -> str:
    """Why no program has this place and mode; empty if one has."""
    if mechanism == "compiled-op" and not override.compiled:
        return "an op in C++ calls no Python function: it would not be a py_func"
    if place in V1 and mode != "graph":
        return "v1 control flow exists in v1 graphs alone: eager mode runs a branch, and a tf.function has v2's ops"
    if place in FITTED and mode == "graph":
        return "Keras 3 trains no model in a v1 graph and session"
    return ""


def outcome(override: Override, mechanism: str, place: str, mode: str) -> Outcome:
    """The outcome in a mode that can express the program; `mode` is that in which Keras fits a model."""
    return (
        _refusal(override, mechanism, place, mode)
        or (_OWN if mechanism == "none" else None)
        or _of_derivative(override, mechanism, place, mode)
        or _of_map(override, mechanism, place, mode)
        or Outcome()
    )


def _refusal(override: Override, mechanism: str, place: str, mode: str) -> Outcome | None:
    """The error that makes the whole program fail, with or without an override; None if there is none."""
    python = override.python or mechanism == "py-func"
    if place in FITTED and mechanism == "none" and not override.has_gradient:
        return _WITHOUT_GRADIENT
    trained = place not in FITTED or mechanism not in ("map", "py-func")  # there, Keras refuses before XLA does
    unused = place == "forward-mode" and mechanism == "compiled-op"  # only its registered gradient runs
    if mode == "xla" and python and trained and not (place == "forward-mode" and mechanism == "recompute-grad"):
        return _NO_PYTHON
    if mode == "xla" and mechanism == "compiled-op" and not unused:
        return _NO_KERNEL
    untrained = place == "fitted-in-function" and mechanism == "py-func"
    if override.refused and mode != "xla" and not untrained and not _pruned(mechanism, place, mode):
        raises = override.refused
        if mechanism == "py-func":
            eager = mode == "eager" and place != "called"
            raises = Raises("IndexError" if eager else "UNKNOWN", "out of bounds")
        why = "the forward pass refuses an index out of range on a CPU, before there is a gradient"
        return Outcome(REFUSED, why, f"{_API}gather", raises)
    return None


def _pruned(mechanism: str, place: str, mode: str) -> bool:
    """Whether a graph computes the derivative alone, so that no forward pass refuses the index."""
    if mode not in ("function", "graph") or place not in DERIVED:
        return False
    if place == "second-order" and mechanism != "none":
        return mechanism not in ("map", "py-func") or mode == "graph"
    if mechanism == "py-func":
        return mode == "graph"
    return mechanism in ("stop-gradient", "compiled-op", "recompute-grad")


def _of_derivative(override: Override, mechanism: str, place: str, mode: str) -> Outcome | None:
    """The outcome of second order, of forward mode and of a recomputed update, if it is not applied."""
    if mechanism == "recompute-grad" and place == "forward-mode":
        return _FORWARDED
    if mechanism == "recompute-grad" and place == "second-order" and mode != "eager":
        return _RECOMPUTED
    if mechanism == "recompute-grad" and override.updates and place in ("cond", "loop") and mode in ("function", "xla"):
        return _CAPTURED
    if mechanism in CUSTOM and place == "forward-mode":
        return None if mode == "eager" and not override.smooth else _CUSTOM_FORWARD
    return None


def _of_map(override: Override, mechanism: str, place: str, mode: str) -> Outcome | None:
    """Where a map is ignored."""
    if mechanism not in ("map", "py-func") or place == "nested":
        return None
    python = mechanism == "py-func" or override.python
    if place in FITTED:
        raises = Raises("ValueError", "No gradients provided") if python or not override.has_gradient else None
        lost = "; a weight without a gradient is a ValueError of Keras" if raises else ""
        first = _NO_OP if python and mode == "eager" else _EAGER if mode == "eager" else _TAPED
        return Outcome(IGNORED, first.why + lost, first.link, raises)
    if place == "forward-mode":
        return (
            _NO_OP if python and mode == "eager" else Outcome(IGNORED, _FORWARD, f"{_API}autodiff/ForwardAccumulator")
        )
    if mode == "eager" and place != "called":
        return _NO_OP if python else _EAGER
    if mode in ("function", "xla") and place in ("plain", "second-order"):
        return _TAPED
    return _NO_IF if place in V1 and override.branches and mechanism == "map" else None


def updates(mechanism: str, place: str, mode: str) -> int:
    """How often the update runs under which an op is made: once for each run of the op, and again if recomputed."""
    if place in DERIVED and mode == "graph":
        return 0  # a session runs only what its fetches need, and the derivative does not need the op
    once = 2 if place.startswith("loop") else 1
    return 2 * once if mechanism == "recompute-grad" and _recomputed(place, mode) else once


def _recomputed(place: str, mode: str) -> bool:
    """Whether the gradient of recompute_grad runs the update again.

    It does not where the recomputed result is pruned, in v1 graphs and in the graph of a called function, nor where the
    gradient is an error.
    """
    runs = {
        "plain": mode != "graph",
        "called": mode != "eager",
        "cond": mode in ("eager", "graph"),
        "loop": mode in ("eager", "graph"),
        "second-order": True,
    }
    return runs.get(place, place in FITTED)
