"""Op pictures: the pictures of the errors of an op, by dtype, in the order of its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tf_opdiff.reports.analysis.ops.error_pictures import ErrorPicture
from tf_opdiff.reports.analysis.ops.op_cells import quantity_order
from tf_opdiff.reports.pages.op_pages.strip import Strip


@dataclass
class Pictures:
    """The pictures of a dtype: those of the spec with most elements, those of other specs, and empty ones."""

    first: list[Strip] = field(default_factory=list)
    more: list[Strip] = field(default_factory=list)
    exact: list[Strip] = field(default_factory=list)


def by_dtype(drawn: Sequence[ErrorPicture]) -> dict[str, Pictures]:
    """The pictures of a page by dtype."""
    pictures: dict[str, Pictures] = {}
    most: dict[tuple[str, ...], int] = {}
    for one in drawn:
        key = (one.dtype, *one.specs)
        most[key] = max(most.get(key, 0), max(int(row.elements.sum()) for row in one.rows))
    for one in sorted(drawn, key=lambda p: (-most[p.dtype, *p.specs], quantity_order(p.quantity))):
        own, strip = pictures.setdefault(one.dtype, Pictures()), Strip(one)
        is_first = not own.first or one.specs == own.first[0].errors.specs
        (own.exact if strip.exact else own.first if is_first else own.more).append(strip)
    return pictures
