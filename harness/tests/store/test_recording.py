"""Recorded devices beside live ones, and runs merged: what was altered, changed, cut or doubled has to be seen."""

import json
import os
import shutil
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tf_opdiff import command_line
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.run import merge_runs
from tf_opdiff.harness.spec.settings.variant import ONEDNN_FLAG
from tf_opdiff.harness.store.recordings import record_devices, recording
from tf_opdiff.harness.store.run_directories.judges import JudgedBy
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards import rewrite_shards
from tf_opdiff.harness.store.shards.merged import merge
from tf_opdiff.harness.tests.patience import PATIENCE

SUITE = "tf_opdiff.harness.tests.planted_runs.planted_kept"


@pytest.fixture(scope="module")
def runs(shared_run):
    """A run on the CPU, one on a second one, and one on the CPU of the other half of the modes."""
    kept = {
        "cpu": shared_run("--device", "cpu", "--mode", "eager", "--mode", "graph", suites=SUITE),
        "other": shared_run("--device", "cpu:1", "--mode", "eager", "--mode", "graph", suites=SUITE),
        "half": shared_run("--device", "cpu", "--mode", "function", "--mode", "xla", suites=SUITE),
    }
    assert {outcome.status for outcome in kept.values()} == {0}, [o.output for o in kept.values()]
    return {name: outcome.directory for name, outcome in kept.items()}


@pytest.fixture(scope="module")
def recorded(runs, tmp_path_factory):
    """A folder with a recording of the CPU, called h100."""
    folder = tmp_path_factory.mktemp("recordings")
    (path,) = record_devices.record(runs["cpu"], [], "h100", folder)
    assert path.name.startswith("h100@2.")
    return path


def altered(path, folder, change):
    """A copy of a recording with its rows changed."""
    table = pq.read_table(path)
    rows = [change(row) for row in table.to_pylist()]
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist([r for r in rows if r], schema=table.schema), folder / path.name)
    return folder / path.name


def against(run_pytest, path, *arguments, suites=SUITE):
    return run_pytest(
        *("--device", "cpu", "--device", path.name.removesuffix(".parquet"), "--recordings", str(path.parent)),
        *("--mode", "eager", "--mode", "graph", *arguments),
        suites=suites,
    )


def of(outcome, path):
    return [r for r in outcome.merged.records if r.device == path.name.removesuffix(".parquet")]


def test_a_recorded_device_is_compared_with_a_live_one_and_with_numpy(run_pytest, recorded):
    outcome = against(run_pytest, recorded)
    assert outcome.status == 0, outcome.output
    records = of(outcome, recorded)
    assert {r.verdict for r in records} == {"match", "contract"}
    assert {r.against for r in records} >= {"numpy", "cpu/eager"}
    live = {(r.case, r.mode, r.quantity) for r in outcome.merged.records if r.device == "cpu"}
    assert {(r.case, r.mode, r.quantity) for r in records} == live
    about = RunInfo.load(outcome.directory).devices[
        "h100@2.21.0" if "h100@2.21.0" in outcome.output else records[0].device
    ]
    assert about["device"] == "cpu" and about["recorded"]


def test_a_bit_that_was_altered_in_a_recording_is_a_mismatch_of_that_device(run_pytest, recorded, tmp_path):
    def flip(row):
        if row["case"] == "kept-float32-plain" and row["quantity"] == "output[0]" and row["mode"] == "eager":
            row["bytes"] = bytes([row["bytes"][0] ^ 1]) + row["bytes"][1:]
        return row

    path = altered(recorded, tmp_path / "altered", flip)
    outcome = against(run_pytest, path)
    assert outcome.status == 1, outcome.output
    failing = [r for r in outcome.merged.records if r.failing]
    assert {(r.case, r.device, r.mode, r.kind, r.mismatched) for r in failing} == {
        ("kept-float32-plain", of(outcome, path)[0].device, "eager", "value", 1)
    }
    assert "numpy" in {r.against for r in failing}
    (told,) = json.loads((outcome.directory / "repro.json").read_text())
    assert told["status"] == "elsewhere"


@pytest.mark.parametrize(
    ("column", "says"), [("asked", "other inputs than it has here"), ("program", "another program than it has here")]
)
def test_a_case_that_has_changed_since_is_refused_and_says_so(run_pytest, recorded, tmp_path, column, says):
    def change(row):
        return {**row, column: "0" * 16} if row["case"].startswith("kept-float32") else row

    path = altered(recorded, tmp_path / column, change)
    outcome = against(run_pytest, path)
    refused = [r for r in of(outcome, path) if r.case.startswith("kept-float32")]
    assert {r.verdict for r in refused} == {"unavailable"}
    assert all(says in r.detail for r in refused)
    assert "match" in {r.verdict for r in of(outcome, path) if r.case.startswith("sums")}


def test_a_changed_recipe_or_program_changes_the_hash(run_pytest, recorded):
    outcome = against(run_pytest, recorded, suites="tf_opdiff.harness.tests.planted_runs.planted_kept_later")
    found = {r.spec: r.detail for r in of(outcome, recorded)}
    assert "other inputs" in found["kept"]
    assert "another program" in found["sums"]
    assert "large" in found  # the recording holds its records, with the suite of that time
    assert {r.suite for r in outcome.merged.records} == {"planted_kept_later"}


def test_a_run_of_recorded_devices_alone_has_no_kernels(run_pytest, recorded):
    outcome = run_pytest(
        "--recordings", str(recorded.parent), "--device", recorded.stem, "--mode", "eager", suites=SUITE
    )
    assert not (outcome.directory / "kernels.json").exists() and (outcome.directory / "causes.json").exists()


def test_a_case_that_was_not_recorded_is_unavailable(run_pytest, recorded, tmp_path):
    path = altered(recorded, tmp_path / "less", lambda row: None if row["case"] == "sums-float32-plain" else row)
    records = [r for r in of(against(run_pytest, path), path) if r.case == "sums-float32-plain"]
    assert {r.verdict for r in records} == {"unavailable"}
    assert all("has no sums-float32-plain under" in r.detail for r in records)


def test_arrays_that_are_too_large_are_kept_as_a_hash_and_the_records_that_they_led_to(run_pytest, recorded):
    (row,) = [
        r
        for r in pq.read_table(recorded).to_pylist()
        if r["case"] == "large-float32-many" and r["mode"] == "eager" and r["quantity"] == "output[0]"
    ]
    assert row["bytes"] is None and len(row["hash"]) == 32
    records = [r for r in of(against(run_pytest, recorded), recorded) if r.case == "large-float32-many"]
    assert {(r.mode, r.verdict, r.against) for r in records} == {(m, "match", "numpy") for m in ("eager", "graph")}


def test_a_damaged_recording_is_wrong_usage(run_pytest, recorded, tmp_path):
    path = tmp_path / recorded.name
    path.write_bytes(recorded.read_bytes()[: recorded.stat().st_size // 2])
    outcome = against(run_pytest, path)
    assert outcome.status == 4
    assert "expected a recording" in outcome.output


@pytest.fixture
def based(runs, recorded, tmp_path):
    """A recording of the second CPU, whose base is the recording of the first one, in the same folder."""
    shutil.copy(recorded, tmp_path)
    words = ["record", str(runs["other"]), "--name", "a100", "--base", recorded.stem, "--out", str(tmp_path)]
    assert command_line.main(words) == 0
    return tmp_path / recorded.name.replace("h100", "a100")


def test_a_recording_with_a_base_is_judged_like_one_without(run_pytest, recorded, based, tmp_path):
    rows = pq.read_table(based).to_pylist()
    assert {row["status"] for row in rows} == {"base"}  # both devices are this CPU
    assert {row["ran_on"] for row in rows} == {"CPU:1"}
    outcome = against(run_pytest, based, "--device", recorded.stem)
    assert outcome.status == 0, outcome.output
    assert {r.verdict for r in of(outcome, based)} == {"match", "contract"}
    judged = [{(r.case, r.mode, r.quantity) for r in of(outcome, d) if r.against == "numpy"} for d in (based, recorded)]
    assert judged[0] == judged[1] != set()


def test_a_base_that_has_changed_since_is_wrong_usage(run_pytest, runs, recorded, based):
    altered(recorded, based.parent, lambda row: {**row, "seconds": 1.0})
    outcome = against(run_pytest, based)
    assert outcome.status == 4
    assert f"{based.name}: its base {recorded.stem} has changed since, or is damaged" in outcome.output


def test_a_name_that_is_no_recording_names_those_that_there_are(run_pytest, recorded):
    outcome = run_pytest("--device", "a100@2.21.0", "--recordings", str(recorded.parent), suites=SUITE)
    assert outcome.status == 4
    assert f"there is {recorded.name.removesuffix('.parquet')}" in outcome.output


def test_a_recording_of_a_run_that_is_not_whole_is_refused(runs, tmp_path):
    copy = shutil.copytree(runs["cpu"], tmp_path / "copy")
    info = RunInfo.load(copy)
    info.state = "interrupted"
    info.save(copy)
    with pytest.raises(ValueError, match=r"expected a whole run: .*interrupted"):
        record_devices.record(copy, [], "h100", tmp_path / "out")


def test_a_partial_recording_says_what_its_run_lacks_and_its_other_cases_are_unavailable(run_pytest, runs, tmp_path):
    copy = shutil.copytree(runs["cpu"], tmp_path / "copy")
    info = RunInfo.load(copy)
    info.state = "running"
    info.save(copy)
    case = next(case for case, *_ in merge([copy]).results)
    others = frozenset(other for other, *_ in merge([copy]).results if other != case)
    rewrite_shards.keep(copy, others)
    assert command_line.main(["record", str(copy), "--name", "cut", "--out", str(tmp_path)]) == 4
    assert command_line.main(["record", str(copy), "--name", "cut", "--partial", "--out", str(tmp_path)]) == 0
    (path,) = tmp_path.glob("cut@*.parquet")
    assert "it never ended" in recording.Recording(path).about.facts["partial"]
    outcome = against(run_pytest, path)
    assert outcome.status == 0, outcome.output
    verdicts = {r.verdict: r.detail for r in of(outcome, path) if r.case == case}
    assert set(verdicts) == {"unavailable"}
    assert f"has no {case} under" in verdicts["unavailable"]
    assert {r.verdict for r in of(outcome, path) if r.case != case} <= {"match", "contract"}


@pytest.fixture
def merged(tmp_path, capfd):
    """merged(*runs) → exit status and output of merging them into `tmp_path / "merged"`."""

    def merged(*runs):
        status = merge_runs.merge(runs, tmp_path / "merged", ["--repro=none"], JudgedBy(SUITE, os.devnull))
        return status, capfd.readouterr().out

    return merged


def test_merged_runs_are_compared_as_if_their_devices_had_run_side_by_side(runs, tmp_path):
    command = [sys.executable, "-m", "harness", "merge", *map(str, (runs["cpu"], runs["other"]))]
    command += ["--run-dir", str(tmp_path / "merged"), "--suites", SUITE, "--known", os.devnull]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    records = merge([tmp_path / "merged"]).records
    assert {r.device for r in records} == {"cpu", "cpu:1"}
    assert "cpu/eager" in {r.against for r in records if r.device == "cpu:1"}
    assert {r.verdict for r in records} == {"match", "contract"}
    assert (tmp_path / "merged" / "index.html").exists()


def test_two_halves_of_one_device_are_one_device(runs, merged, tmp_path):
    status, output = merged(runs["cpu"], runs["half"])
    assert status == 0, output
    records = merge([tmp_path / "merged"]).records
    assert {(r.device, r.mode) for r in records} == {("cpu", m) for m in ("eager", "function", "xla", "graph")}


def test_a_shard_that_is_there_twice_is_named_and_counts_once(runs, merged, tmp_path):
    copy = shutil.copytree(runs["cpu"], tmp_path / "copy")
    status, output = merged(runs["cpu"], copy)
    assert status == 0, output
    assert "cells of cpu are in both" in output
    once = merge([runs["cpu"]]).results
    assert merge([tmp_path / "merged"]).results.keys() == once.keys()


def test_a_merged_device_is_recorded_whole_under_a_new_name(run_pytest, runs, merged, tmp_path):
    status, output = merged(runs["cpu"], runs["half"])
    assert status == 0, output
    words = ["record", str(tmp_path / "merged"), "--device", "cpu", "--name", "both", "--out", str(tmp_path / "out")]
    assert command_line.main(words) == 0
    (path,) = (tmp_path / "out").glob("both@*.parquet")
    cells = {(row["case"], row["mode"]) for row in pq.read_table(path).to_pylist()}
    assert cells == {(case, mode) for run in ("cpu", "half") for case, _, mode in merge([runs[run]]).results}
    outcome = against(run_pytest, path)
    assert outcome.status == 0, outcome.output
    assert {r.verdict for r in of(outcome, path)} <= {"match", "contract"}


def test_runs_that_have_other_bits_for_one_cell_are_a_fault(runs, merged, tmp_path):
    copy = shutil.copytree(runs["cpu"], tmp_path / "copy")
    edit(copy, lambda line: _flipped(line) if line.get("case") == "sums-float32-plain" else line)
    status, output = merged(runs["cpu"], copy)
    assert status == 3, output
    assert "other bits" in output
    assert any("other bits" in fault for fault in RunInfo.load(tmp_path / "merged").faults)


def _flipped(line):
    for result in line.get("observation", {}).get("quantities", {}).values():
        result["message"] = "altered"
    return line


def edit(directory, change):
    """Writes a run's shards again, each line changed."""
    from tf_opdiff.harness.store.shards.shard import Shard, read_shard

    for path in (directory / "shards").glob("*.jsonl"):
        lines = [change(line) for line in read_shard(path)]
        path.unlink()
        shard = Shard(path)
        for line in lines:
            shard.write(line.pop("line"), **line)
        shard.close()


def test_a_shard_that_was_cut_makes_the_merged_run_red(runs, merged, tmp_path):
    copy = shutil.copytree(runs["other"], tmp_path / "copy")
    (shard,) = (copy / "shards").glob("*.jsonl")
    shard.write_bytes(shard.read_bytes()[:-100])
    status, output = merged(runs["cpu"], copy)
    assert status == 3, output
    assert "1 lines of its shards are cut or damaged" in output


def test_a_partial_recording_of_merged_runs_says_what_they_lack_and_stays_at_fault_where_they_differ(
    runs, merged, tmp_path
):
    cut = edited(runs["cpu"], tmp_path / "cut", state="interrupted").directory
    edit(cut, lambda line: _flipped(line) if line.get("case") == "sums-float32-plain" else line)
    status, _ = merged(cut, runs["cpu"])
    assert status == 3
    command = ["record", str(tmp_path / "merged"), "--partial", "--name", "cut", "--out", str(tmp_path)]
    assert command_line.main(command) == 0
    (path,) = tmp_path.glob("cut@*.parquet")
    about = recording.Recording(path).about
    assert "it was interrupted" in about.facts["partial"]
    (fault,) = about.faults
    assert "other bits" in fault


def test_other_versions_of_tensorflow_are_devices_of_their_own(runs, merged, tmp_path):
    copy = shutil.copytree(runs["cpu"], tmp_path / "copy")
    info = RunInfo.load(copy)
    newest, info.tf = info.tf, "2.18.1"
    info.save(copy)
    status, output = merged(runs["cpu"], copy)
    assert status == 0, output
    records = merge([tmp_path / "merged"]).records
    assert {(r.device, r.tf) for r in records} == {("cpu@2.18.1", "2.18.1"), (f"cpu@{newest}", newest)}


def test_runs_that_differ_in_more_are_not_merged(runs, merged, tmp_path):
    copy = shutil.copytree(runs["cpu"], tmp_path / "copy")
    info = RunInfo.load(copy)
    info.flags = {"XLA_FLAGS": "--xla_cpu_enable_fast_math=true"}
    info.save(copy)
    with pytest.raises(ValueError, match=r"XLA_FLAGS \(none\) and --xla_cpu_enable_fast_math=true"):
        merged(runs["cpu"], copy)


def edited(run, folder, **facts):
    """A copy of a run, with other facts in its `run.json`."""
    copy = shutil.copytree(run, folder)
    info = RunInfo.load(copy)
    for name, value in facts.items():
        setattr(info, name, value)
    info.save(copy)
    return record_devices.Part.read(copy)


def test_a_cpu_with_onednn_and_one_without_are_two_devices_however_that_was_set(runs, tmp_path):
    on, flagged, off = (
        edited(runs["cpu"], tmp_path / name, flags=flags, devices={"cpu": {"asked": True, "oneDNN": state}})
        for name, state, flags in (("on", "on", {}), ("flagged", "on", {ONEDNN_FLAG: "1"}), ("off", "off", {}))
    )
    devices, _ = merge_runs.together([on, flagged])
    assert list(devices) == ["cpu"]
    with pytest.raises(ValueError, match=r"cpu is not the same device in .*: cpu's oneDNN on and off"):
        merge_runs.together([on, off])


def test_runs_from_before_a_fact_was_written_down_are_merged_and_recorded(runs, tmp_path):
    """They had no instruction sets, no oneDNN, and under `cuda` what TensorFlow was built for."""
    early = {"cuda": "12.5.1", "machine": {"processor": "AMD EPYC"}, "devices": {"cpu": {"asked": True}}}
    parts = [record_devices.Part.read(runs["cpu"]), edited(runs["cpu"], tmp_path / "early", **early)]
    devices, notes = merge_runs.together(parts)
    assert list(devices) == ["cpu"]
    assert "cpu ran on several processors: " in notes[0]
    about, _, _ = merge_runs.union("cpu", devices["cpu"])
    assert "AMD EPYC" in about.machine["processor"]
    (path,) = record_devices.record(tmp_path / "early", [], "old", tmp_path)
    assert recording.Recording(path).about.facts["processor"] == "AMD EPYC"


def test_what_is_no_run_is_named(merged, tmp_path):
    with pytest.raises(FileNotFoundError, match="expected the directory of a run"):
        merged(tmp_path)


def test_a_recording_says_what_it_is_of(recorded):
    about = recording.Recording(recorded).about
    assert about.tf and about.runs and about.machine["processor"] is not None
    assert about.details["oneDNN"] in ("on", "off")
    assert about.facts["processor"].startswith(about.machine["processor"])
    assert about.machine["instructions"]
    assert about.device == "cpu"
