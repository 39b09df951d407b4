"""Extended: the rows of a recording with the cells that an older recording of the same device has, and they lack."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from tf_opdiff.harness.spec.settings import trait
from tf_opdiff.harness.store.recordings.recorded_device import PARTIAL, About
from tf_opdiff.harness.store.recordings.recording import Recording
from tf_opdiff.harness.store.run_directories.environment import apart, joined


def extended(about: About, table: pa.Table, older: Recording) -> tuple[About, pa.Table]:
    """The header and the rows of a recording, with the cells of an older one that the rows lack.

    Raises:
      ValueError: the older recording is damaged, of another device, or made in other circumstances.
    """
    differing = apart({"the run": _facts(about), older.about.name: _facts(older.about)})
    if differing:
        facts = "; ".join(
            f"{n}: {' and '.join(v or '(none)' for v in texts.values())}" for n, texts in differing.items()
        )
        raise ValueError(f"{older.path}: expected a recording of the same device as the run, which differs: {facts}")
    present = set(_cells(table))
    kept = older.table.filter(pa.array([cell not in present for cell in _cells(older.table)], pa.bool_()))
    both = [older.about, about]
    runs = tuple(dict.fromkeys(run for a in both for run in a.runs))
    about = replace(
        about,
        details={**about.details, PARTIAL: f"grown by {len(runs)} runs to {len(present | older.cells)} cells"},
        host=", ".join(dict.fromkeys(a.host for a in both)),
        machine=joined(a.machine for a in both),
        runs=runs,
        started=min(a.started for a in both),
    )
    return about, pa.concat_tables([kept, table])


def _facts(about: About) -> dict[str, str]:
    return {**about.circumstances, "traits": about.details.get(trait.FACT, ""), "device": about.device}


def _cells(table: pa.Table) -> list[tuple[str, str]]:
    return list(zip(table.column("case").to_pylist(), table.column("mode").to_pylist(), strict=True))
