"""Failure title: the sentence about a failure that nobody has explained."""

from __future__ import annotations

from collections.abc import Collection

from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.harness.store.record import CLAIM

#: The predicate of a sentence about a failing spec, by kind.
_PREDICATES = {
    "status": "gives an error in place of a value, or a value in place of an error",
    "error_code": "raises another error than expected",
    "crash": "crashes",
    "hang": "hangs",
    "shape": "gives a wrong shape",
    "dtype": "gives a wrong dtype",
    "nan": "gives NaN where a number is expected, or a number where NaN is",
    "inf": "gives a wrong infinity",
    "signed_zero": "gives a zero of the wrong sign",
    "subnormal": "gives 0 in place of a subnormal number",
    "value": "gives wrong values",
    "gradient_status": "gives a gradient of the wrong kind (missing, zeros, dense or sparse)",
    "nondeterministic": "gives different results when it runs twice",
    "position": "gives results that depend on the position in the tensor",
    "batch": "gives results that depend on the size of the batch",
    "leak": "gives results that depend on NaN or infinities in other rows",
    "input_mutated": "changes its inputs",
    "reference": "has a reference that fails",
}


def failure_title(spec: str, verdict: str, kind: str, *, quantities: Collection[str], against: str) -> str:
    """The sentence, without a full stop: `The gradient of floor gives wrong values`.

    Args:
      spec: the name of the failing spec.
      verdict: the verdict of its records, one of `harness.store.record.FAILING`.
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
    return f"{subject} {_PREDICATES.get(kind, 'fails')}"
