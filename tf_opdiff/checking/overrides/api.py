"""Override API: `check_override`, which says where TensorFlow applies a gradient override."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from tf_opdiff.checking.api import Differs, checker
from tf_opdiff.checking.inputs import as_source
from tf_opdiff.checking.overrides.request import PLACE_NAMES, OverrideAnswer, OverrideRequest, OverrideResult
from tf_opdiff.checking.overrides.table import text
from tf_opdiff.checking.pickling import pickled, pickled_program
from tf_opdiff.checking.request import ULP
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.system.number_argument import SECONDS, ULPS


class NotApplied(Differs):
    """An override is not applied in a place and mode, or not as the suites expect; the message has the table.

    Attributes:
      results: one for each place, device and mode.
    """

    def __init__(self, message: str, results: tuple[OverrideResult, ...] = ()) -> None:
        super().__init__(message)
        self.results = results


@dataclass(frozen=True)
class OverrideChecked:
    """A check of an override that found it applied in every place and mode that was run, or as the suites expect.

    Attributes:
      results: one for each place, device and mode.
      table: the states by place and mode, and the proofs, as text.
    """

    results: tuple[OverrideResult, ...]
    table: str


class OverrideOptions(TypedDict, total=False):
    """The options of a check of an override.

    Attributes:
      places: `plain`, `called`, `cond`, `loop`, `cond-v1`, `loop-v1`, `nested`, `second-order`, `forward-mode`,
        `fitted`; all by default.
      modes: `eager`, `function`, `xla`, `graph`; all by default.
      devices: names such as `cpu` and `gpu:0`; by default, all that TensorFlow lists.
      ulp: the allowed distance of gradients, in ULPs of their dtype; 16 by default.
      timeout: seconds for one run; 120 by default.
      rerun: a command for the message of a failure.
    """

    places: Collection[str] | None
    modes: Collection[str] | None
    devices: Collection[str]
    ulp: float
    timeout: float
    rerun: str


def check_override(
    function: Callable[..., Any] | str,
    *inputs: Any,
    gradient: Callable[..., Any] | None = None,
    without: Callable[..., Any] | None = None,
    **options: Unpack[OverrideOptions],
) -> OverrideChecked:
    """Runs a callable with a gradient override in each place and mode, and says where TensorFlow applies it.

    The places are those of the suites' override matrix: by itself, in a called `tf.function`, in a branch of `tf.cond`,
    in the body of `tf.while_loop`, the same in v1's control flow, nested in another `tf.custom_gradient`, for second
    order, in forward mode, and in a fitted Keras layer. The callable may use any mechanism.

    Args:
      function: takes tensors, floats of one dtype first; returns a tensor of the shape and dtype of the first. Or the
        name of an override of the suites, such as `floor-map`, which needs no inputs and no gradient.
      inputs: arrays, numbers, or domains, from `uniform`.
      gradient: what the gradient should be: takes the upstream gradient and the inputs as NumPy arrays; returns a
        gradient for each input, or None where there is none. It must not use TensorFlow.
      without: the callable without the override. With it, `ignored` is proved: the gradient is the one that this
        callable has in the same place and mode. Without it, only a missing gradient, or zeros, count as ignored.
      options: see `OverrideOptions`.

    Raises:
      NotApplied: the override is not applied in a place and mode; one of the suites: not as they expect on a CPU.
      TypeError: there is no input or no gradient, an input holds no numbers, or the callable holds an object that can't
        be sent to another process; or there is no such option.
      ValueError: the check can't be made: a device, a place or a mode does not exist, the callable fails in every mode
        or returns something else, or no gradient can show whether the override is applied.
      RuntimeError: the checker's process ended.
    """
    if unknown := sorted(options.keys() - OverrideOptions.__annotations__.keys()):
        raise TypeError(f"check: no option {unknown[0]!r}; there is {', '.join(OverrideOptions.__annotations__)}")
    if isinstance(function, str):
        if inputs or gradient or without:
            raise TypeError(f"check: override {function!r} of the suites has inputs and a gradient: expected no others")
        request = OverrideRequest(name=function, **_common(options))
    else:
        request = _own(function, inputs, gradient, without, options)
    answer: OverrideAnswer = checker().ask(request)
    if answer.problem:
        raise ValueError(f"check: {answer.problem}")
    table = text(answer)
    if any(result.failing for result in answer.results):
        rerun = f"\n  rerun: {options['rerun']}" if "rerun" in options else ""
        raise NotApplied(table + rerun, answer.results)
    return OverrideChecked(answer.results, table)


def _own(
    function: Callable[..., Any],
    inputs: tuple[Any, ...],
    gradient: Callable[..., Any] | None,
    without: Callable[..., Any] | None,
    options: OverrideOptions,
) -> OverrideRequest:
    """The request with a user's callable."""
    if not inputs:
        raise TypeError("check: expected an input; without one there is no gradient")
    if gradient is None:
        raise TypeError("check: expected gradient=, what the gradient should be")
    program, variables = pickled_program(function)
    functions = {"program": program, "gradient": pickled(gradient)[0]}
    if without is not None:
        functions["without"] = pickled_program(without)[0]
    return OverrideRequest(
        name=getattr(function, "__name__", type(function).__name__).replace("<lambda>", "callable"),
        functions=functions,
        sources=tuple(map(as_source, inputs)),
        variables=variables,
        **_common(options),
    )


def _common(options: OverrideOptions) -> dict[str, Any]:
    """The parts of a request that every override has.

    Raises:
      ValueError: there is no such place or mode, or a number makes no sense.
    """
    places, modes = options.get("places") or PLACE_NAMES, options.get("modes") or MODES
    for noun, names, all_names in (("place", places, PLACE_NAMES), ("mode", modes, MODES)):
        if unknown := sorted(set(names) - set(all_names)):
            raise ValueError(f"check: {noun} {unknown[0]!r} is none of {', '.join(all_names)}")
    return {
        "places": tuple(places),
        "modes": tuple(mode for mode in MODES if mode in modes),
        "devices": tuple(options.get("devices", ())),
        "ulp": ULPS.checked(options.get("ulp", ULP)),
        "timeout": SECONDS.checked(options.get("timeout", 120.0)),
    }
