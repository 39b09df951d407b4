"""Trial: a case of a suite under a plan with its observation, and the fields that all records of a run share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np

from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.judge.differences.operands import Operands
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.judge.known_failures.maturity import Maturity
from tf_opdiff.harness.judge.promises.mistaken import mistaken
from tf_opdiff.harness.judge.verdicts.blame import Blame
from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.harness.spec.quantity import family_of, number_of
from tf_opdiff.harness.spec.spec import Case

LOST = Result("error", code="MISSING", message="the run gave no such quantity")


@dataclass(frozen=True)
class Origin:
    """The origin of observations: the versions of TensorFlow and CUDA, and the machine."""

    tf: str
    cuda: str = ""
    host: str = ""


@dataclass(frozen=True, kw_only=True)
class Context:
    """The fields that all records of a run share.

    `elsewhere` has the origins of recorded and of remote devices, by their names.
    """

    run: str
    started: str
    here: Origin
    known: Known
    maturity: Maturity = field(default_factory=Maturity)
    elsewhere: Mapping[str, Origin] = field(default_factory=dict)

    def origin(self, device: str) -> Origin:
        """The origin of a device's observations."""
        return self.elsewhere.get(device, self.here)


@dataclass(frozen=True)
class Trial:
    """A case of a suite under a plan, its inputs, its upstreams (see `Operands`) and its observation.

    `blame` finds the elements of the inputs that an example shows; without it, an example shows those at its index.
    """

    suite: str
    case: Case
    plan: Plan
    observation: Observation = field(default_factory=lambda: Observation({}))
    inputs: Sequence[np.ndarray] = ()
    upstreams: Sequence[np.ndarray | None] = ()
    blame: Blame | None = None

    def result(self, quantity: str) -> Result:
        """The result of a quantity; `LOST` if the run gave none."""
        return self.observation.quantities.get(quantity, LOST)

    def operands(self, quantity: str) -> Operands:
        """The arrays of which a quantity is computed. `grad[i]` and `hvp[i]` belong to input i."""
        own = number_of(quantity) if family_of(quantity) in ("grad", "hvp") else None
        wrong = cache(partial(mistaken, self.case, quantity, self.inputs, self.upstreams))  # for several entries
        return Operands(self.inputs, self.upstreams, own, wrong)
