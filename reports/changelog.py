"""Changelog: what changed between two runs, as plain text, Markdown and a page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from harness.rundir import RunInfo
from reports import sentence, tables
from reports.causes import GATHERED, alone, causes, counts, example
from reports.circumstances import alike, differences
from reports.grid import SYMBOLS
from reports.markdown import code, escape
from reports.summary import plain

#: What each change means, for readers.
MEANS = {
    "new": "fails or is known now, and was neither",
    "changed": "of another verdict or kind",
    "fixed": "failed or was known, and is as promised now",
    "drifted": "as before, but the distance moved",
    "appeared": "only in the later run",
    "disappeared": "only in the earlier run",
    "unchanged": "as before",
}
NUMBERS = {
    "differ": "TensorFlow gave other bits",
    "same": "TensorFlow gave the same bits: spec, reference, budget or known.toml changed",
    "differ same": "TensorFlow gave other bits in some of them",
}
_NAMED = 4
LINES, MOST = 60, 12
_SECTIONS = ("circumstances", *GATHERED, "claims", "numbers", "appeared", "disappeared")


@dataclass
class Changelog:
    """All that is told of two runs; `numbers` is what `reports.bits.silent` gives, None where nobody asked."""

    before: RunInfo
    after: RunInfo
    shortfalls: dict[str, list[str]]
    counts: dict[str, int]
    worse: int
    reset: int
    differences: list[dict[str, Any]]
    alike: dict[str, str]
    causes: list[dict[str, Any]]
    only: dict[str, list[dict[str, Any]]]
    claims: list[dict[str, Any]]
    numbers: list[dict[str, Any]] | None = None

    @property
    def status(self) -> str:
        """How the later run stands beside the earlier one, in one sentence."""
        partial = " Partial runs: see what is missing." if self.partial else ""
        if not sum(self.counts.values()):
            return "Neither run has a record." + partial
        if not self.worse:
            return "Nothing got worse." + partial
        return f"{self.worse:,} {'record' if self.worse == 1 else 'records'} got worse." + partial

    @property
    def partial(self) -> bool:
        return any(self.shortfalls.values())

    def of(self, change: str) -> list[dict[str, Any]]:
        """The causes of one change."""
        return [cause for cause in self.causes if cause["change"] == change]


def changelog(
    changes: pd.DataFrame,
    before: pd.DataFrame,
    after: pd.DataFrame,
    infos: tuple[RunInfo, RunInfo],
    *,
    claims: pd.DataFrame,
    numbers: pd.DataFrame | None = None,
) -> Changelog:
    """Gathers what is told; `changes` is what `reports.diff.diff` gives of these records."""
    gathered = []
    for cause in tables.rows(causes(changes)):
        was, now = example(changes, cause["example"], before, after)
        record = was if cause["change"] == "fixed" else now
        told = {
            "example": _example(cause["change"], was, now),
            "rerun": record["rerun"],
            "names": names(cause["specs"]),
        }
        reason = {name: record[name] for name in ("detail", "reason", "link")}
        gathered.append(cause | told | reason | {"numbers": NUMBERS.get(cause["numbers"], "")})
    return Changelog(
        *infos,
        shortfalls={"before": sentence.shortfalls(infos[0]), "after": sentence.shortfalls(infos[1])},
        counts=counts(changes),
        worse=int(changes["worse"].sum()),
        reset=int(changes["inputs_changed"].sum()),
        differences=tables.rows(differences(*infos)),
        alike=alike(*infos),
        causes=gathered,
        only={change: tables.rows(alone(changes, change)) for change in ("appeared", "disappeared")},
        claims=tables.rows(claims),
        numbers=None if numbers is None else tables.rows(numbers),
    )


def names(specs: Mapping[str, int]) -> str:
    """Specs by name, as far as a line holds them."""
    named = ", ".join(list(specs)[:_NAMED])
    return f"{named} and {len(specs) - _NAMED:,} more specs" if len(specs) > _NAMED + 1 else ", ".join(specs)


def _example(change: str, was: dict[str, Any] | None, now: dict[str, Any] | None) -> str:
    if change == "drifted" and was is not None and now is not None:
        budgets = [sentence.number(row["budget"]) for row in (was, now)]
        allowed = budgets[1] if budgets[0] == budgets[1] else f"{budgets[1]} (before: {budgets[0]})"
        moved = " → ".join(sentence.number(row["max_ulp"]) for row in (was, now))
        plan = f"{now['device']}/{now['mode']}"
        return f"{now['case']}, {now['quantity']} on {plan} against {now['against']}: {moved} ULP of {allowed} allowed."
    row, prefix = (was, "Was: ") if change == "fixed" else (now, "")
    if row is None:
        return ""
    text = prefix + sentence.of_record(row)
    values = sentence.values(row)
    text += f" {values[0].upper()}{values[1:]}." if values else ""
    if was is not None and change == "new" and not math.isnan(was["max_ulp"]):
        text += f" Before: {sentence.number(was['max_ulp'])} ULP."
    if (
        was is not None
        and change == "changed"
        and was["kind"]
        and was["kind"] == row["kind"]
        and was["got"] != row["got"]
    ):
        text += f" Before: got {was['got']}."
    return text


def title(cause: Mapping[str, Any]) -> str:
    """What became of how many: `signed zero, match → mismatch: 12 records in 4 cases on cpu/xla`."""
    verdicts = (
        cause["was"]
        if cause["was"] == cause["now"]
        else f"{cause['was'] or 'no record'} → {cause['now'] or 'no record'}"
    )
    what = ", ".join(filter(None, [cause["kind"].replace("_", " "), verdicts]))
    cases = "" if cause["records"] == cause["cases"] == 1 else f" in {_many(cause['cases'], 'case')}"
    return f"{what}: {_many(cause['records'], 'record')}{cases} on {cause['plans']}"


def _many(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def scope(row: Mapping[str, Any]) -> str:
    """What only one run has, in words."""
    specs = f"{_many(len(row['specs']), 'spec')} ({names(row['specs'])})"
    cases = _many(row["cases"], "case")
    text = {
        "plan": f"device {row['name']}, all of {row['plans']}: {cases} of {_many(len(row['specs']), 'spec')}",
        "spec": f"{specs}: {cases} on {row['plans']}",
        "cases": f"{cases} of {names(row['specs'])}, on {row['plans']}",
        "runs": f"{cases} of {names(row['specs'])}, which both runs have, on {row['plans']}",
        "comparisons": f"comparisons {row['name']}: in {cases} of {specs} on {row['plans']}",
    }[row["level"]]
    text += f", {_many(row['records'], 'record')}"
    text += f", {row['failing']:,} of them failing" if row["failing"] else ""
    return text + (f", {row['lost']:,} of them planned but without a result" if row["lost"] else "")


def moved(row: Mapping[str, Any]) -> str:
    """How many numbers moved, and how far, in words."""
    erratic = ", of a run that does not give the same bits twice" if row["erratic"] else ""
    if row["what"] != "values":
        return ("another status" if row["what"] == "status" else "another dtype, shape or sparsity") + erratic
    text = f"{row['differing']:,} of {row['size']:,} elements"
    if math.isinf(row["apart"]):
        text += ", to or from NaN or infinity"
    elif not math.isnan(row["apart"]):
        text += f", at most {sentence.number(row['apart'])} ULP"
    return text + erratic


def text(log: Changelog) -> list[str]:
    """At most sixty lines for a terminal: of each kind of change as many as there is room for."""
    room = dict.fromkeys(_SECTIONS, MOST)
    while len(lines := _text(log, room)) > LINES and max(room.values()) > 1:
        room[max(reversed(_SECTIONS), key=room.__getitem__)] -= 1
    return lines


def _text(log: Changelog, room: Mapping[str, int]) -> list[str]:
    lines = [plain(log.status, 200)]
    for when, info in (("before", log.before), ("after", log.after)):
        lines.append(f"{when + ':':8}" + plain(f"{info.run}, {info.started}"))
        if log.shortfalls[when]:
            lines.append(" " * 8 + plain(f"PARTIAL RUN: {'; '.join(log.shortfalls[when])}", 190))
    lines.append(plain(", ".join(f"{n:,} {name}" for name, n in log.counts.items()), 200))
    if log.reset:
        lines.append(plain(f"inputs changed: {_many(log.reset, 'record')}, whose distances are not compared"))
    lines += ["", *_circumstances(log, room["circumstances"])]
    for change in GATHERED:
        lines += _listed(log, change, room[change])
    rows = [f"{c['claim']} {c['was'] or 'no record'} → {c['now'] or 'no record'} on {c['plans']}" for c in log.claims]
    lines += _short("verdicts on claims that changed", rows, room["claims"])
    if log.numbers is not None:
        rows = [
            f"{r['spec']} {r['dtype']}: {moved(r)}, in {_many(r['cases'], 'case')} on {r['plans']}" for r in log.numbers
        ]
        title = "numbers that changed without a change of verdict"
        lines += _short(title, rows, room["numbers"]) if rows else ["", f"{title}: none"]
    for change, found in log.only.items():
        lines += _short(change, [scope(row) for row in found], room[change])
    return lines


def _circumstances(log: Changelog, most: int) -> list[str]:
    rows = log.differences
    lines = ["what differs between the runs:" if rows else "nothing that is known of the runs' circumstances differs"]
    lines += ["  " + plain(f"{r['what'] + ':':15} {r['before'] or '-'} → {r['after'] or '-'}") for r in rows[:most]]
    lines += [f"  and {len(rows) - most:,} more"] if len(rows) > most else []
    same = ", ".join(f"{name} {value}" for name, value in log.alike.items())
    return [*lines, "  " + plain(f"the same: {same}")] if same else lines


def _listed(log: Changelog, change: str, most: int) -> list[str]:
    found = log.of(change)
    lines = ["", f"{change} ({log.counts[change]:,}): {MEANS[change]}"] if found else []
    for cause in found[:most]:
        told = cause["numbers"] and f" [{cause['numbers']}]"
        lines.append(("! " if cause["worse"] else "  ") + plain(f"{cause['names']}: {title(cause)}{told}", 200))
        lines.append("      " + plain(cause["example"], 200))
        if change == "new":
            lines.append("      rerun: " + plain(cause["rerun"], 200))
    return lines + ([f"  and {len(found) - most:,} more kinds of it"] if len(found) > most else [])


def _short(heading: str, rows: list[str], most: int) -> list[str]:
    lines = ["", f"{heading}:"] if rows else []
    lines += ["  " + plain(row, 160) for row in rows[:most]]
    return lines + ([f"  and {len(rows) - most:,} more"] if len(rows) > most else [])


def markdown(log: Changelog) -> str:
    """The page that code hosts show; nothing is left out but what is beyond 100 rows of a kind."""
    lines = [f"# {escape(log.status)}", ""]
    for when, info in (("before", log.before), ("after", log.after)):
        lines.append(f"- {when}: {code(info.run)}, {escape(info.started)}")
        lines += [f"  - **Partial run**: {escape(why)}" for why in log.shortfalls[when]]
    lines += ["", *_table(["change", "records", "means"], [[c, f"{n:,}", MEANS[c]] for c, n in log.counts.items()]), ""]
    lines += (
        [f"{_many(log.reset, 'record')} have other inputs: their distances are not compared.", ""] if log.reset else []
    )
    rows = [[escape(r[name]) for name in ("what", "before", "after")] for r in log.differences]
    lines += [
        "## What differs between the runs",
        "",
        *(_table(["", "before", "after"], rows) if rows else ["Nothing that is known."]),
    ]
    lines += (
        ["", "The same: " + escape(", ".join(f"{k} {v}" for k, v in log.alike.items())) + ".", ""]
        if log.alike
        else [""]
    )
    for change in GATHERED:
        found = log.of(change)
        lines += [f"## {change.capitalize()}: {log.counts[change]:,}", ""] if found else []
        for cause in found[:100]:
            lines.append(f"- **{escape(cause['names'])}** {escape(title(cause))}")
            lines += [
                f"  - {escape(cause[name], 600)}" for name in ("numbers", "example", "detail", "reason") if cause[name]
            ]
            lines.append(f"  - {code(cause['rerun'])}")
        lines += [f"- and {len(found) - 100:,} more"] if len(found) > 100 else []
        lines += [""] if found else []
    told = [[escape(c["claim"]), escape(c["was"]), escape(c["now"]), escape(c["plans"])] for c in log.claims]
    lines += ["## Verdicts on claims", "", *_table(["claim", "before", "after", "plans"], told), ""] if told else []
    if log.numbers is not None:
        told = [
            [
                escape(r["spec"]),
                escape(r["dtype"]),
                moved(r),
                escape(r["plans"]),
                code(r["worst"]),
            ]
            for r in log.numbers
        ]
        lines += ["## Numbers that changed without a change of verdict", ""]
        heads = ["spec", "dtype", "moved", "plans", "worst in"]
        lines += [*(_table(heads, told) if told else ["None: all bits are the same."]), ""]
    for change, found in log.only.items():
        lines += [f"## {change.capitalize()}: {log.counts[change]:,}", ""] if found else []
        lines += [*(f"- {escape(scope(row))}" for row in found[:100])]
        lines += ([f"- and {len(found) - 100:,} more"] if len(found) > 100 else []) + ([""] if found else [])
    return "\n".join(lines).rstrip("\n") + "\n"


def _table(heads: list[str], rows: list[list[str]]) -> list[str]:
    return ["| " + " | ".join(line) + " |" for line in (heads, ["---"] * len(heads), *rows)]


def html(log: Changelog) -> str:
    """The page; no script runs in it, and whatever is not ours is escaped."""
    from reports.page import LISTED, environment, style

    return (
        environment()
        .get_template("diff.html")
        .render(
            log=log,
            means=MEANS,
            symbols=SYMBOLS,
            gathered=GATHERED,
            listed=LISTED,
            scope=scope,
            moved=moved,
            style=style(),
            policy="default-src 'none'; style-src 'unsafe-inline'",
        )
    )
