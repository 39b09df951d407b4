"""Drawings: the flow and the rooms, as SVG that shows offline and on GitHub."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

INK, FRAME, ROOM, DATA, TOLD = "#1f2937", "#f3f4f6", "#dbeafe", "#fef3c7", "#dcfce7"
_STYLE = "font-family='system-ui, sans-serif' font-size='13'"
_ARROW = (
    "<defs><marker id='head' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='8' markerHeight='8' orient='auto'>"
    f"<path d='M0 0 L8 4 L0 8 z' fill='{INK}'/></marker></defs>"
)


class Box(NamedTuple):
    """A box: its left upper corner and size in pixels, its lines of text, and its colour. The first line is bold."""

    x: int
    y: int
    width: int
    height: int
    lines: Sequence[str]
    colour: str

    def svg(self) -> str:
        """The box as SVG."""
        middle, top = self.x + self.width / 2, self.y + self.height / 2 - 8 * (len(self.lines) - 1) + 4
        texts = [
            f"<text x='{middle:g}' y='{top + 16 * i:g}' text-anchor='middle' fill='{INK}'"
            f" font-weight='{400 if i else 600}'>{escape(line)}</text>"
            for i, line in enumerate(self.lines)
        ]
        frame = f"<rect x='{self.x}' y='{self.y}' width='{self.width}' height='{self.height}' rx='6'"
        return f"{frame} fill='{self.colour}' stroke='{INK}' stroke-width='0.7'/>" + "".join(texts)


def arrow(*points: tuple[int, int], label: str = "") -> str:
    """A line through points, with a head at its end and a label above its first part."""
    path = " L".join(f"{x} {y}" for x, y in points)
    (x1, y1), (x2, y2) = points[0], points[1]
    text = f"<text x='{(x1 + x2) / 2:g}' y='{(y1 + y2) / 2 - 5:g}' text-anchor='middle' fill='{INK}' font-size='11'>"
    words = f"{text}{escape(label)}</text>" if label else ""
    return f"<path d='M{path}' fill='none' stroke='{INK}' marker-end='url(#head)'/>{words}"


def drawing(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    """An SVG file of this size in pixels."""
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' {_STYLE} role='img'>"
    )
    ground = f"<rect width='{width}' height='{height}' rx='8' fill='white'/>"
    return "\n".join([head, f"<title>{escape(title)}</title>", _ARROW, ground, *parts, "</svg>", ""])


def flow() -> str:
    """The way from a declaration to the report."""
    boxes = (
        Box(20, 30, 150, 56, ("declarations", "suites/ops, programs"), TOLD),
        Box(208, 30, 172, 56, ("specs → cases → plans", "harness/spec"), ROOM),
        Box(440, 10, 170, 50, ("reference in NumPy", "harness/judge"), ROOM),
        Box(440, 80, 170, 66, ("device servers", "one per device", "harness/device"), ROOM),
        Box(670, 10, 170, 50, ("expectation", "values, errors, budgets"), DATA),
        Box(670, 80, 170, 66, ("observation", "arrays, an error,", "a crash, a hang"), DATA),
        Box(
            440, 200, 400, 56, ("comparison → verdict → record", "harness/judge, with contracts and suites/known"), ROOM
        ),
        Box(230, 200, 150, 56, ("run directory", "harness/store"), DATA),
        Box(20, 200, 150, 56, ("pages, tables, diff", "reports"), ROOM),
        Box(20, 300, 150, 40, ("you",), TOLD),
        Box(230, 300, 150, 40, ("recordings",), DATA),
    )
    arrows = (
        arrow((170, 58), (208, 58), label="forms"),
        arrow((380, 50), (440, 35)),
        arrow((380, 66), (440, 105)),
        arrow((610, 35), (670, 35)),
        arrow((610, 113), (670, 113)),
        arrow((755, 146), (755, 200)),
        arrow((840, 35), (860, 35), (860, 228), (840, 228)),
        arrow((440, 228), (380, 228), label="shards"),
        arrow((230, 228), (170, 228), label="load"),
        arrow((95, 256), (95, 300)),
        arrow((305, 256), (305, 300)),
        arrow((380, 320), (525, 320), (525, 256)),
    )
    return drawing(880, 360, "From a declaration to the report", [*(box.svg() for box in boxes), *arrows])


def rooms(titles: Mapping[str, str]) -> str:
    """The rooms, from top to bottom: name, such as `harness.run` → title, such as `Test runner`."""
    groups: dict[str, list[str]] = {"reports": [], "suites": [], "harness": []}
    for room, title in titles.items():
        top, _, name = room.partition(".")
        if name:
            groups[top].append(name if title.lower() in ("", name) else f"{name}: {title[0].lower()}{title[1:]}")
    step, width = 30, 190
    tall = 40 + step * max(len(groups["reports"]), len(groups["suites"]))
    below = 70 + tall + 30
    parts = [Box(20, 14, 440, 34, ("tf_opdiff: the command line",), TOLD).svg()]
    for x, y, top in ((20, 70, "reports"), (270, 70, "suites")):
        parts += [_frame(x, y, width, 40 + step * len(groups[top]), top), *_stack(x, y, width, groups[top], step)]
        parts.append(arrow((x + width // 2, 48), (x + width // 2, 70)))
        parts.append(arrow((x + width // 2, 70 + 40 + step * len(groups[top])), (x + width // 2, below)))
    parts += [_frame(20, below, 440, 40 + step * len(groups["harness"]), "harness")]
    parts += _stack(20, below, 440, groups["harness"], step)
    return drawing(480, below + 60 + step * len(groups["harness"]), "The rooms: imports go down", parts)


def _frame(x: int, y: int, width: int, height: int, name: str) -> str:
    head = f"<text x='{x + 12}' y='{y + 22}' fill='{INK}' font-weight='600'>{escape(name)}/</text>"
    return f"<rect x='{x}' y='{y}' width='{width}' height='{height}' rx='6' fill='{FRAME}' stroke='{INK}'/>{head}"


def _stack(x: int, y: int, width: int, names: Sequence[str], step: int) -> list[str]:
    return [Box(x + 12, y + 34 + step * i, width - 24, step - 6, (name,), ROOM).svg() for i, name in enumerate(names)]
