"""Detail: the text of a record that says why it has its verdict, and which entries of known failures decided it."""

from __future__ import annotations

from tf_opdiff.harness.device.observation import Observation
from tf_opdiff.harness.judge.differences import wording
from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.harness.judge.known_failures.explanation import Explanation
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.judge.known_failures.selectors import listed

#: The beginning of the detail of a match where an entry would be stale on a processor that was measured.
NOT_SEEN = "Not seen on this processor"
#: The beginning of the detail of a known failure that was measured on other processors only.
PROBABLE = "Probably this cause: no processor with these traits was measured."
#: Why there is no promise of an error.
_HAS_KERNEL = "this device has a kernel, and the promise is about devices without one"


def detail(
    verdict: str, explanation: Explanation, comparison: Comparison, observation: Observation, known: Known
) -> str:
    """The reason for the verdict, and the kinds that the comparison does not show."""
    if verdict == "error":
        return observation.fault or explanation.fault
    if verdict == "unavailable":
        more = "" if comparison.detail == observation.lacking else f": {comparison.detail}"
        return (observation.lacking or _HAS_KERNEL) + more
    parts = [comparison.detail, wording.others(comparison)]
    if explanation.probable and verdict == "known":
        parts = [PROBABLE, *parts]
    if explanation.absent and verdict in ("match", "contract"):
        causes = ", ".join(dict.fromkeys(entry.cause.id for _, entry in explanation.absent))
        parts = [f"{NOT_SEEN}: {causes}.", *parts]
    if verdict == "stale":
        parts = [spent(explanation, known), *parts]
    elif verdict == "mismatch" and explanation.here:
        parts = [_expected(explanation, known), *parts]
    return " ".join(filter(None, parts))


def _expected(explanation: Explanation, known: Known) -> str:
    """The kinds that entries expect at the place of a mismatch."""
    each = (
        " ".join(filter(None, (f"{known.stands(n)} expects {e.kind}", "/".join(listed(e.code)), e.limits)))
        for n, e in explanation.here
    )
    expected = {entry.kind for _, entry in explanation.here if entry.where or entry.within}
    counts = {kind: count for kind, count in explanation.outside.items() if count and kind in expected}
    left = ", ".join(f"{count} of kind {kind}" for kind, count in counts.items())
    return f"{'; '.join(each)} here{f'; other elements: {left}' if left else ''}."


def spent(explanation: Explanation, known: Known) -> str:
    """The entries that are about a place at which their kind does not occur."""
    each = dict.fromkeys(f"{known.stands(n)} ({e.cause.reason})" for n, e in explanation.spent)
    kinds = "/".join(dict.fromkeys(entry.kind for _, entry in explanation.spent))
    fails = f"no longer fails by {kinds}" if explanation.kinds else "no longer fails"
    return f"{fails}: delete or narrow {'; '.join(each)}"
