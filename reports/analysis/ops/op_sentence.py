"""Op sentence: how an op did in a run, in words."""

from __future__ import annotations

from collections.abc import Collection

from tf_opdiff.reports.analysis.ops.op_view import OpView, RecordGroup
from tf_opdiff.reports.data.causes.failure_title import failure_title
from tf_opdiff.reports.text.counted import many
from tf_opdiff.reports.text.sentences.sentence import number

#: The words for the families of quantities.
FAMILIES = {"output": "output", "grad": "gradient", "jvp": "forward gradient", "hvp": "second-order gradient"}


def tested(view: OpView) -> str:
    """What was compared, and how much of it differs: `6 dtypes × 4 plans, 628 comparisons, 3 discrepancies.`"""
    parts = []
    if view.rows:
        parts.append(f"{many(len(view.rows), 'dtype')} × {many(len(view.plans), 'plan')}")
        parts.append(many(view.comparisons, "comparison"))
    elif view.shared:
        parts.append(f"it ran only together with other ops, in {many(len(view.shared), 'spec')}")
    else:
        parts.append("only claims ran it")
    if view.rows or not view.elsewhere:
        parts.append(counts(view.discrepancies))
    others = f"; programs with other ops show {counts(view.elsewhere)}" if view.elsewhere else ""
    return f"{', '.join(parts)}{others}."


def counts(groups: Collection[RecordGroup]) -> str:
    """How many discrepancies there are by what they mean: `2 unexplained discrepancies, 1 known discrepancy`."""
    verdicts = [group.first["verdict"] for group in groups]
    nouns = {"mismatch": "unexplained discrepancy", "error": "fault of the suite", "known": "known discrepancy"}
    words = []
    for verdict, noun in nouns.items():
        if n := verdicts.count(verdict):
            words.append(f"{n:,} {_plural(noun) if n > 1 else noun}")
    if n := verdicts.count("stale"):
        words.append(f"{many(n, 'known failure')} that no longer {'fail' if n > 1 else 'fails'}")
    return ", ".join(words) or "no discrepancy"


def _plural(noun: str) -> str:
    return "faults of the suite" if noun == "fault of the suite" else noun.replace("discrepancy", "discrepancies")


def worst(view: OpView) -> str:
    """The distance that uses most of its budget, of those within it; empty where no distance was taken."""
    if not view.worst:
        return ""
    row, plan, cell = view.worst
    where = f"{row.dtype}, {quantity(row.quantity)} of {row.spec} on {plan}"
    nearest = f"the error nearest to its budget is {number(cell.max_ulp)} of {number(cell.budget)} ULP: {where}."
    words = "all distances are 0 ULP." if cell.max_ulp == 0 else nearest
    if not view.discrepancies:
        return words[0].upper() + words[1:]
    return f"Apart from {'it' if len(view.discrepancies) == 1 else 'these'}, {words}"


def title(group: RecordGroup) -> str:
    """The discrepancy in a sentence without a full stop: the title or the reason of its cause, or how it fails."""
    first = group.first
    if first["verdict"] == "known":
        return (group.cause.title if group.cause else "") or str(first["reason"])
    spec, verdict, kind, against = (str(first[name]) for name in ("spec", "verdict", "kind", "against"))
    return failure_title(spec, verdict, kind, quantities=group.quantities, against=against)


def quantity(name: str) -> str:
    """The name of a quantity with its family in words: `gradient grad[0]`."""
    family = FAMILIES.get(name.partition("[")[0])
    return f"{family} {name}" if family and family != name.partition("[")[0] else name
