"""The size of a run directory on the disk: what each record, each page of an op and each program may add."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tf_opdiff import reports
from tf_opdiff.harness.repro import archive
from tf_opdiff.harness.repro.script_runs.outcome import Outcome
from tf_opdiff.harness.store.shards import compressed, whole_lines
from tf_opdiff.reports.tests.planted import synthetic

#: Bytes on the disk for each record, without the pages of ops; and for each such page.
RECORD, PAGE = 150, 10 << 10
#: Bytes for each program of a known failure, its outcome and its text in the page.
PROGRAM = 600
RECIPES = ("edges", "bits", "plain", "halves", "subnormals")


def on_disk(folder: Path) -> int:
    """The bytes of the blocks that the files in a folder take, as `du` counts them."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))


def written(folder: Path, ops: int, programs: int = 0) -> tuple[int, int, int]:
    """The bytes of a finished run without its pages of ops, those of the pages, and the number of its records."""
    rows = synthetic.records(synthetic.ops(ops), ["cpu", "gpu:0"], RECIPES)
    rows = [replace(row, raw_op="Op" + row.spec.replace("_", "X")) for row in rows]
    info = synthetic.write(folder, rows, observed=True)
    (folder / "repro").mkdir()
    outcomes = []
    for n in range(programs):
        (folder / "repro" / f"known-{n}.py").write_text(
            f"import tensorflow as tf\n# {n}\n" + "print(tf.abs(1))\n" * 150
        )
        names = ("suite", "spec", "verdict", "kind", "case", "device", "mode", "against", "quantity")
        about = {name: getattr(rows[n], name) for name in names} | {"verdict": "known", "reason": f"reason {n}"}
        outcomes.append(Outcome(**about, status="reproduced", script=f"repro/known-{n}.py", output="got 1\n[EXIT 1]"))
    packed = archive.pack(outcomes, folder / "repro")
    (folder / "repro.json").write_text(json.dumps([vars(one) for one in packed]))
    reports.write(folder, info)
    whole_lines.compress(folder)
    pages = on_disk(folder / "ops")
    return on_disk(folder) - pages, pages, len(rows)


def test_a_run_takes_few_bytes_for_each_record_and_each_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "LEAST", 0)
    small, large = (written(tmp_path / str(ops), ops) for ops in (4, 400))
    records = large[2] - small[2]
    assert records > 10_000
    assert (large[0] - small[0]) / records < RECORD
    pages = len([*(tmp_path / "400" / "ops").glob("*.html")])
    assert large[1] / pages < PAGE


def test_many_programs_of_known_failures_take_few_bytes(tmp_path: Path) -> None:
    none, many = (written(tmp_path / str(programs), 60, programs)[0] for programs in (0, 300))
    assert (many - none) / 300 < PROGRAM
