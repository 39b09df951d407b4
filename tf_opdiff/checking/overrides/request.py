"""Override request: what a process asks of an override, and the answer, a state for each place and plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tf_opdiff.checking.inputs import Domain
from tf_opdiff.checking.request import ULP
from tf_opdiff.harness.spec.lists.override_cell import APPLIED, IGNORED, INEXPRESSIBLE, REFUSED
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.suites.forms.overrides.outcomes import FITTED
from tf_opdiff.suites.forms.overrides.specs import PLACES

#: The gradient is neither that of the override nor, as far as is known, the one without it.
OTHER = "other"
#: A kernel or a compiler is missing on the device.
UNAVAILABLE = "unavailable"
#: State → its meaning.
STATES: Mapping[str, str] = {
    APPLIED: "the gradient is that of the override; where overrides are nested, that of the outer one",
    IGNORED: "the gradient is the one without the override, which TensorFlow does not mention",
    REFUSED: "TensorFlow raises an error",
    OTHER: "the gradient is another one",
    UNAVAILABLE: "a kernel or a compiler is missing here",
    INEXPRESSIBLE: "there is no such program",
}
#: The name of the three places in which Keras fits a model, one for each mode.
FITTED_PLACE = "fitted"
#: The names of places, as users write them.
PLACE_NAMES = (*(name for name in PLACES if name not in FITTED), FITTED_PLACE)


@dataclass(frozen=True, kw_only=True)
class OverrideRequest:
    """A check of an override.

    name       the callable's name, or that of an override of the suites, such as `floor-map`.
    functions  pickled: `program`, `gradient` and, where the user gives it, `without`; empty for one of the suites.
    sources    the inputs: arrays and domains; empty for one of the suites.
    variables  whether the callable holds variables, which a v1 graph can't use.
    places     of `PLACE_NAMES`.
    ulp        the allowed distance of gradients in ULPs.
    devices    names of devices; empty: all that TensorFlow lists.
    timeout    seconds for one run.
    """

    name: str
    functions: Mapping[str, bytes] = field(default_factory=dict)
    sources: tuple[np.ndarray | Domain, ...] = ()
    variables: bool = False
    places: tuple[str, ...] = PLACE_NAMES
    modes: tuple[str, ...] = MODES
    devices: tuple[str, ...] = ()
    ulp: float = ULP
    timeout: float = 120.0


@dataclass(frozen=True)
class OverrideResult:
    """The override in one place under one plan.

    Attributes:
      place: one of `PLACE_NAMES`.
      title: the place in words.
      device, mode: the plan; of a fitted model, the mode in which Keras fits it.
      state: one of `STATES`.
      proof: what the run gave, or why there is no such program.
      expected: the state that the suites expect on a CPU; empty for an override of the user.
      why: the reason for that state, if the suites know one.
    """

    place: str
    title: str
    device: str
    mode: str
    state: str
    proof: str
    expected: str = ""
    why: str = ""

    @property
    def failing(self) -> bool:
        """Whether the state is another one than expected; of a user's override, whether it is not applied."""
        if self.expected:
            return self.state != self.expected
        return self.state in (IGNORED, REFUSED, OTHER)


@dataclass(frozen=True)
class OverrideAnswer:
    """The results of a check of an override, or a sentence that says why there are none."""

    title: str = ""
    results: tuple[OverrideResult, ...] = ()
    problem: str = ""
