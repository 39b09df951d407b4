"""Badge: the state of a run in a few words and a colour."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tf_opdiff.harness.store.records.record import FAILING
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.data.run_data import files
from tf_opdiff.reports.pages.template import environment
from tf_opdiff.reports.text.sentences import sentence

LABEL = "tf-opdiff"
#: Colours by their names at shields.io; white letters on them have a contrast of 4.5 or more.
COLOURS = {"green": "#2e7d32", "red": "#c62828", "orange": "#b45309", "lightgrey": "#616161"}
#: Widths of letters in Verdana, in thousandths of their size.
_WIDTHS = {
    **dict.fromkeys("0123456789", 636),
    **dict.fromkeys(" ", 352),
    **dict.fromkeys("fijlrt", 400),
    **dict.fromkeys(",.:;'", 420),
    **dict.fromkeys("mwMW", 980),
}
_SIZE, _PADDING = 11, 6


def message(info: RunInfo, counts: Mapping[str, int]) -> tuple[str, str]:
    """The text and the colour of the badge: green only for a whole run that ended clean and tested something."""
    failing = sum(counts[verdict] for verdict in FAILING)
    tested = sum(n for verdict, n in counts.items() if verdict != "unavailable")
    says = f"{failing:,} failing" + (f", {counts['known']:,} known" if counts["known"] else "")
    if info.state == "fault" or counts["error"]:
        return f"fault: {says}", "red"
    if not tested:
        return "nothing tested", "orange"
    if sentence.shortfalls(info):
        return f"{'not ended' if info.state == 'running' else 'partial'}: {says}", "red" if failing else "orange"
    if failing:
        return says, "red"
    return (says, "green") if info.exit_status == 0 else (f"{says}, but status {info.exit_status}", "orange")


def width(text: str) -> int:
    """About the width of a text in the badge's letters, in pixels; the picture stretches the text to it."""
    return round(sum(_WIDTHS.get(letter, 640) for letter in text) * _SIZE / 1000)


def svg(says: str, colour: str) -> str:
    """The badge as a picture with a label for screen readers."""
    left, right = (width(text) + 2 * _PADDING for text in (LABEL, says))
    template = environment().get_template("badge.svg")
    return template.render(
        label=LABEL, says=says, colour=COLOURS[colour], left=left, right=right, padding=_PADDING, size=_SIZE
    )


def endpoint(says: str, colour: str) -> str:
    """The badge as JSON, for https://shields.io/badges/endpoint-badge."""
    return json.dumps({"schemaVersion": 1, "label": LABEL, "message": says, "color": colour}) + "\n"


def write(run_dir: Path, info: RunInfo, counts: Mapping[str, int]) -> None:
    """Writes `badge.svg` and `badge.json` of a run."""
    says, colour = message(info, counts)
    files.replace_text(run_dir / "badge.svg", svg(says, colour))
    files.replace_text(run_dir / "badge.json", endpoint(says, colour))
