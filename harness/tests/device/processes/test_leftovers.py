"""What an op leaves changed in its process is noticed, and the server is replaced: no op runs under another's settings.

A setting that stayed would give the next op wrong values, errors that count as TensorFlow's, or a silent match.
"""

import pytest

from tf_opdiff.harness.cases.case_runner import CaseRunner
from tf_opdiff.harness.device.processes.locks import Slots
from tf_opdiff.harness.device.processes.server_handle import DeviceServer
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.judge.verdicts.verdict import Context, Origin
from tf_opdiff.harness.run.runner import Runner
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.store.shards.shard import Shard
from tf_opdiff.harness.tests.patience import PATIENCE
from tf_opdiff.harness.tests.planted_servers.planted_leftovers import CHANGES

CPU = Device.parse("cpu")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """run(name) → the records of a planted spec against NumPy; `run.server` runs them all."""
    folder = tmp_path_factory.mktemp("leftovers")
    server = DeviceServer(CPU, folder, timeout=PATIENCE)
    context = Context(run="r", started="s", here=Origin("2.21.0", host="h"), known=Known(()))
    plans = [Plan(CPU, mode) for mode in ("eager", "function")]
    servers = {CPU: server}
    runner = Runner(CaseRunner(context, plans, servers), Shard(folder / "shard.jsonl"), Slots(servers))
    items = {
        item.spec.name: item for item in Catalog.load("tf_opdiff.harness.tests.planted_servers.planted_leftovers").items
    }

    def run(name):
        return [record for record in runner.run(items[name]) if record.against == "numpy"]

    run.server = server
    yield run
    runner.close()


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_that_an_op_leaves_is_told_and_does_not_reach_its_neighbour(run, name):
    number, words = list(CHANGES).index(name), CHANGES[name][1]
    (record,) = run(f"leaves-{number}")
    assert words in record.detail.partition("The op left behind: ")[2], record.detail
    assert run.server._child is None, "the server is held that ran the op"
    assert {(r.verdict, r.detail) for r in run("neighbour")} == {("match", "")}


def test_an_op_that_leaves_nothing_keeps_its_server(run):
    assert {(r.verdict, r.detail) for r in run("neighbour")} == {("match", "")}
    server = run.server.pid
    for name in ("restores", "neighbour", "restores"):
        assert {(r.verdict, r.detail) for r in run(name)} == {("match", "")}
    assert run.server.pid == server
