"""Kinds: the kinds of difference, in one table: their meaning, their severity, and the words for them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of difference.

    Attributes:
      meaning: a sentence for the reference of records.
      predicate: the words about a spec that fails by this kind: `relu` + predicate.
      severity: the severity of an unexplained difference, where the kind alone decides; see
        `harness.judge.verdicts.severity`.
      of_elements: whether single elements differ, so that the region of a known failure can be about it.
      measured: whether the difference has a distance.
      of_results: whether two results differ, neither of which is an error.
      by_chance: whether the same call may differ in one run and not in the next.
      itself: in a self-check, what the difference between a run and its repetition is; empty for other kinds.
      got, want: the words for the observed and the expected number of an element.
    """

    name: str
    meaning: str
    predicate: str
    severity: str = ""
    of_elements: bool = False
    measured: bool = False
    of_results: bool = False
    by_chance: bool = False
    itself: str = ""
    got: str = "got {}"
    want: str = "want {}"


_TABLE = (
    Kind(
        name="status",
        meaning="One side gave a value, the other an error, a crash, a hang or no kernel.",
        predicate="gives an error in place of a value, or a value in place of an error",
        severity="error",
    ),
    Kind(
        name="error_code",
        meaning="Both sides gave an error, with different codes.",
        predicate="raises another error than expected",
        severity="convention",
    ),
    Kind(
        name="crash",
        meaning="The process of the op died; `detail` names the signal.",
        predicate="crashes",
        severity="memory",
    ),
    Kind(name="hang", meaning="The op did not return in time.", predicate="hangs", severity="memory"),
    Kind(
        name="shape",
        meaning="The shapes differ.",
        predicate="gives a wrong shape",
        severity="wrong_value",
        of_results=True,
    ),
    Kind(
        name="dtype",
        meaning="The dtypes differ.",
        predicate="gives a wrong dtype",
        severity="wrong_value",
        of_results=True,
    ),
    Kind(
        name="nan",
        meaning="A NaN stands on one side only.",
        predicate="gives NaN where a number is expected, or a number where NaN is",
        severity="special_value",
        of_elements=True,
        of_results=True,
    ),
    Kind(
        name="inf",
        meaning="An infinity stands on one side only, or has the other sign.",
        predicate="gives a wrong infinity",
        severity="special_value",
        of_elements=True,
        of_results=True,
    ),
    Kind(
        name="signed_zero",
        meaning="Both are zero, with different signs.",
        predicate="gives a zero of the wrong sign",
        severity="special_value",
        of_elements=True,
        of_results=True,
    ),
    Kind(
        name="subnormal",
        meaning="One side is subnormal, the other zero.",
        predicate="gives 0 in place of a subnormal number",
        severity="special_value",
        of_elements=True,
        of_results=True,
    ),
    Kind(
        name="value",
        meaning="The values differ by more than the budget.",
        predicate="gives wrong values",
        of_elements=True,
        measured=True,
        of_results=True,
    ),
    Kind(
        name="gradient_status",
        meaning="Unconnected (None), zeros and `IndexedSlices` are three gradients; one came for another.",
        predicate="gives a gradient of the wrong kind (missing, zeros, dense or sparse)",
        severity="wrong_gradient",
        of_elements=True,
    ),
    Kind(
        name="nondeterministic",
        meaning="A second run gave other bits.",
        predicate="gives different results when it runs twice",
        of_elements=True,
        of_results=True,
        by_chance=True,
        itself="two runs of the same program give different results",
        got="got {} in the second run",
        want="want {} as in the first",
    ),
    Kind(
        name="position",
        meaning="The result depends on the position of the element in the tensor, by more than the budget.",
        predicate="gives results that depend on the position in the tensor",
        of_elements=True,
        measured=True,
        of_results=True,
        itself="the value depends on its position in the tensor (alone, in vector lanes, in the tail, in a batch)",
        got="got {} in a smaller tensor",
        want="want {} as in the whole one",
    ),
    Kind(
        name="batch",
        meaning="A row of a batch has another result when it is alone, by more than the budget.",
        predicate="gives results that depend on the size of the batch",
        of_elements=True,
        measured=True,
        of_results=True,
        itself="the result of a row depends on the size of its batch",
        got="got {} when the row is alone",
        want="want {} as in the batch",
    ),
    Kind(
        name="leak",
        meaning="A row of a batch has another result beside rows of NaN and infinities, by more than the budget.",
        predicate="gives results that depend on NaN or infinities in other rows",
        of_elements=True,
        of_results=True,
        itself="NaN or infinities in other rows change the result of a row",
        got="got {} beside rows of NaN and infinities",
        want="want {} as beside ordinary rows",
    ),
    Kind(
        name="input_mutated",
        meaning="The op changed its input.",
        predicate="changes its inputs",
        severity="memory",
        of_elements=True,
        itself="the op changes its input",
        got="got {} after the run",
        want="want {} as before it",
    ),
    Kind(
        name="reference",
        meaning="The two references of the spec disagree.",
        predicate="has a reference that fails",
    ),
)
#: Kinds by name; a record with several kinds has them in this order.
KIND = {kind.name: kind for kind in _TABLE}
#: Their names.
KINDS = tuple(KIND)
#: Kinds, and statuses of results, of a process that died or did not answer in time.
NO_ANSWER = ("crash", "hang")
#: The kinds that have a distance.
MEASURED = tuple(kind.name for kind in _TABLE if kind.measured)
#: The kinds of single elements.
OF_ELEMENTS = tuple(kind.name for kind in _TABLE if kind.of_elements)
#: The kinds whose numbers stand for a whole array and its repetition.
OF_ARRAYS = tuple(kind.name for kind in _TABLE if kind.of_results and kind.itself)
