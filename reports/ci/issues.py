"""Issues: one on GitHub for each cause of failures: opened, updated, and closed once nothing of it fails."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from tf_opdiff.harness.store.records.record import FAILING
from tf_opdiff.reports.ci.failing import Cause
from tf_opdiff.reports.ci.issue_text import Place, marked, quiet
from tf_opdiff.reports.ci.night_runs import NightRun
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.text.lines import plain
from tf_opdiff.reports.text.sentences import sentence
from tf_opdiff.reports.text.verdicts import SEVERITY

#: The most issues that one night opens.
MOST = 10


class Issue(msgspec.Struct, frozen=True, rename="camel"):
    """An issue, as `gh issue list --json` prints it."""

    number: int
    title: str
    body: str
    state: str
    state_reason: str | None = ""


class Action(msgspec.Struct, frozen=True, omit_defaults=True):
    """An action on an issue, and the reason; `leave` and `later` do nothing."""

    do: Literal["open", "update", "reopen", "close", "leave", "later"]
    why: str
    number: int = 0
    title: str = ""
    body: str = ""
    comment: str = ""


def plan(
    causes: Sequence[Cause], issues: Iterable[Issue], nights: Sequence[NightRun], most: int = MOST
) -> list[Action]:
    """The actions after which each cause has one open issue; no action where that is so already.

    An issue belongs to a cause if they share a place: verdict, kind, spec and plan. The issue that shares most gets it.

    Args:
      causes: tonight's causes.
      issues: the issues with our label, closed ones included.
      nights: tonight's runs.
      most: how many issues are opened at most; causes beyond that get the action `later`.
    """
    ours = [(issue, place) for issue in issues if (place := marked(issue.body))]
    issue_of = _matched([cause.place for cause in causes], ours)
    actions, opened = [], 0
    for n, cause in enumerate(causes):
        if n in issue_of:
            actions += _known(cause, *ours[issue_of[n]])
            continue
        opened += 1
        do: Literal["open", "later"] = "open" if opened <= most else "later"
        why = "it has no issue yet" if opened <= most else f"{most} issues are opened at most in one night"
        actions.append(Action(do, why, title=cause.title, body=cause.body))
    matched = set(issue_of.values())
    rest = [pair for i, pair in enumerate(ours) if i not in matched and pair[0].state == "OPEN"]
    later = any(action.do == "later" for action in actions)
    return actions + [_without_cause(issue, place, nights, later) for issue, place in rest]


def _matched(places: Sequence[Place], ours: Sequence[tuple[Issue, Place]]) -> dict[int, int]:
    """For positions of places the position of the issue that shares most with it; none twice, open issues first."""
    pairs = [
        (-shared, issue.state != "OPEN", -issue.number, n, i)
        for n, place in enumerate(places)
        for i, (issue, other) in enumerate(ours)
        if (shared := place.shared(other))
    ]
    issue_of: dict[int, int] = {}
    for *_, n, i in sorted(pairs):
        if n not in issue_of and i not in issue_of.values():
            issue_of[n] = i
    return issue_of


def _known(cause: Cause, issue: Issue, before: Place) -> list[Action]:
    """The actions on the issue of a cause that still fails; `before` is the place that the issue names."""
    number, title, body = issue.number, cause.title, cause.body
    if issue.state != "OPEN":
        if issue.state_reason == "NOT_PLANNED":
            return [Action("leave", "it fails, but was closed as not planned", number, title)]
        return [Action("reopen", "it fails again", number, title, body, "It fails again, in the runs above.")]
    if (issue.title, issue.body.replace("\r\n", "\n").strip()) == (cause.title, cause.body.strip()):
        return []
    more = [f"spec {name}" for name in cause.place.specs if name not in before.specs]
    more += [f"plan {name}" for name in sorted(cause.place.plans - before.plans)]
    more += [f"run {name}" for name in cause.place.runs if name not in before.runs]
    comment = plain(f"New tonight: {', '.join(more[:20])}{' and more' if len(more) > 20 else ''}.", 1000)
    why = "it fails in more places" if more else "it is unchanged, in newer runs"
    return [Action("update", why, number, title, body, quiet(comment, 1000) if more else "")]


def _without_cause(issue: Issue, place: Place, nights: Sequence[NightRun], later: bool) -> Action:
    """The action on an open issue without a cause tonight: closed only if all its places were tested again.

    `later` says whether some causes get their issue another night.
    """
    number, title = issue.number, issue.title
    by_name = {night.name: night for night in nights}
    failing, counts = False, dict.fromkeys(SEVERITY, 0)
    for name, plans in place.runs.items():
        if not (night := by_name.get(name)):
            return Action("leave", f"there is no run {plain(name)} tonight", number, title)
        if missing := sentence.shortfalls(night.info):
            return Action("leave", f"run {plain(name)} is partial: {plain('; '.join(missing), 200)}", number, title)
        some = night.records[night.records["spec"].isin(place.specs)]
        some = some.assign(plan=tables.plans(some).astype(str), verdict=some["verdict"].astype(str))
        some = some[some["plan"].isin(plans)]
        failing |= bool(some["verdict"].isin(FAILING).any())
        tested = some[some["verdict"] != "unavailable"]
        pairs = set(zip(tested["spec"].astype(str), tested["plan"], strict=True))
        if untested := [f"{spec} on {p}" for spec in place.specs for p in plans if (spec, p) not in pairs]:
            return Action("leave", f"not tested in run {plain(name)}: {plain(', '.join(untested), 200)}", number, title)
        for verdict, n in tables.counts(some).items():
            counts[verdict] += n
    if failing and later:
        return Action("leave", "its failures belong to a cause whose issue is opened later", number, title)
    records = ", ".join(f"{n:,} {verdict}" for verdict, n in counts.items() if n)
    where = ", ".join(f"{name} ({by_name[name].info.started})" for name in place.runs)
    if failing:
        comment = (
            f"It fails in another way now, which another issue describes; the records here: {records}. In {where}."
        )
        return Action("close", "its failures belong to another cause now", number, title, comment=quiet(comment, 2000))
    comment = f"None of it fails any more: {records}. In {where}."
    return Action("close", "none of it fails", number, title, comment=quiet(comment, 2000))
