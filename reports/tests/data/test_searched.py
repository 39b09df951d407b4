"""The rows of searches: modes with the same bits share a row, a later search replaces an earlier one."""

import numpy as np
import pytest

from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards.shard import Shard
from tf_opdiff.reports.data.figures import searched
from tf_opdiff.reports.text.atlases.atlas import document
from tf_opdiff.reports.text.atlases.searched import cells

ONE_AND_A_HALF = hex(int(np.float64(1.5).view(np.uint64)))


def row(mode, max_ulp, checksum, tried=1000, spec="cosh", **more):
    facts = {"spec": spec, "dtype": "float64", "attrs": "", "device": "cpu", "mode": mode, "quantity": "output[0]"}
    facts |= {
        "raw_op": "Cosh",
        "descents": 2,
        "tried": tried,
        "guide": 0.0,
        "max_ulp": max_ulp,
        "got": "2",
        "want": "3",
    }
    return {**facts, "worst": [ONE_AND_A_HALF], "wrong": {"nan": ["0x1"]}, "same": 64, "checksum": checksum, **more}


def run(folder, *rows):
    (folder / "shards").mkdir(parents=True)
    started = "2026-01-02T00:00:00+00:00"
    RunInfo(run=folder.name, started=started, tf="9.9.0", machine={"processor": "a CPU"}).save(folder)
    shard = Shard(folder / "shards" / "a.jsonl")
    for one in rows:
        shard.write("searched", **one)
    shard.close()
    return folder


def places(rows):
    return [(r["spec"], r["mode"], r["same_bits"], r["same_inputs"], r["max_ulp"], r["tried"]) for r in rows]


def test_modes_with_the_same_bits_share_a_row_and_the_others_have_their_own(tmp_path):
    rows = [row("eager", 1.5, 7), row("xla", 495.7, 8), row("graph", 1.5, 7, 64), row("function", 2.5, 9, 64)]
    expected = [("cosh", "eager", "graph", 64, 1.5, 1000), ("cosh", "function", "", 0, 2.5, 64)]
    assert places(searched.rows([run(tmp_path / "a", *rows)])) == [*expected, ("cosh", "xla", "", 0, 495.7, 1000)]


def test_a_later_search_replaces_the_rows_of_its_spec_alone(tmp_path):
    folder = tmp_path / "atlas"
    searched.store(searched.rows([run(tmp_path / "a", row("eager", 9, 7), row("eager", 2, 7, spec="sin"))]), folder)
    searched.store(searched.rows([run(tmp_path / "b", row("xla", 3, 7))]), folder)
    assert [(r["spec"], r["mode"], r["max_ulp"]) for r in searched.load(folder)["cpu@9.9.0"]] == [
        ("cosh", "xla", 3.0),
        ("sin", "eager", 2.0),
    ]
    (folder / "cpu@9.9.0.csv").write_text("spec,dtype\n")
    with pytest.raises(ValueError, match="expected spec, raw_op"):
        searched.load(folder)


def test_the_document_shows_searches_as_lower_bounds_beside_the_figures_of_others(tmp_path):
    rows = searched.rows([run(tmp_path / "a", row("eager", 1.5, 7), row("xla", 495.7, 8))])
    others = tmp_path / "published.toml"
    others.write_text(
        '[measured.jax]\nname = "JAX"\ntitle = "t"\nlink = "l"\nread = "r"\nunit = "u"\nfloat64 = { cosh = 496 }\n'
    )
    text = document({}, others, {"cpu@9.9.0": rows})
    assert "## Largest errors found by searches" in text
    line = "| cosh | float64 | value | xla | ≥ 495.7 | 0x3ff8000000000000 (1.5) | 2 | 3 |"
    assert line in text
    assert "nan: 0x0000000000000001 (4.94066e-324) | 1,000 |" in text
    assert "| cosh | ≥ 1.5 | ≥ 495.7 | 496 |" in text
    assert cells(rows)["cosh"]["float64", "xla"] == "≥ 495.7"
