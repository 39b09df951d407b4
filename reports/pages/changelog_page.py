"""Rendered: a changelog as plain text, Markdown and a page."""

from __future__ import annotations

from collections.abc import Mapping

from tf_opdiff.reports.analysis.causes import GATHERED
from tf_opdiff.reports.analysis.changelog import MEANS, Changelog, many, moved, names, ran, scope, title
from tf_opdiff.reports.analysis.grid import SYMBOLS
from tf_opdiff.reports.text.markdown import code, escape, table
from tf_opdiff.reports.text.summary import plain

LINES, MOST = 60, 12
_SECTIONS = ("circumstances", *GATHERED, "executed", "claims", "numbers", "appeared", "disappeared")
_EXECUTED = "other ops, or elsewhere, whatever the verdict"
#: How many rows of a kind Markdown holds.
LISTED = 100


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
        lines.append(plain(f"inputs changed: {many(log.reset, 'record')}, whose distances are not compared"))
    lines += ["", *_circumstances(log, room["circumstances"])]
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
    for change, found in log.only.items():
        failing = _listed(log, change, room[change])
        lines += failing + _short(change, [scope(row) for row in found], room[change])[2 if failing else 0 :]
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
        told = cause["numbers"] and f" [{cause['numbers'].partition(':')[0]}]"
        lines.append(("! " if cause["worse"] else "  ") + plain(f"{cause['names']}: {title(cause)}{told}", 200))
        lines.append("      " + plain(f"{cause['example']} {cause['detail']}", 200))
        if change == "new":
            lines.append("      rerun: " + plain(cause["rerun"], 200))
    return lines + ([f"  and {len(found) - most:,} more kinds of it"] if len(found) > most else [])


def _short(heading: str, rows: list[str], most: int) -> list[str]:
    lines = ["", f"{heading}:"] if rows else []
    lines += ["  " + plain(row, 200) for row in rows[:most]]
    return lines + ([f"  and {len(rows) - most:,} more"] if len(rows) > most else [])


def markdown(log: Changelog) -> str:
    """The page that code hosts show; nothing is left out but what is beyond 100 rows of a kind."""
    lines = [*_counted(log), *_differing(log)]
    for change in GATHERED:
        found = _causes(log, change)
        lines += [f"## {change.capitalize()}: {log.counts[change]:,}", "", *found, ""] if found else []
    lines += [*_executed(log), *_claims(log), *_numbers(log)]
    for change, rest in log.only.items():
        lines += [f"## {change.capitalize()}: {log.counts[change]:,}", "", *_causes(log, change)] if rest else []
        lines += [*(f"- {escape(scope(row))}" for row in rest[:LISTED])]
        lines += ([f"- and {len(rest) - LISTED:,} more"] if len(rest) > LISTED else []) + ([""] if rest else [])
    return "\n".join(lines).rstrip("\n") + "\n"


def _counted(log: Changelog) -> list[str]:
    """Which runs these are, and how many records there are of each change."""
    lines = [f"# {escape(log.status)}", ""]
    for when, info in (("before", log.before), ("after", log.after)):
        lines.append(f"- {when}: {code(info.run)}, {escape(info.started)}")
        lines += [f"  - **Partial run**: {escape(why)}" for why in log.shortfalls[when]]
    lines += ["", *table(["change", "records", "means"], [[c, f"{n:,}", MEANS[c]] for c, n in log.counts.items()]), ""]
    if log.reset:
        lines += [f"{many(log.reset, 'record')} have other inputs: their distances are not compared.", ""]
    return lines


def _differing(log: Changelog) -> list[str]:
    """What differs between the runs, and what is the same."""
    rows = [[escape(r[name]) for name in ("what", "before", "after")] for r in log.differences]
    lines = ["## What differs between the runs", ""]
    lines += table(["", "before", "after"], rows) if rows else ["Nothing that is known."]
    if log.alike:
        lines += ["", "The same: " + escape(", ".join(f"{k} {v}" for k, v in log.alike.items())) + "."]
    return [*lines, ""]


def _executed(log: Changelog) -> list[str]:
    """Which ops ran that did not before, or elsewhere."""
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
    lines = table(heads, rows) if rows else ["None, where the inputs are the same."]
    return ["## Numbers that changed without a change of verdict", "", *lines, ""]


def _causes(log: Changelog, change: str) -> list[str]:
    lines, found = [], log.of(change)
    for cause in found[:LISTED]:
        lines.append(f"- **{escape(cause['names'])}** {escape(title(cause))}")
        told = [cause[name] for name in ("numbers", "example", "detail", "reason") if cause[name]]
        lines += [*(f"  - {escape(text, 600)}" for text in told), f"  - {code(cause['rerun'])}"]
    return lines + ([f"- and {len(found) - LISTED:,} more"] if len(found) > LISTED else [])


def html(log: Changelog) -> str:
    """The page; no script runs in it, and whatever is not ours is escaped."""
    from tf_opdiff.reports.pages import run_page

    return (
        run_page.environment()
        .get_template("diff.html")
        .render(
            log=log,
            means=MEANS,
            symbols=SYMBOLS,
            gathered=GATHERED,
            listed=run_page.LISTED,
            scope=scope,
            moved=moved,
            names=names,
            style=run_page.style(),
            policy=run_page.POLICY,
        )
    )
