"""GitHub: a run as a job summary and as annotations of GitHub's Actions.

The limits and the escapes are documented at
https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.data.causes.discrepancy import Discrepancy
from tf_opdiff.reports.data.names import spec_lines
from tf_opdiff.reports.text.counted import many, names
from tf_opdiff.reports.text.lines import plain
from tf_opdiff.reports.text.sentences import sentence

#: The most bytes of a step's summary.
SUMMARY_LIMIT = 1 << 20
#: The most errors that are shown for a step.
MOST = 10
CUT = "\n\n*The rest did not fit: see `summary.md` and `index.html` of the run.*\n"


def errors(info: RunInfo, ranked: Sequence[Discrepancy]) -> list[str]:
    """Commands that show failures as errors at the line of a spec, one for each cause; at most ten, the rest counted.

    A partial run is the first error; then the most severe failure. `ranked` has the discrepancies of the run, as
    `reports.data.causes.discrepancies.discrepancies` gives them.
    """
    failing = _causes([one for one in ranked if not one.known])
    missing = sentence.shortfalls(info)
    commands = [command("error", plain("; ".join(missing), 2000), title="tf-opdiff: partial run")] if missing else []
    room = MOST - len(commands)
    shown = failing if len(failing) <= room else failing[: room - 1]
    commands += [_annotation(cause) for cause in shown]
    if len(shown) < len(failing):
        rest = f"{sum(map(len, failing[len(shown) :])):,} more findings are in the report"
        commands.append(command("error", rest, title="tf-opdiff: more findings"))
    return commands


def _causes(failing: Sequence[Discrepancy]) -> list[list[Discrepancy]]:
    """Failures of one family, verdict and kind on the same plans together, in the order of the most severe of each."""
    causes: dict[tuple[object, ...], list[Discrepancy]] = {}
    for one in failing:
        causes.setdefault((one.suites, one.verdict, one.kinds, one.plans), []).append(one)
    return list(causes.values())


def _annotation(cause: Sequence[Discrepancy]) -> str:
    """A command for the failures of one cause, at the line of the spec that represents them."""
    first, record = cause[0], cause[0].example
    file, line = spec_lines.place(str(record["suite"]), str(record["spec"]))
    count, specs = many(sum(one.records for one in cause), "record"), [one.example["spec"] for one in cause]
    texts = [sentence.of_record(record), sentence.values(record), record["detail"], f"rerun: {record['rerun']}"]
    title = f"{first.verdict}: {names(specs)} {' '.join(first.kinds)}, {count} on {' '.join(first.plans)}"
    message = "\n".join(plain(str(text), 500) for text in texts if text)
    return command("error", message, file=file, line=str(line), title=plain(title, 200))


def command(name: str, message: str, **properties: str) -> str:
    """A workflow command on one line; its parts may hold any text."""
    text = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in properties.items())
    return f"::{name} {text}::{_escaped(message)}"


def _escaped(text: str, more: str = "") -> str:
    """A text with escapes; `##[` anywhere in it would begin a command of the old syntax."""
    text = text.replace("##[", "## [").replace("%", "%25")
    for letter in "\r\n" + more:
        text = text.replace(letter, f"%{ord(letter):02X}")
    return text


def annotated(info: RunInfo, ranked: Sequence[Discrepancy], environment: Mapping[str, str]) -> list[str]:
    """`errors` under GitHub's Actions, else nothing."""
    return errors(info, ranked) if environment.get("GITHUB_ACTIONS") == "true" else []


def summarise(markdown: Path, environment: Mapping[str, str]) -> None:
    """Appends a run's Markdown to the summary of the job, if GitHub's Actions ask for one; cuts it to the limit.

    Raises:
      OSError: the summary can't be written.
    """
    if not environment.get("GITHUB_STEP_SUMMARY"):
        return
    with Path(environment["GITHUB_STEP_SUMMARY"]).open("ab") as file:
        room = SUMMARY_LIMIT - file.tell()
        file.write(fitted(markdown.read_text(), room).encode())


def summarise_or_say_why(markdown: Path, environment: Mapping[str, str]) -> None:
    """`summarise`; where the summary can't be written, prints the reason, since the report itself is whole."""
    try:
        summarise(markdown, environment)
    except OSError as why:
        print(f"\nthe job summary can't be written: {why}", file=sys.stderr)


def fitted(text: str, room: int) -> str:
    """Whole lines of a text in at most `room` bytes, with a note if the text was cut."""
    data = f"\n{text}\n".encode()
    if len(data) <= room:
        return data.decode()
    lines = data[: max(0, room - len(CUT.encode()))].rpartition(b"\n")[0]
    return (lines.decode() + CUT) if room >= len(CUT.encode()) else ""
