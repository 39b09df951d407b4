"""Override matrix: seven overrides by each mechanism, in each place and mode.

`suites.forms.overrides` has the declarations. Further specs of overrides are in `overrides.py` and `override_map.py`:
other gradients, other dtypes, and mistakes.
"""

from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.suites.forms.overrides.declaration import OVERRIDES
from tf_opdiff.suites.forms.overrides.outcomes import expressible
from tf_opdiff.suites.forms.overrides.specs import MECHANISMS, PLACES, spec

#: The places of the default tier; all others are in the full tier.
DEFAULT = ("plain", "called", "cond", "loop")


def _absent(override):
    """The mechanisms that can't express an override in any mode, and why."""
    reasons = {
        part.title: {expressible(override, name, "plain", m) for m in MODES} for name, part in MECHANISMS.items()
    }
    return {title: min(of_modes) for title, of_modes in reasons.items() if "" not in of_modes}


SPECS = tuple(
    spec(
        override,
        mechanism,
        place,
        tier="default" if place in DEFAULT else "full",
        absent=_absent(override) if mechanism == "none" and place == "plain" else None,
    )
    for override in OVERRIDES
    for mechanism, part in MECHANISMS.items()
    if part.title not in _absent(override)
    for place in PLACES
)
