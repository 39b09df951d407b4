"""The atlas holds finished sweeps alone, says how much of a dtype they tried, and joins modes with the same bits."""

import json

import numpy as np
import pytest

from tf_opdiff.command_line import main
from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.spec.inputs.recipes import bit_patterns
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards.shard import Shard
from tf_opdiff.harness.sweep.measurements.oracle import Oracle
from tf_opdiff.harness.sweep.measurements.pieces import NORMAL
from tf_opdiff.harness.sweep.sweep import Sweep
from tf_opdiff.reports.data.figures import atlas
from tf_opdiff.reports.data.run_data import sweep_tables
from tf_opdiff.reports.pages.op_pages import atlas_page
from tf_opdiff.reports.text.atlases.atlas import document

WHOLE = 0, 1 << 16
SPEC = Spec(
    name="third",
    program=lambda tf, x: x,
    reference=lambda x: x / 3,
    ops="",
    dtypes=("float16",),
    ulp={"output": 2},
    recipes={"bits": bit_patterns},
    every_input=True,
)
#: The bit pattern of 1.5, which these results get wrong.
WRONG = 0x3E00


def third(x, off=0):
    """A third, `off` bit patterns too high at one input."""
    with np.errstate(all="ignore"):
        y = (x.astype(np.float64) / 3).astype(np.float16)
    y.view(np.uint16)[x.view(np.uint16) == WRONG] += np.uint16(off)
    return y


def run(folder, modes, *, span=WHOLE, step=1, result=third, started="2026-01-01T00:00:00+00:00", block=1 << 14):
    """The directory of a run with the blocks of a sweep, each with the result that `modes` names for its mode."""
    (folder / "shards").mkdir(parents=True)
    info = RunInfo(run=folder.name, started=started, tf="9.9.0", machine={"processor": "a CPU"})
    info.save(folder)
    plans = [Plan(Device("cpu"), mode) for mode in modes]
    sweep = Sweep(Item("m", SPEC, "float16"), plans, *span, block=block, step=step)
    shard = Shard(folder / "shards" / "a.jsonl")
    for lo, hi in sweep.blocks():
        x = sweep.inputs(lo, hi).array()
        for plan in plans:
            value = modes[plan.mode](x)
            observed = Result("crash", code="SIGABRT") if value is None else Result("value", value)
            oracle = Oracle(sweep.case(NORMAL), 1)
            line = sweep.line(plan, sweep.inputs(lo, hi), Observation({"output[0]": observed}), oracle)
            shard.write("block", **json.loads(json.dumps(line)))
    shard.close()
    return folder


def places(table):
    """The (mode, modes with the same bits, step, inputs) of each place."""
    groups = table.groupby(["mode", "same_bits", "step"], sort=True)["inputs"].sum()
    return [(*key, int(n)) for key, n in groups.items()]


def test_parts_of_a_sweep_are_in_the_atlas_when_all_have_come(tmp_path):
    first = run(tmp_path / "a", {"eager": third}, span=(0, 1 << 15))
    second = run(tmp_path / "b", {"eager": third}, span=(1 << 15, 1 << 16), started="2026-02-03T00:00:00+00:00")
    table, reasons = sweep_tables.table([first])
    assert not len(table)
    assert reasons == ["third-float16 on cpu/eager: the sweep has not tried all inputs, nor an even sample of them"]
    table, reasons = sweep_tables.table([second, first])
    assert (places(table), reasons) == ([("eager", "", 1, 1 << 16)], [])
    assert set(table["date"]) == {"2026-02-03"}


def test_the_same_block_counts_once_and_other_blocks_must_not_overlap(tmp_path):
    one = run(tmp_path / "a", {"eager": third})
    again = run(tmp_path / "b", {"eager": third})
    assert places(sweep_tables.table([one, again])[0]) == [("eager", "", 1, 1 << 16)]
    other = run(tmp_path / "c", {"eager": third}, block=1 << 13)
    with pytest.raises(ValueError, match="blocks of its sweeps overlap at 0x0"):
        sweep_tables.table([one, other])


def test_modes_are_joined_only_if_every_bit_is_the_same(tmp_path):
    modes = {"eager": third, "function": third, "xla": lambda x: third(x, 1), "graph": lambda x: third(x, 1)}
    table, _ = sweep_tables.table([run(tmp_path / "a", modes)])
    assert places(table) == [("eager", "function", 1, 1 << 16), ("xla", "graph", 1, 1 << 16)]
    assert set(table["same_inputs"]) == {1 << 14}, "one block in 32 has checksums: here the first of four"


def test_modes_that_differ_in_a_block_without_checksums_are_not_joined(tmp_path):
    def late(x):
        y = third(x)
        y.view(np.uint16)[x.view(np.uint16) == 0x7000] += np.uint16(1)
        return y

    table, _ = sweep_tables.table([run(tmp_path / "a", {"eager": third, "graph": late})])
    assert places(table) == [("eager", "", 1, 1 << 16), ("graph", "", 1, 1 << 16)]


def test_a_mode_that_a_sample_alone_compares_is_joined_on_that_many_inputs(tmp_path):
    whole = run(tmp_path / "a", {"eager": third})
    sample = run(tmp_path / "b", {"eager": third, "graph": third}, step=257)
    table, _ = sweep_tables.table([whole, sample])
    assert places(table) == [("eager", "graph", 1, 1 << 16)]
    assert set(table["same_inputs"]) == {256}


def test_a_block_that_crashed_leaves_the_sweep_out_until_it_ran_again(tmp_path):
    crashed = run(tmp_path / "a", {"eager": lambda x: None if x.view(np.uint16)[0] == 1 << 14 else third(x)})
    table, reasons = sweep_tables.table([crashed])
    assert (len(table), reasons) == (0, ["third-float16 on cpu/eager: output[0]: SIGABRT"])
    again = run(tmp_path / "b", {"eager": third}, span=(1 << 14, 1 << 15))
    assert places(sweep_tables.table([crashed, again])[0]) == [("eager", "", 1, 1 << 16)]


def test_a_whole_dtype_replaces_a_sample_and_a_newer_sweep_an_older_one(tmp_path):
    sample = sweep_tables.table([run(tmp_path / "a", {"eager": third}, step=257)])[0]
    whole = sweep_tables.table([run(tmp_path / "b", {"eager": third})])[0]
    newer = sweep_tables.table([run(tmp_path / "c", {"eager": lambda x: third(x, 1)})])[0]
    for table in (sample, whole, sample, newer):
        atlas.store(table, tmp_path / "atlas")
    (stored,) = atlas.load(tmp_path / "atlas").values()
    assert places(stored) == [("eager", "", 1, 1 << 16)]
    assert stored["max_ulp"].max() == pytest.approx(1)
    assert stored.equals(newer)


def test_a_mode_that_became_the_same_as_another_loses_its_rows(tmp_path):
    apart = sweep_tables.table([run(tmp_path / "a", {"eager": third, "graph": lambda x: third(x, 1)})])[0]
    joined = sweep_tables.table([run(tmp_path / "b", {"eager": third, "graph": third})])[0]
    assert [mode for mode, *_ in places(apart)] == ["eager", "graph"]
    assert places(atlas.merged([apart, joined])) == [("eager", "graph", 1, 1 << 16)]


def test_the_document_names_the_worst_input_and_never_calls_a_sample_a_maximum(tmp_path):
    published = tmp_path / "published.toml"
    published.write_text(
        '[measured.a]\nname = "Thirds"\ntitle = "Library of thirds"\nlink = "https://a.example"\nread = "today"\n'
        'unit = "ULPs"\nsampled = ["float16"]\nfloat16 = { third = 2.5 }\n'
        '[measured.b]\nname = "A standard"\ntitle = "Standard of fourths"\nlink = "https://b.example"\nread = "today"\n'
        "unit = 'ULPs'\nrequired = true\nfloat16 = { fourth = inf }\n"
        '[[stated]]\nfunction = "third"\nlibrary = "Thirds 1.0"\nlargest = "2"\nsource = "a header"\n'
    )
    whole = sweep_tables.table([run(tmp_path / "a", {"eager": lambda x: third(x, 1)})])[0]
    sample = sweep_tables.table([run(tmp_path / "b", {"eager": third}, step=257)])[0]
    text = document({"cpu@9.9.0": whole}, published)
    assert "| float16 | value | eager | all 65,536 | 1 | 0x3e00 (1.5) |" in text
    assert "| [third](#third) | 1 |  |" in text
    assert "| function | ` cpu@9.9.0 `, eager | Thirds | A standard |" in text
    assert "| third | 1 | ≥ 2.5 |  |" in text
    assert "| fourth |  |  | ≤ inf |" in text
    assert "- Thirds: [Library of thirds](https://a.example), today. Unit: ULPs." in text
    assert "| third |  | Thirds 1.0 | 2 |  | a header |" in text
    assert "TensorFlow 9.9.0 on a CPU, 2026-01-01" in text
    text = document({"cpu@9.9.0": sample}, published)
    assert "every 257th of 65,536 | ≥ 0.3" in text
    assert "all " not in text.partition("## Each op")[2]


def test_the_page_has_a_strip_for_each_result(tmp_path):
    modes = {"eager": third, "graph": third, "xla": lambda x: third(x, 1)}
    table = sweep_tables.table([run(tmp_path / "a", modes)])[0]
    page = atlas_page.html({"cpu@9.9.0": table})
    assert page.count("<svg") == 1
    assert "On cpu/eager, cpu/graph: 65,536 elements, at most 0.3333 ULP off" in page
    assert "On cpu/xla: 65,536 elements, at most 1 ULP off" in page


def test_a_sweep_whose_reference_is_suspect_is_left_out(tmp_path):
    folder = run(tmp_path / "a", {"eager": third})
    other = run(tmp_path / "b", {"eager": third}, span=(0, 1 << 14))
    shard = Shard(other / "shards" / "b.jsonl")
    row = {"spec": "third", "dtype": "float16", "kind": "reference", "case": "c", "device": "cpu", "mode": "eager"}
    shard.write("result", case="c", device="cpu", mode="eager", records=[row])
    shard.close()
    assert len(sweep_tables.table([folder])[0])
    table, reasons = sweep_tables.table([folder, other])
    assert not len(table)
    assert reasons == ["third-float16: its reference in float64 disagrees with that in wider numbers"]


def test_a_damaged_file_is_refused(tmp_path):
    table = sweep_tables.table([run(tmp_path / "a", {"eager": third})])[0]
    (path,) = atlas.store(table, tmp_path / "atlas")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"cpu@9\.9\.0\.parquet"):
        atlas.load(tmp_path / "atlas")


def test_a_run_without_a_sweep_is_named(tmp_path, capsys):
    sweep, other = run(tmp_path / "sweep", {"eager": third}), tmp_path / "other"
    (other / "shards").mkdir(parents=True)
    RunInfo(run="other", started="").save(other)
    table, reasons = sweep_tables.table([other, sweep])
    assert len(table) and reasons == [f"{other}: it has no sweep and no search"]
    assert main(["atlas", str(other), "--folder", str(tmp_path / "atlas")]) == 4
    first, second = capsys.readouterr().err.splitlines()
    assert first == f"not in the atlas: {other}: it has no sweep and no search"
    assert second.endswith("atlas: expected a folder with tables of the atlas")
