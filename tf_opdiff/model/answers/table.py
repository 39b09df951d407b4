"""Table: the recorded ops with their own and their inherited errors, a row for each op and plan, as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tf_opdiff.model.answers.answer import Answer
from tf_opdiff.model.recordings.recorded import Recording

COLUMNS = (
    *("plan", "op", "type", "gradient_of", "layer", "file", "line"),
    *("own_error", "error_with_inherited", "kinds", "max_ulp", "not_replayed", "failure", "setting", "known"),
)


def write_table(file: Path, answers: Iterable[Answer], recordings: Mapping[int, Recording]) -> None:
    """Writes a row for each op that was to be replayed, in execution order, plan by plan.

    `own_error` and `error_with_inherited` are relative errors: see `OpReport`. `kinds` are the kinds of differences
    beyond the budget. Only ops that the answer names have the last two: `setting` is the variant on which the
    difference depends, `none` if it depends on none that was tried; `known` are the ids of the causes of known
    failures. An answer without reports has no rows: nothing differs there. `recordings` are by the number
    of their step.
    """
    with file.open("w", newline="", encoding="utf-8") as text:
        rows = csv.writer(text)
        rows.writerow(COLUMNS)
        for answer in answers:
            rows.writerows(_rows(answer, recordings[answer.step]))


def _rows(answer: Answer, recording: Recording) -> Iterator[tuple[object, ...]]:
    for report in answer.reports:
        op = recording.ops[report.number]
        kinds = dict.fromkeys(kind for comparison in report.comparisons for kind in comparison.kinds)
        ulps = [comparison.max_ulp for comparison in report.comparisons if comparison.max_ulp == comparison.max_ulp]
        forward = "" if op.gradient_of is None else op.gradient_of + 1
        place = op.place.layer, op.place.file, op.place.line or ""
        errors = (report.local, report.total) if report.comparisons else ("", "")
        outcome = ";".join(kinds), max(ulps, default=""), report.skipped, report.failure
        explained = (answer.switch, ";".join(answer.causes)) if op.number in answer.ops else ("", "")
        yield answer.plan, op.number + 1, op.type, forward, *place, *errors, *outcome, *explained
