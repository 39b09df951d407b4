"""A run judged again has today's verdicts, from the observations that it stored."""

from dataclasses import replace

import numpy as np
import pytest

from tf_opdiff.harness.cases.case_runner import CaseRunner
from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.known_failures.entry import Entry
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.judge.verdicts.verdict import Context, Origin
from tf_opdiff.harness.run.rejudge import changes, plans, rejudge
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.store.recordings.record_devices import Part
from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards.cell_lines import CellWriter

CPU = Device("cpu")
CAUSE = Cause(id="doubles", owner="us", reason="planted for these tests", severity="wrong_value")
DOUBLED = Entry(spec="x", kind="value", mode="xla", cause=CAUSE)


def ones(draw, dtype):
    return (np.ones(5, dtype),)


def twos(draw, dtype):
    return (2 * np.ones(5, dtype),)


def item(recipe=ones):
    spec = Spec(name="x", program=lambda tf, x: x, reference=lambda x: x, ops="", recipes={"r": recipe})
    return Item("tf_opdiff.harness.tests.run.test_rejudge", spec, "float32")


class Doubling:
    """A device that doubles its input under XLA, and leaves the thread count changed."""

    def observation(self, request, program):
        (x,) = request.inputs
        return Observation(
            {"output[0]": Result("value", x * 2 if request.mode == "xla" else x)},
            seconds=1.0,
            left_behind="threads: 2" if request.mode == "xla" else "",
        )

    def without_arrays(self, case, mode):
        return False


@pytest.fixture
def part(tmp_path, monkeypatch):
    """The run of a device that doubles its input under XLA."""
    monkeypatch.setenv("TF_OPDIFF_CACHE", str(tmp_path / "cache"))
    directory = tmp_path / "run"
    rundir.create(tmp_path, chosen=directory)
    info = RunInfo("run", "s", tf="2.21.0", host="h", modes=["eager", "xla"], devices={"cpu": {"asked": True}})
    info.suites = __name__
    info.save(directory)
    shard = rundir.open_shard(directory, "main")
    context = Context(run="run", started="s", here=Origin("2.21.0", host="h"), known=Known())
    cases = CaseRunner(context, list(plans(info)), stored={CPU: Doubling()})
    cases.run(item(), CellWriter(shard))
    shard.close()
    return Part.read(directory)


def judged(part, tmp_path, *entries, of=None):
    directory = rundir.create(tmp_path, chosen=tmp_path / f"again{len(list(tmp_path.iterdir()))}")
    records = rejudge(part, [of or item()], Known(entries), directory)
    part.info.save(directory)
    assert fields(Part.read(directory).merged.records) == fields(records)
    return records


def fields(records):
    """The fields of records but the run, as texts, because NaN differs from itself; in the order of their places."""
    return sorted(repr(replace(record, run="")) for record in records)


def verdicts(records):
    return {(r.mode, r.against): r.verdict for r in records}


WRONG = {("eager", "numpy"): "match", ("xla", "numpy"): "mismatch", ("xla", "cpu/eager"): "mismatch"}


def test_without_a_change_every_field_of_every_record_is_the_same(part, tmp_path):
    after = judged(part, tmp_path)
    assert fields(after) == fields(part.merged.records)
    assert WRONG.items() <= verdicts(after).items()
    assert any("The op left behind: threads: 2" in record.detail for record in after)


def test_a_known_failure_of_today_explains_the_observation_of_then(part, tmp_path):
    records = judged(part, tmp_path, DOUBLED)
    assert verdicts(records)["xla", "numpy"] == "known"
    assert changes(part.merged.records, records) == {("mismatch", "known"): 2}


def test_another_input_or_program_refuses_the_observation_with_the_reason(part, tmp_path):
    records = judged(part, tmp_path, of=item(twos))
    assert {record.verdict for record in records} == {"unavailable"}
    assert "with other inputs than it has here: run it again" in records[0].detail


def test_a_plan_that_did_not_run_gets_no_record(part, tmp_path):
    part.merged.results.pop(("x-float32-r", "cpu", "xla"))
    assert {record.mode for record in judged(part, tmp_path)} == {"eager"}
