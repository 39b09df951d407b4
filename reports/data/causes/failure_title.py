"""Failure title: the sentence about a failure that nobody has explained."""

from __future__ import annotations

from collections.abc import Collection

from tf_opdiff.harness.spec.kinds import KIND
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.harness.store.records.record import CLAIM


def failure_title(spec: str, verdict: str, kind: str, *, quantities: Collection[str], against: str) -> str:
    """The sentence, without a full stop: `The gradient of floor gives wrong values`.

    Args:
      spec: the name of the failing spec.
      verdict: the verdict of its records, one of `harness.store.records.record.FAILING`.
      kind: their kind.
      quantities: the quantities that differ.
      against: the oracle of the record that represents them.
    """
    if verdict == "stale":
        return f"{spec} no longer fails as its known failure says"
    if verdict == "error":
        return f"The suite itself is at fault, so {spec} proves nothing"
    if against.startswith(CLAIM):
        return f"{spec} gives another verdict on a claim than expected"
    subject = spec if "output" in set(map(family_of, quantities)) else f"The gradient of {spec}"
    return f"{subject} {KIND[kind].predicate if kind in KIND else 'fails'}"
