"""Run overview: the first screen of a run's page, with its discrepancies in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from tf_opdiff.harness.judge.verdicts.severity import SEVERITIES
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.analysis.search_index import anchor
from tf_opdiff.reports.data.causes.discrepancy import Discrepancy
from tf_opdiff.reports.data.causes.mechanism import mechanism
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.figures.tested_places import TestedPlaces
from tf_opdiff.reports.data.names.op_names import OpNames
from tf_opdiff.reports.pages.page_data import FINDING
from tf_opdiff.reports.text.program_address import program_address
from tf_opdiff.reports.text.sentences import discrepancy_words, sentence, switch_words
from tf_opdiff.reports.text.sentences.headline import headline
from tf_opdiff.reports.text.sentences.tested import hidden, other_processor, soundness, tested, untested

#: The discrepancies that the page of a run shows; another page has all of them.
TOP = 10
#: Links to issues and pull requests.
_REPORT = re.compile(r"https://\S+/(issues|pull|merge_requests)/\d+")


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A discrepancy as the page shows it.

    Attributes:
      of: the discrepancy.
      number: its rank among all, from 1.
      numbers: the input, the result and the expected result of its example.
      place: the place of its example.
      distance: its largest distance in words; empty if none was taken.
      extent: its plans and dtypes.
      filters: the filters that show its records in the table.
      program: the outcome of its program in words, and the program's address; empty without a program.
      setting: the setting of TensorFlow on which it depends, in a sentence; empty if that is not known.
      ops: its OpDefs, each with the address of its page, which is empty if there is none.
      page: the name of the op or suite on whose page its example stands; empty if there is none.
    """

    of: Discrepancy
    number: int
    numbers: str
    place: str
    distance: str
    extent: str
    filters: Mapping[str, str]
    program: tuple[str, str]
    setting: str
    ops: Sequence[tuple[str, str]]
    page: str

    @property
    def anchor(self) -> str:
        """The id of its element on the page of all discrepancies."""
        return anchor(self.of)

    @property
    def mechanism(self) -> str:
        """The part of TensorFlow in which it arises."""
        return mechanism(self.of)

    @property
    def upstream(self) -> str:
        """`fixed`, `reported` or `none`: what is known of it upstream; empty for a failure without a cause."""
        if not self.of.known:
            return ""
        return "fixed" if self.of.fixed else "reported" if _REPORT.match(self.of.link) else "none"


def about(records: pd.DataFrame, info: RunInfo, ranked: Sequence[Discrepancy]) -> dict[str, Any]:
    """The values of the first screen's template, without the discrepancies themselves."""
    lines, counts = headline(records, info, ranked), tables.counts(records)
    return {
        "headline": lines or [sentence.of_run(info, counts, brief=True)],
        "top": TOP,
        "all_severities": list(SEVERITIES.values()),
        "severity_names": list(SEVERITIES),
        "tested": tested(records, info),
        "untested": untested(records, info),
        "soundness": soundness(info, counts),
        "self_tests": [line for line in (hidden(records), other_processor(records)) if line],
        "sound": soundness(info, counts).startswith("The run is sound"),
        "new": sum(bool(one.new) for one in ranked),
    }


def shown(
    records: pd.DataFrame,
    ranked: Sequence[Discrepancy],
    repros: Sequence[Mapping[str, Any]],
    names: OpNames,
) -> list[Shown]:
    """The discrepancies in words, in their order.

    Args:
      records: those of the run.
      ranked: its discrepancies.
      repros: the programs of findings, as `reports.data.run_data.load.load_repros` gives them.
      names: the pages of ops.
    """
    page_of = {page.link: page.name for page in names.pages}
    pages = {spec: page_of[link] for spec, link in names.by_spec().items()}
    places = TestedPlaces(records)
    programs = {tuple(repro.get(name, "") for name in FINDING): repro for repro in repros}
    lines = []
    for number, one in enumerate(ranked, 1):
        lines.append(
            Shown(
                of=one,
                number=number,
                numbers=discrepancy_words.numbers(one),
                place=discrepancy_words.example_place(one),
                distance=discrepancy_words.distance(one),
                extent=discrepancy_words.extent(one, places),
                filters=_filters(one),
                program=_program(one, programs),
                setting=switch_words.sentence(one.switch, one.example["device"]),
                ops=[(op, names.link(op)) for op in one.ops],
                page=pages.get(str(one.example["spec"]), ""),
            )
        )
    return lines


def _filters(one: Discrepancy) -> dict[str, str]:
    """The filters of the table that show its records."""
    if one.known:
        return {"verdict": "known", **({"cause": one.id} if one.example["cause"] else {"q": one.reason})}
    return {"verdict": one.verdict, "spec": str(one.example["spec"]), "kind": str(one.example["kind"])}


def _program(one: Discrepancy, programs: Mapping[tuple[str, ...], Mapping[str, Any]]) -> tuple[str, str]:
    """The program of the finding to which its example belongs; if it has none, that of another finding of the cause."""
    record = one.example
    reason = record["reason"] if one.verdict in ("known", "stale") else ""
    own = programs.get((record["spec"], one.verdict, record["kind"], reason))
    words, path = sentence.of_repro(own)
    if path or not reason:
        return words, program_address(own, path) if own else ""
    others = [p for (_, verdict, _, cause), p in programs.items() if (verdict, cause) == (one.verdict, reason)]
    for other in others:
        shows, path = sentence.of_repro(other)
        if path:
            says = f"{shows}. It is about {other['case']} on {other['device']}/{other['mode']}"
            return says, program_address(other, path)
    return words, ""
