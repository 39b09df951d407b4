"""Discrepancies page: all discrepancies of a run; a form chooses, groups and sorts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tf_opdiff.harness.judge.verdicts.severity import SEVERITIES
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.analysis.grid import STATES
from tf_opdiff.reports.data.causes.mechanism import MECHANISMS
from tf_opdiff.reports.pages.menu import DISCREPANCIES, INDEX, Menu
from tf_opdiff.reports.pages.run_pages.run_overview import Shown
from tf_opdiff.reports.pages.scripts import enclosed, hash_of, script
from tf_opdiff.reports.pages.template import HERE, POLICY, render

_SCRIPTS = ("dom.js", "discrepancies/discrepancies.js")
#: The file with the rows of the page, as a table for spreadsheets.
CSV = "discrepancies.csv"
#: The words for `Shown.upstream`.
UPSTREAM = {"reported": "reported upstream", "fixed": "fixed on master", "none": "neither"}
_SIDES = {"plans": "plans disagree", "numpy": "TensorFlow against NumPy"}


def html(shown: Sequence[Shown], info: RunInfo, menu: Menu | None = None) -> str:
    """The page. Without its script, it is complete. All text from outside is escaped."""
    own = enclosed(script(HERE / "templates" / name) for name in _SCRIPTS)
    severities = {one.of.severity: one.of.severity_title for one in shown}
    return render(
        "discrepancies.html",
        policy=f"{POLICY}; script-src {hash_of(own)}",
        own=own,
        info=info,
        menu=menu or Menu(DISCREPANCIES),
        run_page=INDEX,
        total=len(shown),
        failing=[one for one in shown if not one.of.known],
        known=[one for one in shown if one.of.known],
        states=STATES,
        severity_names=list(SEVERITIES),
        meanings=MECHANISMS,
        severities=_options((one.of.severity for one in shown), severities),
        mechanisms=_options((one.mechanism for one in shown), {name: name for name in MECHANISMS}),
        owners=_options(one.of.owner for one in shown),
        upstream=_options((one.upstream for one in shown), UPSTREAM),
        sides=_options(("plans" if one.of.disagree else "numpy" for one in shown), _SIDES),
    )


def _options(values: Iterable[str], words: dict[str, str] | None = None) -> list[tuple[str, str]]:
    """The options of a filter, each with its count; the first lets everything pass."""
    counts = Counter(value for value in values if value)
    order = [*(name for name in words or {} if name in counts), *sorted(counts.keys() - (words or {}).keys())]
    return [("", "any"), *((name, f"{(words or {}).get(name, name)} ({counts[name]:,})") for name in order)]
