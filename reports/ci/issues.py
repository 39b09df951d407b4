"""Issues: one on GitHub for each cause of what fails, opened, kept up to date, and closed once it is gone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from tf_opdiff.harness.store.record import FAILING
from tf_opdiff.reports.ci.failing import Cause, Night, Place, marked, quiet
from tf_opdiff.reports.ci.gh import gh, listed
from tf_opdiff.reports.data import tables
from tf_opdiff.reports.text import sentence
from tf_opdiff.reports.text.summary import plain

#: Issues without this label are none of ours; only people who may write to the repository can give it.
LABEL = "nightly"
#: Issues that are looked at, and that one night opens.
READ, MOST = 1000, 10
FIELDS = "number,title,body,state,stateReason"


class Issue(msgspec.Struct, frozen=True, rename="camel"):
    """An issue, as `gh issue list --json` gives it."""

    number: int
    title: str
    body: str
    state: str
    state_reason: str | None = ""


class Action(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is to be done about an issue, and why; `leave` and `later` stand for nothing."""

    do: Literal["open", "update", "reopen", "close", "leave", "later"]
    why: str
    number: int = 0
    title: str = ""
    body: str = ""
    comment: str = ""


def plan(found: Sequence[Cause], there: Iterable[Issue], nights: Sequence[Night], most: int = MOST) -> list[Action]:
    """What is to be done, so that each cause has one open issue; nothing for what is so already.

    An issue is a cause's if they share a place: verdict, kind, spec and plan. The one that shares most gets it.

    Args:
      found: tonight's causes.
      there: the issues that have the label, closed ones included.
      nights: tonight's runs.
      most: how many issues are opened at most; what is beyond stands as `later`.
    """
    ours = [(issue, place) for issue in there if (place := marked(issue.body))]
    matched = _matched([cause.place for cause in found], ours)
    actions, opened = [], 0
    for cause in found:
        at = matched.get(id(cause.place))
        if at is None:
            opened += 1
            do: Literal["open", "later"] = "open" if opened <= most else "later"
            why = "it has no issue yet" if opened <= most else f"{most} issues are opened at most in one night"
            actions.append(Action(do, why, title=cause.title, body=cause.body))
        else:
            actions += _kept(cause, *ours[at])
    taken = set(matched.values())
    left = [pair for i, pair in enumerate(ours) if i not in taken and pair[0].state == "OPEN"]
    later = any(action.do == "later" for action in actions)
    return actions + [_gone(issue, place, nights, later) for issue, place in left]


def _matched(places: Sequence[Place], ours: Sequence[tuple[Issue, Place]]) -> dict[int, int]:
    """For places, by `id`, the position of the issue that shares most with it; none twice, open ones first."""
    pairs = [
        (-shared, issue.state != "OPEN", -issue.number, n, i)
        for n, place in enumerate(places)
        for i, (issue, other) in enumerate(ours)
        if (shared := place.shared(other))
    ]
    found: dict[int, int] = {}
    for *_, n, i in sorted(pairs):
        if id(places[n]) not in found and i not in found.values():
            found[id(places[n])] = i
    return found


def _kept(cause: Cause, issue: Issue, before: Place) -> list[Action]:
    """What is to be done about the issue of a cause that is still there."""
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
    told = plain(f"New in it tonight: {', '.join(more[:20])}{' and more' if len(more) > 20 else ''}.", 1000)
    why = "it fails in more places" if more else "it is as before, in newer runs"
    return [Action("update", why, number, title, body, quiet(told, 1000) if more else "")]


def _gone(issue: Issue, place: Place, nights: Sequence[Night], later: bool) -> Action:
    """What is to be done about an open issue that is no cause's: closed only where all of it was tested again."""
    number, title = issue.number, issue.title
    by_name = {night.name: night for night in nights}
    failing, verdicts = False, dict.fromkeys(tables.SEVERITY, 0)
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
        seen = set(zip(tested["spec"].astype(str), tested["plan"], strict=True))
        if lost := [f"{spec} on {p}" for spec in place.specs for p in plans if (spec, p) not in seen]:
            return Action("leave", f"not tested in run {plain(name)}: {plain(', '.join(lost), 200)}", number, title)
        for verdict, n in tables.counts(some).items():
            verdicts[verdict] += n
    told = ", ".join(f"{n:,} {verdict}" for verdict, n in verdicts.items() if n)
    where = ", ".join(f"{name} ({by_name[name].info.started})" for name in place.runs)
    if failing and later:
        return Action("leave", "what fails there is a cause whose issue is opened later", number, title)
    if failing:
        comment = f"It fails otherwise now, which is told in another issue; the records here: {told}. In {where}."
        return Action("close", "what fails there is another cause's now", number, title, comment=quiet(comment, 2000))
    comment = f"None of it fails any more: {told}. In {where}."
    return Action("close", "none of it fails", number, title, comment=quiet(comment, 2000))


def apply(actions: Iterable[Action]) -> None:
    """Carries them out by `gh`. Done twice, it does nothing the second time, as the issues are then as planned.

    Raises:
      OSError: gh fails; what was done before stays done.
    """
    labelled = False
    for action in actions:
        number = str(action.number)
        if action.do == "open":
            if not labelled:
                gh("label", "create", LABEL, "--force", "--description", "A cause of failures in the nightly matrix")
                labelled = True
            made = gh(
                "issue", "create", "--title", action.title, "--label", LABEL, "--body-file", "-", given=action.body
            )
            print(f"opened {plain(made.strip(), 200)}: {plain(action.title, 100)}")
            continue
        if action.do == "reopen":
            gh("issue", "reopen", number)
        if action.do in ("reopen", "update"):
            gh("issue", "edit", number, "--title", action.title, "--body-file", "-", given=action.body)
        if action.comment:
            gh("issue", "comment", number, "--body-file", "-", given=action.comment)
        if action.do == "close":
            gh("issue", "close", number, "--reason", "completed")
        print(f"{action.do} {number or ''}: {plain(action.title, 100)}: {plain(action.why, 300)}")


def existing(path: Path | None = None) -> list[Issue]:
    """The issues that have the label, from GitHub, or from a file of what gh printed.

    Raises:
      OSError: neither can be read.
      ValueError: they are not what gh prints, or more than are looked at.
    """
    rows: Any
    if path:
        rows = json.loads(path.read_text())
    else:
        rows = listed("issue", "list", "--label", LABEL, "--state", "all", "--limit", str(READ), "--json", FIELDS)
    try:
        found = msgspec.convert(rows, list[Issue])
    except msgspec.ValidationError as error:
        raise ValueError(f"issues: {error}: expected what gh issue list --json {FIELDS} prints") from error
    if len(found) >= READ:
        raise ValueError(f"{READ} issues or more have the label {LABEL}: take it off old ones")
    return found
