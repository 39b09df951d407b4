"""Strip: a picture of the errors of one quantity over the whole range of its argument, as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from markupsafe import Markup

from tf_opdiff.reports.analysis.ops.error_pictures import ErrorPicture, PlanErrors
from tf_opdiff.reports.pages.op_pages import paths
from tf_opdiff.reports.pages.op_pages.strip_labels import cell, edge_label, range_label, ranges, share, slot_label
from tf_opdiff.reports.pages.template import compiled, own_style
from tf_opdiff.reports.text.counted import many
from tf_opdiff.reports.text.sentences.sentence import number

#: Sizes in pixels: the columns with the names of plans, the strip, the gap, the histogram and the margin on the right.
_NAMES, _STRIP, _GAP, _COUNTS, _RIGHT = 104, 520, 48, 160, 18
#: Sizes in pixels: a row, the bars in it, the line of a budget above their foot, the space above, and the axis.
_ROW, _BARS, _LIMIT, _TOP, _AXIS = 66, 44, 24, 12, 30
#: The smallest distance in pixels between two labels of an axis.
_APART = 40


@dataclass(frozen=True)
class Strip:
    """A picture of an `ErrorPicture`: for each distinct plan a strip and a histogram, on shared axes.

    Errors without a histogram have strips only. `limit` says what the budget is, behind its number. Up to the budget,
    the height of a bar is proportional to the error; the line of the budget has the same height in each row. Above it,
    the height is the logarithm of the error. A notebook shows the picture by itself.
    """

    errors: ErrorPicture
    limit: str = "allowed"

    @property
    def title(self) -> str:
        """The quantity, dtype and specs: `grad[0], float32, of asinh`."""
        p = self.errors
        return ", ".join(filter(None, [p.quantity, p.attrs, p.dtype, f"of {', '.join(p.specs)}"]))

    @property
    def elements(self) -> int:
        """The largest number of elements that were compared under one plan."""
        return max(int(row.elements.sum()) for row in self.errors.rows)

    @property
    def label(self) -> str:
        """The picture in a few sentences."""
        about = f"Error of {self.title} by the size of {self.errors.argument}."
        return " ".join([about, *(_in_words(row, self.limit) for row in self.errors.rows)])

    @property
    def svg(self) -> Markup:
        """The picture, as an element of HTML; the classes of its parts are those of `strip.css`."""
        counts = _COUNTS + _RIGHT if self.errors.edges else 0
        width, height = _NAMES + _STRIP + _GAP + counts, _ROW * len(self.errors.rows) + _AXIS
        parts = [self._row(row, i * _ROW + _TOP) for i, row in enumerate(self.errors.rows)]
        parts += [self._axis(height - _AXIS), self._edges(height - _AXIS)]
        head = '<svg class="strip" role="img" aria-label="{}" viewBox="0 0 {} {}" width="{}" height="{}">{}</svg>'
        return Markup(head).format(self.label, width, height, width, height, Markup("").join(parts))

    @property
    def exact(self) -> bool:
        """Whether no element under any plan has a distance or a wrong class, so that a picture would be empty."""
        rows = self.errors.rows
        return not any(row.largest > 0 or row.wrong.any() or row.mismatched.any() for row in rows)

    @cached_property
    def _largest(self) -> float:
        """The largest finite distance in ULPs under any plan."""
        return max((row.largest for row in self.errors.rows if math.isfinite(row.largest)), default=0.0)

    def _height(self, ulp: float, budget: float) -> int:
        """The height of a bar in pixels; a distance above 0 has at least one, one beyond the budget ends above it."""
        if math.isnan(ulp) or ulp <= 0:
            return 0
        if math.isinf(ulp):
            return _BARS
        if not budget < ulp:
            return max(1, round(_LIMIT * ulp / budget)) if math.isfinite(budget) else 1
        floor, top = max(budget, 0.25), max(self._largest, 4 * budget, 1.0)
        share = max(math.log(ulp) - math.log(floor), 0.0) / (math.log(top) - math.log(floor))  # a quotient may overflow
        foot = _LIMIT if budget else 0
        return max(foot + 3, round(foot + (_BARS - foot) * min(share, 1.0)))

    def _row(self, row: PlanErrors, top: int) -> Markup:
        """The plans, the strip and the histogram of one row."""
        off, tested, wrong = row.mismatched > 0, row.elements > 0, row.wrong > 0
        heights = np.array([self._height(ulp, row.budget) for ulp in row.max_ulp.tolist()], np.int64)
        drawn = {
            "n": paths.blocks(tested, _BARS, 2),
            "b": paths.bars(np.where(off, 0, heights), _BARS),
            "o": paths.bars(np.where(off, heights, 0), _BARS),
            "a": paths.blocks(wrong & ~off, -7, 5),
            "w": paths.blocks(wrong & off, -7, 5),
        }
        strip = Markup("").join(Markup('<path class="{}" d="{}"/>').format(name, d) for name, d in drawn.items() if d)
        scale = f"translate({_NAMES} {top})scale({_STRIP / max(1, len(self.errors.slots)):.4g} 1)"
        parts = [_names(row, top), Markup('<g transform="{}">{}</g>').format(scale, strip), _budget(row, top)]
        if row.largest > row.budget:
            text = '<text class="q" x="{}" y="{}">{}</text>'
            parts.append(Markup(text).format(_NAMES + _STRIP + 3, top + 2, number(row.largest)))
        return Markup("").join([*parts, self._counts(row, top)])

    def _axis(self, y: int) -> Markup:
        """The ticks below all strips."""
        slots = self.errors.slots
        width = _STRIP / max(1, len(slots))
        ticks = []
        for i, slot in enumerate(slots):
            x = _NAMES + width * (i + (0.5 if not slot.step else slot.sign < 0))
            ticks.append((x, slot_label(slot, len(slots)), not slot.step))
        name = Markup('<text class="t q" x="{}" y="{}">{}</text>').format(
            _NAMES + _STRIP / 2, y + 25, self.errors.argument
        )
        return _labels(ticks, y + 12) + name

    def _counts(self, row: PlanErrors, top: int) -> Markup:
        """The histogram of a row: a bar for each edge; its height is the logarithm of the count."""
        edges, most = self.errors.edges, max(int(r.counts.sum()) for r in self.errors.rows)
        step, drawn = _COUNTS / max(1, len(edges)), {"b": "", "o": "", "a": "", "w": ""}
        for i, (edge, n) in enumerate(zip(edges, row.counts.tolist(), strict=True)):
            if n:
                height = max(2, round(_BARS * math.log2(1 + n) / math.log2(1 + most)))
                x, w = _NAMES + _STRIP + _GAP + step * i, max(2.0, step - 2)
                within = "b" if share(edge, row.budget) > 0 else "o"
                name = ("w" if row.mismatched.any() else "a") if math.isnan(edge) else within
                drawn[name] += f"M{x:.4g} {top + _BARS}h{w:.3g}v-{height}h-{w:.3g}z"
        return Markup("").join(Markup('<path class="{}" d="{}"/>').format(name, d) for name, d in drawn.items() if d)

    def _edges(self, y: int) -> Markup:
        """The labels below all histograms, and the lines of the budgets through them."""
        edges, x0 = self.errors.edges, _NAMES + _STRIP + _GAP
        if not edges:
            return Markup("")
        step, lines = _COUNTS / len(edges), []
        for i, row in enumerate(self.errors.rows):
            x = x0 + step * sum(share(edge, row.budget) for edge in edges) - 1
            lines.append(Markup('<path class="l" d="M{:.4g} {}v{}"/>').format(x, i * _ROW + 4, _ROW - 8))
        ticks = [(x0 + step * (i + 0.5), edge_label(edge), math.isnan(edge)) for i, edge in enumerate(edges)]
        name = Markup('<text class="t q" x="{}" y="{}">elements by error in ULP</text>').format(
            x0 + _COUNTS / 2, y + 25
        )
        return Markup("").join([_labels(ticks, y + 12, apart=26), name, *lines])

    @property
    def table(self) -> list[tuple[str, list[str]]]:
        """The numbers of the strips: for each range of arguments the largest distance under each row's plans."""
        lines = []
        for some in ranges(self.errors.slots):
            cells = [cell(row, some) for row in self.errors.rows]
            if any(cells):
                lines.append((range_label([self.errors.slots[i] for i in some]), [text or "–" for text in cells]))
        return lines

    @property
    def counts(self) -> list[tuple[str, list[str]]]:
        """The numbers of the histograms: for each edge the number of elements under each row's plans."""
        names = [
            f"at most {edge_label(edge)} ULP" if math.isfinite(edge) else edge_label(edge) for edge in self.errors.edges
        ]
        numbers = [[f"{int(row.counts[i]):,}" for row in self.errors.rows] for i in range(len(names))]
        return list(zip(names, numbers, strict=True))

    def _repr_html_(self) -> str:
        """The picture with its numbers and its style, for a notebook."""
        return compiled("op/figure.html").render(strip=self, style=own_style("op/strip.css"))

    def _repr_svg_(self) -> str:
        """The picture as a file of its own."""
        style = Markup("<style>{}</style></svg>").format(own_style("op/strip.css"))
        head = '<svg xmlns="http://www.w3.org/2000/svg" '
        return str(self.svg).replace("<svg ", head, 1).removesuffix("</svg>") + str(style)


def _in_words(row: PlanErrors, limit: str) -> str:
    elements, wrong, off = (int(counts.sum()) for counts in (row.elements, row.wrong, row.mismatched))
    text = f"On {', '.join(row.plans)}: {many(elements, 'element')}, at most {number(row.largest)} ULP off"
    text += f", {number(row.budget)} {limit}" if math.isfinite(row.budget) else ""
    text += f"; {many(wrong, 'element')} of a wrong class" if wrong else ""
    return f"{text}; {many(off, 'element')} off by more than allowed." if off else f"{text}."


def _names(row: PlanErrors, top: int) -> Markup:
    """The names of a row's plans; of more than four, the first three."""
    lines = row.plans if len(row.plans) <= 4 else [*row.plans[:3], f"and {len(row.plans) - 3} more"]
    texts = [Markup('<text x="0" y="{}">{}</text>').format(top + 8 + 12 * i, line) for i, line in enumerate(lines)]
    return Markup("").join(texts)


def _budget(row: PlanErrors, top: int) -> Markup:
    """The line of the budget across a strip, and its number; nothing without a finite budget."""
    if not math.isfinite(row.budget):
        return Markup("")
    y = top + _BARS - (_LIMIT if row.budget else 0)
    line = '<path class="l" d="M{} {}h{}"/><text class="q" x="{}" y="{}">{}</text>'
    return Markup(line).format(_NAMES, y, _STRIP, _NAMES + _STRIP + 3, y + 4, number(row.budget))


def _labels(ticks: Iterable[tuple[float, str, bool]], y: int, apart: int = _APART) -> Markup:
    """Labels at x; one that is too near to its neighbour is left out, unless it has to stand."""
    placed: list[tuple[float, str, bool]] = []
    for x, text, needed in ticks:
        if not text:
            continue
        while needed and placed and x - placed[-1][0] < apart and not placed[-1][2]:
            placed.pop()
        if not placed or x - placed[-1][0] >= apart * (0.4 if needed else 1):
            placed.append((x, text, needed))
    return Markup("").join(
        Markup('<text class="t" x="{:.4g}" y="{}">{}</text>').format(x, y, text) for x, text, _ in placed
    )
