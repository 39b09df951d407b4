"""Claims: the content of the page of claims, topic by topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from markupsafe import Markup

from tf_opdiff.harness.store.records.record import CLAIM, FAILING
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.analysis.claim_tables.claim_evidence import evidence, program, replacements
from tf_opdiff.reports.analysis.claim_tables.claim_lines import Line, elsewhere, lines, where
from tf_opdiff.reports.analysis.claim_tables.claim_verdicts import REFUTING, verdicts
from tf_opdiff.reports.analysis.claim_tables.claim_words import Words, device_type, matches
from tf_opdiff.reports.data.run_data.plans import in_order, plans
from tf_opdiff.reports.data.run_data.rows import rows
from tf_opdiff.reports.text.source_code import listed
from tf_opdiff.reports.text.verdicts import CLAIM_WORDS, NOT_RUN

#: The columns of records that the page is made of.
_TEXTS = (
    *("spec", "case", "dtype", "recipe", "device", "mode", "against", "quantity", "verdict", "kind", "worst_index"),
    *("input", "got", "want", "example_index", "example", "reason"),
)
_COLUMNS = (*_TEXTS, "size", "mismatched")
#: Stands in place of the reason of a record that has none.
_UNEXPECTED = "nobody expected it: see the run's findings"
#: The texts of a topic that runs before these fields lack.
_NO_TEXTS = dict.fromkeys(("says", "restated", "post", "today", "instead", "paste"), "")


@dataclass
class ShownClaim:
    """All that the page shows of one claim.

    Attributes:
      id: the claim's id.
      anchor: the id of its element in claims.html.
      says: the claim in words.
      word: the word on it in this run; see `reports.analysis.claim_tables.claim_words`.
      label: the same with the modes or devices in it, such as `true in graph only`.
      where: the plans by their words, if they differ.
      plans, lines: the columns and lines of this run's table of verdicts.
      stored_plans, stored: those of the table of other runs.
      reasons: why the claim does not hold, each with its plans.
      evidence: records in which the claim does not hold.
      programs: the claim's programs.
      instead: programs that give the result which the claim promises in vain.
      unexpected: the plans with another verdict than expected.
    """

    id: str
    anchor: str
    says: str
    word: str
    label: str
    where: str
    plans: list[str]
    lines: list[Line]
    stored_plans: list[str]
    stored: list[Line]
    reasons: dict[str, list[str]]
    evidence: list[dict[str, Any]]
    programs: list[dict[str, Any]]
    instead: list[dict[str, Any]]
    unexpected: list[str]


@dataclass
class Chapter:
    """A topic and its claims.

    Attributes:
      topic: the topic, as in claims.json.
      claims: its claims.
      first: for each spec, the claim with which its program is shown.
      unexpected: the claims with another verdict than expected on some plan.
      untested: the claims that this run did not test under some plan that it has a device for. Devices on which a run
        tests only some specs do not count.
    """

    topic: Mapping[str, str]
    claims: list[ShownClaim] = field(default_factory=list)
    first: dict[str, str] = field(default_factory=dict)
    unexpected: list[str] = field(default_factory=list)
    untested: list[str] = field(default_factory=list)

    @property
    def paste(self) -> Markup:
        """The program for readers, as HTML."""
        return listed(self.topic["paste"])

    @property
    def tested(self) -> bool:
        """Whether this run tested any of the claims."""
        return any(claim.word != NOT_RUN for claim in self.claims)

    @property
    def tally(self) -> dict[str, int]:
        """How many claims have each word, in the order of the words."""
        words = [claim.word for claim in self.claims]
        return {word: words.count(word) for word in CLAIM_WORDS if word in words}


_Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class _Tables:
    """The rows of a run by what a claim selects: records by oracle and by spec, verdicts by claim, and the devices.

    `verdicts` are those of this run, `elsewhere` those of other runs. Records have the column `plan`.
    """

    by_oracle: Mapping[str, _Rows]
    by_spec: Mapping[str, _Rows]
    verdicts: Mapping[str, _Rows]
    elsewhere: Mapping[str, _Rows]
    devices: Sequence[str]

    def records_of(self, spec: str) -> _Rows:
        """The records of a spec."""
        return self.by_spec.get(spec, ())


def chapters(
    records: pd.DataFrame, info: RunInfo, claims: Sequence[Mapping[str, Any]], others: pd.DataFrame
) -> list[Chapter]:
    """The topics in order, each with its claims.

    Args:
      records: those of the run.
      info: its run.json.
      claims: its claims.json, as `reports.data.run_data.load.load_claims` gives it.
      others: the verdicts of other runs, as `reports.analysis.claim_tables.claim_store.stored_verdicts` gives them.
    """
    tables = _tables(records, claims, others)
    whole = [name for name in tables.devices if "only" not in info.devices.get(name, {})]
    by_topic: dict[str, Chapter] = {}
    by_id: dict[str, list[Mapping[str, Any]]] = {}
    for claim in claims:
        by_id.setdefault(claim["id"], []).append(claim)
    for name, parts in sorted(by_id.items()):
        chapter = by_topic.setdefault(parts[0]["topic"]["id"], Chapter(_NO_TEXTS | parts[0]["topic"]))
        shown = _shown(name, parts, tables)
        chapter.claims.append(shown)
        if shown.unexpected:
            chapter.unexpected.append(name)
        if _is_untested(parts, tables.verdicts.get(name, ()), whole):
            chapter.untested.append(name)
        for shown_program in (*shown.programs, *shown.instead):
            chapter.first.setdefault(shown_program["spec"], name)
    return list(by_topic.values())


def _is_untested(parts: Sequence[Mapping[str, Any]], own: _Rows, devices: Sequence[str]) -> bool:
    """Whether some plan of a claim has no verdict.

    `devices` are those that have a verdict on any claim, without those on which a run tests only some specs: such a
    device has `only` in run.json, as `cpu+noonednn` has in a default run.
    """
    present = {(row["device"], row["mode"]) for row in own}
    return any(
        matches(pattern, device_type(device), mode) and (device, mode) not in present
        for device in devices
        for part in parts
        for mode in part["modes"]
        for pattern in part["plans"]
    )


def _tables(records: pd.DataFrame, claims: Sequence[Mapping[str, Any]], others: pd.DataFrame) -> _Tables:
    own = verdicts(records)
    instead = {claim["instead"] for claim in claims}
    few = records[records["against"].astype(str).str.startswith(CLAIM) | records["spec"].isin(instead)]
    few = few[list(_COLUMNS)].assign(plan=plans(few)).astype(dict.fromkeys((*_TEXTS, "plan"), "object"))
    by_oracle, by_spec = (_by(rows(few), column) for column in ("against", "spec"))
    return _Tables(
        by_oracle, by_spec, _by(rows(own), "claim"), elsewhere(others, own, claims), list(own["device"].unique())
    )


def _by(some: Iterable[Mapping[str, Any]], column: str) -> dict[str, list[Mapping[str, Any]]]:
    """The rows by their values in a column."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in some:
        groups.setdefault(row[column], []).append(row)
    return groups


def _shown(name: str, parts: Sequence[Mapping[str, Any]], tables: _Tables) -> ShownClaim:
    """A claim as the page shows it; `parts` has an entry for each of its programs."""
    records = tables.by_oracle.get(CLAIM + name, ())
    own, other = tables.verdicts.get(name, ()), tables.elsewhere.get(name, ())
    words = Words.of(own, other, records, parts)
    own_plans, own_lines = lines(own, words)
    stored_plans, stored_lines = lines(other, words, "made", "machine")
    word, label = words.whole()
    return ShownClaim(
        id=name,
        anchor=f"{name}-claim" if name == parts[0]["topic"]["id"] else name,  # a topic has an element of its own
        says=parts[0]["says"],
        word=word,
        label=label,
        where=where(own, words),
        plans=own_plans,
        lines=own_lines,
        stored_plans=stored_plans,
        stored=stored_lines,
        reasons=_reasons(records),
        evidence=evidence(records, parts),
        programs=[program([row for row in records if row["spec"] == claim["spec"]], claim) for claim in parts],
        instead=replacements(parts, tables.records_of),
        unexpected=sorted({row["plan"] for row in records if row["verdict"] in FAILING}),
    )


def _reasons(records: _Rows) -> dict[str, list[str]]:
    """Why a claim does not hold, by the reasons in its records, each with its plans."""
    refuting = [row for row in records if row["verdict"] in REFUTING]
    groups = _by(refuting, "reason").items()
    return {reason or _UNEXPECTED: in_order(row["plan"] for row in group) for reason, group in groups}
