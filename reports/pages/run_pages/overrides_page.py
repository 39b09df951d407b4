"""Overrides page: which gradient overrides are applied, by op, mechanism, mode and place, with their programs."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.analysis.overrides.override_answers import answers
from tf_opdiff.reports.analysis.overrides.override_devices import DEVICE_STATES, OverrideDevice
from tf_opdiff.reports.analysis.overrides.override_matrix import STATES, Cell, OverrideMatrix
from tf_opdiff.reports.pages.menu import Menu
from tf_opdiff.reports.pages.template import own_style, render


def html(
    matrices: Sequence[OverrideMatrix],
    others: Sequence[OverrideDevice],
    programs: int,
    info: RunInfo,
    menu: Menu | None = None,
) -> str:
    """The page. It has no script, and all text from outside is escaped.

    Args:
      matrices: the matrix of each CPU of the run; at least one.
      others: the cells of the run's other devices.
      programs: the number of cells that have a program.
      info: its run.json.
      menu: that of the page; without it, one without further pages.
    """
    return render(
        "overrides.html",
        own_style=own_style("overrides/overrides.css"),
        matrices=matrices,
        answers={matrix.device: answers(matrix) for matrix in matrices},
        states=STATES,
        others=others,
        device_states=DEVICE_STATES,
        programs=programs,
        modes=MODES,
        info=info,
        menu=menu or Menu("overrides.html"),
        record_of=record_address,
    )


def record_address(cell: Cell) -> str:
    """The address of the record behind a cell, in the page of its run; empty if the cell has none."""
    return f"index.html#record={quote('|'.join(cell.record), safe='')}" if cell.record else ""
