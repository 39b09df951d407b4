"""Setting trials: the settings of TensorFlow under which a discrepancy was tried, and the one that it depends on.

A setting is a variant of the device. A discrepancy is tried as it is, and must show; then under each variant that can
matter in its mode. Where a variant that turns off all passes of a kind makes it vanish, the passes are turned off one
after the other, until it vanishes again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tf_opdiff.harness.repro.trials.attribution import NONE
from tf_opdiff.harness.spec.modes import MODE, xla_compiles
from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.harness.spec.settings.rewrites import ALL, HLO_PASSES, REWRITERS
from tf_opdiff.harness.spec.settings.variant import VARIANTS, split

_REWRITERS, _PASSES = f"norewriter={ALL}", f"nohlo={ALL}"
#: A variant that turns off all passes of a kind → the variants that turn off one.
SINGLE = {
    _REWRITERS: tuple(f"norewriter={name}" for name in REWRITERS),
    _PASSES: tuple(f"nohlo={name}" for name in HLO_PASSES),
}
#: The variants that can matter to a program that XLA compiles, and to one that runs kernels. Grappler rewrites the
#: traced ones of the latter alone: XLA compiles what Grappler would rewrite as it is.
_COMPILED, _KERNELS = (_PASSES, "noexcess", "nofma"), ("noonednn", "deterministic")
#: The statuses of a trial by which a discrepancy is there, or not.
SHOWN, GONE = "reproduced", "not reproduced"


def variants(plan: Plan) -> tuple[str, ...]:
    """The variants to try for a plan, those that turn off all passes of a kind first."""
    of_kernels = (*_KERNELS, *((_REWRITERS,) if MODE[plan.mode].traced else ()))
    every = _COMPILED if xla_compiles(plan.mode) else of_kernels
    names = [name for name in every if name not in plan.device.variants]
    types = {name: VARIANTS[split(name)[0]].types for name in names}
    return tuple(name for name in names if plan.device.type in types[name] or not types[name])


@dataclass
class SettingTrials:
    """The trials of one discrepancy so far: variant → status; the empty name is that of the device as it is."""

    tried: dict[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> bool:
        """Whether the discrepancy is there on the device as it is."""
        return self.tried.get("") == SHOWN

    @property
    def gone_under(self) -> list[str]:
        """The variants with which the discrepancy vanishes."""
        return [name for name, status in self.tried.items() if status == GONE and name]

    @property
    def unresolved(self) -> list[str]:
        """The variants that turn off all passes of a kind, and make it vanish, where no single one is known to."""
        gone = self.gone_under
        return [name for name in gone if name in SINGLE and not {*SINGLE[name]} & {*gone}]

    @property
    def switch(self) -> str:
        """The variant that the discrepancy depends on, as in `Attribution`; one pass before all of them."""
        if not self.shown:
            return ""
        if gone := self.gone_under:
            return next((name for name in gone if name not in SINGLE), gone[0])
        return NONE if len(self.tried) > 1 and {*self.tried.values()} == {SHOWN} else ""
