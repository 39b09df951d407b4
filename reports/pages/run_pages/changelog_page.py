"""Changelog page: a changelog as plain text, Markdown and a page."""

from __future__ import annotations

from collections.abc import Mapping

from tf_opdiff.reports.analysis.comparisons.causes import GATHERED
from tf_opdiff.reports.analysis.comparisons.changelog import Changelog
from tf_opdiff.reports.pages.template import LISTED as LISTED_ON_PAGE
from tf_opdiff.reports.pages.template import render
from tf_opdiff.reports.text.counted import and_more, many, names
from tf_opdiff.reports.text.lines import plain
from tf_opdiff.reports.text.sentences.change_words import MEANINGS, moved, ran, scope, title
from tf_opdiff.reports.text.sentences.markdown import code, escape, table

#: The most lines at the terminal, and the most rows of a section there.
LINES, MOST = 60, 12
_SECTIONS = ("environment", *GATHERED, "executed", "claims", "numbers", "appeared", "disappeared")
_EXECUTED = "other ops or devices, whatever the verdict"
#: The most rows of a section in Markdown.
LISTED = 100


def text(log: Changelog) -> list[str]:
    """At most sixty lines for a terminal; each section gets as many rows as there is room for."""
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
    if log.inputs_changed:
        lines.append(plain(f"inputs changed: {many(log.inputs_changed, 'record')}, whose distances are not compared"))
    lines += ["", *_environment(log, room["environment"])]
    for change in GATHERED:
        lines += _listed(log, change, room[change])
    lines += _short(_EXECUTED, [ran(row) for row in log.executed], room["executed"])
    rows = [f"{c['claim']} {c['was'] or 'no record'} → {c['now'] or 'no record'} on {c['plans']}" for c in log.claims]
    lines += _short("verdicts on claims that changed", rows, room["claims"])
    if log.numbers is not None:
        rows = [
            f"{r['spec']} {r['dtype']}: {moved(r)}, in {many(r['cases'], 'case')} on {r['plans']}" for r in log.numbers
        ]
        heading = "numbers that changed without a change of verdict"
        lines += _short(heading, rows, room["numbers"]) if rows else ["", f"{heading}: none"]
    for change, rows_of_one_run in log.only.items():
        failing = _listed(log, change, room[change])
        rows = [scope(row) for row in rows_of_one_run]
        lines += failing + _short(change, rows, room[change])[2 if failing else 0 :]
    return lines


def _environment(log: Changelog, most: int) -> list[str]:
    rows = log.differences
    lines = ["environment, where the runs differ:" if rows else "environment: no recorded fact differs"]
    lines += ["  " + plain(f"{r['what'] + ':':15} {r['before'] or '-'} → {r['after'] or '-'}") for r in rows[:most]]
    lines += and_more(len(rows) - most, indent="  ")
    same = ", ".join(f"{name} {value}" for name, value in log.alike.items())
    return [*lines, "  " + plain(f"the same: {same}")] if same else lines


def _listed(log: Changelog, change: str, most: int) -> list[str]:
    causes = log.causes_of(change)
    lines = ["", f"{change} ({log.counts[change]:,}): {MEANINGS[change]}"] if causes else []
    for cause in causes[:most]:
        numbers = cause["numbers"] and f" [{cause['numbers'].partition(':')[0]}]"
        lines.append(("! " if cause["worse"] else "  ") + plain(f"{cause['names']}: {title(cause)}{numbers}", 200))
        lines.append("      " + plain(f"{cause['example']} {cause['detail']}", 200))
        if change == "new":
            lines.append("      rerun: " + plain(cause["rerun"], 200))
    return lines + and_more(len(causes) - most, indent="  ", noun="causes")


def _short(heading: str, rows: list[str], most: int) -> list[str]:
    lines = ["", f"{heading}:"] if rows else []
    lines += ["  " + plain(row, 200) for row in rows[:most]]
    return lines + and_more(len(rows) - most, indent="  ")


def markdown(log: Changelog) -> str:
    """The changelog as Markdown; of each section at most 100 rows."""
    lines = [*_counted(log), *_differing(log)]
    for change in GATHERED:
        causes = _causes(log, change)
        lines += [f"## {change.capitalize()}: {log.counts[change]:,}", "", *causes, ""] if causes else []
    lines += [*_executed(log), *_claims(log), *_numbers(log)]
    for change, rest in log.only.items():
        lines += [f"## {change.capitalize()}: {log.counts[change]:,}", "", *_causes(log, change)] if rest else []
        lines += [*(f"- {escape(scope(row))}" for row in rest[:LISTED])]
        lines += and_more(len(rest) - LISTED, indent="- ") + ([""] if rest else [])
    return "\n".join(lines).rstrip("\n") + "\n"


def _counted(log: Changelog) -> list[str]:
    """The two runs, and how many records have each change."""
    lines = [f"# {escape(log.status)}", ""]
    for when, info in (("before", log.before), ("after", log.after)):
        lines.append(f"- {when}: {code(info.run)}, {escape(info.started)}")
        lines += [f"  - **Partial run**: {escape(why)}" for why in log.shortfalls[when]]
    lines += [
        "",
        *table(["change", "records", "meaning"], [[c, f"{n:,}", MEANINGS[c]] for c, n in log.counts.items()]),
        "",
    ]
    if log.inputs_changed:
        lines += [f"{many(log.inputs_changed, 'record')} have other inputs: their distances are not compared.", ""]
    return lines


def _differing(log: Changelog) -> list[str]:
    """The facts in which the runs differ, and those in which they agree."""
    rows = [[escape(r[name]) for name in ("what", "before", "after")] for r in log.differences]
    lines = ["## What differs between the runs", ""]
    lines += table(["", "before", "after"], rows) if rows else ["No recorded fact differs."]
    if log.alike:
        lines += ["", "The same: " + escape(", ".join(f"{k} {v}" for k, v in log.alike.items())) + "."]
    return [*lines, ""]


def _executed(log: Changelog) -> list[str]:
    """The executed ops and the devices that changed."""
    rows = [
        [*(escape(row[name]) for name in ("what", "was", "now", "plans")), escape(names(row["specs"]))]
        for row in log.executed[:LISTED]
    ]
    heads = ["", "before", "after", "plans", "specs"]
    return [f"## {_EXECUTED.capitalize()}", "", *table(heads, rows), ""] if rows else []


def _claims(log: Changelog) -> list[str]:
    """The claims on which the verdict changed."""
    rows = [[escape(claim[name]) for name in ("claim", "was", "now", "plans")] for claim in log.claims]
    return ["## Verdicts on claims", "", *table(["claim", "before", "after", "plans"], rows), ""] if rows else []


def _numbers(log: Changelog) -> list[str]:
    """The numbers that changed without a change of verdict; nothing where the numbers were not compared."""
    if log.numbers is None:
        return []
    rows = [
        [escape(r["spec"]), escape(r["dtype"]), moved(r), escape(r["plans"]), code(r["worst"])] for r in log.numbers
    ]
    heads = ["spec", "dtype", "moved", "plans", "worst in"]
    lines = table(heads, rows) if rows else ["None among cases with the same inputs."]
    return ["## Numbers that changed without a change of verdict", "", *lines, ""]


def _causes(log: Changelog, change: str) -> list[str]:
    lines, causes = [], log.causes_of(change)
    for cause in causes[:LISTED]:
        lines.append(f"- **{escape(cause['names'])}** {escape(title(cause))}")
        texts = [cause[name] for name in ("numbers", "example", "detail", "reason") if cause[name]]
        lines += [*(f"  - {escape(text, 600)}" for text in texts), f"  - {code(cause['rerun'])}"]
    return lines + and_more(len(causes) - LISTED, indent="- ")


def html(log: Changelog) -> str:
    """The page. It has no script, and all text from outside is escaped."""
    return render(
        "diff.html",
        log=log,
        meanings=MEANINGS,
        gathered=GATHERED,
        listed=LISTED_ON_PAGE,
        scope=scope,
        moved=moved,
        names=names,
    )
