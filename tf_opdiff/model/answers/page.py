"""Page: the answers about a program as a page of its own: curves over steps, strips down the program, tables of ops."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from markupsafe import Markup

from tf_opdiff.model.answers.answer import Answer, ResultDifference, lines, named
from tf_opdiff.model.answers.op_report import OpReport
from tf_opdiff.model.answers.tolerance import serious
from tf_opdiff.model.recordings.recorded import Recording
from tf_opdiff.reports.pages.op_pages import paths
from tf_opdiff.reports.pages.template import LISTED, own_style, render

#: Sizes in pixels: the column of names, the picture, a row, and the bars in it.
_NAMES, _WIDTH, _ROW, _BARS = 150, 720, 64, 48
#: The exponents of ten of the smallest error that has a bar of its own height, and of the largest.
_LEAST, _MOST = -9.0, 0.0


def write_page(file: Path, program: str, answers: Sequence[Answer], recordings: Mapping[int, Recording]) -> None:
    """Writes the page of a program, which has no script; `recordings` are by the number of their step."""
    sections = [_Section(answer, recordings[answer.step]) for answer in answers]
    text = render("model.html", program=program, sections=sections, strip_style=own_style("op/strip.css"))
    file.write_text(text, "utf-8")


@dataclass(frozen=True)
class _Section:
    """The answer about one plan, as the template takes it."""

    answer: Answer
    recording: Recording

    @property
    def lines(self) -> list[str]:
        """The answer, a line at a time; the first one is the heading."""
        return list(lines(self.answer, self.recording))

    @property
    def curves(self) -> list[tuple[str, Markup]]:
        """Pairs (name of a result, the picture of its error after each step), for results of several steps."""
        return [(r.name, _curve(r)) for r in self.answer.results if len(r.curve) > 1]

    @property
    def strip(self) -> Markup:
        """The errors of each op alone and with inherited errors, side by side, in execution order."""
        reports = self.answer.reports
        beyond = np.array([_beyond(report) for report in reports], bool)
        rows = {
            "own error": [math.inf if report.failure else report.local for report in reports],
            "with inherited error": [report.total for report in reports],
        }
        drawn = [_row(name, errors, beyond, n * _ROW) for n, (name, errors) in enumerate(rows.items())]
        height = _ROW * len(rows) + 12
        label = f"Errors of {len(reports)} ops in execution order; {int(beyond.sum())} differ beyond their budget"
        head = '<svg class="strip" role="img" aria-label="{}" viewBox="0 0 {} {}" width="{}" height="{}">{}</svg>'
        width = _NAMES + _WIDTH
        return Markup(head).format(label, width, height, width, height, Markup("").join(drawn))

    @property
    def rows(self) -> list[tuple[str, str, str, str]]:
        """The ops of the table: words, own error, error with inherited error, kinds of differences or why not replayed.

        Ops without an error are left out; of more than `LISTED` ops, the first ones remain.
        """
        shown = [r for r in self.answer.reports if r.failure or r.skipped or r.local or r.total]
        return [self._cells(report) for report in shown[:LISTED]]

    def _cells(self, report: OpReport) -> tuple[str, str, str, str]:
        op = self.recording.ops[report.number]
        kinds = ", ".join(dict.fromkeys(kind for one in report.comparisons for kind in one.kinds))
        errors = [f"{error:.2g}" if report.comparisons else "" for error in (report.local, report.total)]
        return named(op, self.recording), errors[0], errors[1], kinds or report.failure or report.skipped


def _beyond(report: OpReport) -> bool:
    return bool(report.failure) or any(map(serious, report.comparisons))


def _height(error: float) -> int:
    """The height of a bar: proportional to the logarithm of the error; none without an error."""
    if math.isnan(error) or error <= 0:
        return 0
    share = (math.log10(error) - _LEAST) / (_MOST - _LEAST) if math.isfinite(error) else 1.0
    return max(1, round(_BARS * min(1.0, share)))


def _row(name: str, errors: Sequence[float], beyond: np.ndarray, top: int) -> Markup:
    """A row of bars; those of ops that differ beyond their budget have another colour."""
    heights = np.array([_height(error) for error in errors], np.int64)
    pairs = {"b": np.where(beyond, 0, heights), "o": np.where(beyond, heights, 0)}
    drawn = {kind: paths.bars(_narrowed(part), _BARS) for kind, part in pairs.items()}
    bars = Markup("").join(Markup('<path class="{}" d="{}"/>').format(kind, d) for kind, d in drawn.items() if d)
    scale = f"translate({_NAMES} {top + 8})scale({max(1.0, _WIDTH / max(1, len(errors))):.4g} 1)"
    line = '<text x="0" y="{}">{}</text><path class="l" d="M{} {}h{}"/><g transform="{}">{}</g>'
    return Markup(line).format(top + _BARS, name, _NAMES, top + 8 + _BARS, _WIDTH, scale, bars)


def _narrowed(heights: np.ndarray) -> np.ndarray:
    """The heights; of more ops than the picture has pixels, the largest in each pixel: a lone bar would not be seen."""
    if len(heights) <= _WIDTH:
        return heights
    return np.array([part.max() for part in np.array_split(heights, _WIDTH)])


def _curve(result: ResultDifference) -> Markup:
    """The error of a result after each step, on a logarithmic scale."""
    step = _WIDTH / (len(result.curve) - 1)
    points = " ".join(f"{_NAMES + n * step:.4g},{8 + _BARS - _height(e)}" for n, e in enumerate(result.curve))
    label = f"Relative error of {result.name} after each step: " + ", ".join(f"{e:.2g}" for e in result.curve)
    head = '<svg class="strip" role="img" aria-label="{}" viewBox="0 0 {} {}" width="{}" height="{}">'
    line = '<text x="0" y="{}">{}</text><polyline points="{}" fill="none" stroke="currentColor"/></svg>'
    size, last = (_NAMES + _WIDTH, _ROW), f"{result.curve[-1]:.2g} at the end"
    return Markup(head).format(label, *size, *size) + Markup(line).format(_BARS, last, points)
