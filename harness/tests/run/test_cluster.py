"""Campaigns on several real Ray nodes on this machine; some nodes are killed. `make campaign` runs them."""

import os
import re
import secrets
import select
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

from tf_opdiff.harness.run.campaigns import node
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards.shard import read_shard
from tf_opdiff.harness.tests.patience import PATIENCE
from tf_opdiff.harness.tests.planted_runs.planted_campaign import FOLDER

pytestmark = pytest.mark.cluster
SUITE = "tf_opdiff.harness.tests.planted_runs.planted_campaign"
CELLS = 25  # of its specs of Floor
SMALL = {"object_store_memory": 100 << 20, "include_dashboard": False}


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    """Real nodes on this machine's loopback, with a token: a head that runs nothing, and two of one CPU each."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**node.QUIET, **node.LOOPBACK, "RAY_AUTH_MODE": "token"}.items():
            patch.setenv(name, value)
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(16))
        patch.setenv(FOLDER, str(tmp_path_factory.mktemp("planted")))
        from ray.cluster_utils import Cluster

        found = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **SMALL})
        for _ in range(2):
            found.add_node(num_cpus=1, **SMALL)
        yield found
        found.shutdown()


def started(nodes, run):
    """A campaign in the background; and, as soon as `held` runs, where: the node, the worker's and the server's pid."""
    folder = Path(os.environ[FOLDER])
    os.mkfifo(folder / "held")
    ending = ThreadPoolExecutor(1).submit(run)
    gate = os.open(folder / "held", os.O_RDWR)
    readable, _, _ = select.select([gate], [], [], PATIENCE)
    assert readable, ending.result(PATIENCE).output
    raylet, worker, server = map(int, os.read(gate, 100).split())
    os.close(gate)
    (folder / "held").unlink()  # the next time it goes on
    pids = {found: [p.process.pid for p in found.all_processes["raylet"]] for found in nodes.worker_nodes}
    holding = next(found for found, own in pids.items() if raylet in own)
    return ending, holding, (worker, server)


def ended(pid):
    """Waits until a process has ended."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    readable, _, _ = select.select([watched], [], [], PATIENCE)
    os.close(watched)
    return bool(readable)


def cells_of(directory):
    """How often each cell has a result in the shards."""
    lines = [line for path in (directory / "shards").glob("*.jsonl") for line in read_shard(path)]
    assert None not in lines
    return Counter((x["case"], x["device"], x["mode"]) for x in lines if x["line"] == "result")


def test_nothing_is_lost_and_nothing_counted_twice_when_a_node_is_killed(nodes, run_pytest):
    def run():
        return run_pytest("--campaign", nodes.address, "--op", "Floor", suites=SUITE)

    ending, holding, pids = started(nodes, run)
    nodes.remove_node(holding, allow_graceful=False)
    assert all(map(ended, pids)), "what ran there ends with the node"
    outcome = ending.result(PATIENCE)
    info = RunInfo.load(outcome.directory)
    assert outcome.status == 0, outcome.output
    assert (info.state, info.not_run, info.faults) == ("complete", [], [])
    assert info.planned == info.recorded == CELLS
    assert Counter(cells_of(outcome.directory).values()) == {1: CELLS}
    lost = re.search(r"^(.*held-float32.*): lost, and run again", outcome.output, re.MULTILINE)
    assert lost, outcome.output
    assert "fine" in lost[1], "the whole batch"
    records = pd.read_parquet(outcome.directory / "records.parquet")
    assert set(records.verdict) == {"match"}
    assert len(records) == len(outcome.merged.records)
    assert not records.duplicated(["case", "device", "mode", "against", "quantity"]).any()
    assert (outcome.directory / "index.html").exists()


def test_what_dies_or_hangs_in_a_batch_is_attributed_to_its_case(nodes, run_pytest):
    wanted = ("aborts", "hangs", "kills-its-worker", "fine-0", "fine-1")
    options = [word for op in wanted for word in ("--op", op)]
    outcome = run_pytest("--campaign", nodes.address, *options, "--op-timeout", "20", "--repro=none", suites=SUITE)
    info = RunInfo.load(outcome.directory)
    assert outcome.status == 3, outcome.output
    found = {(r.spec, r.kind) for r in outcome.merged.records}
    assert found == {("aborts", "crash"), ("hangs", "hang"), ("fine-0", ""), ("fine-1", "")}
    assert {(cell["case"], cell["why"].partition(":")[0]) for cell in info.not_run} == {
        (f"kills-its-worker-float32-{case}", "lost 3 times") for case in ("first", "second")
    }
    assert info.planned == info.recorded + 2
    assert "kills-its-worker-float32 has no result: lost 3 times" in outcome.output


def test_where_no_node_is_left_the_run_is_red_and_names_what_did_not_run(nodes, run_pytest):
    def run():
        return run_pytest("--campaign", nodes.address, "--op", "Floor", suites=SUITE)

    ending, holding, _ = started(nodes, run)
    nodes.remove_node(holding, allow_graceful=False)
    outcome = ending.result(PATIENCE)
    info = RunInfo.load(outcome.directory)
    assert outcome.status == 3, outcome.output
    assert info.planned == info.recorded + len(info.not_run) == CELLS
    assert {cell["why"].partition(";")[0] for cell in info.not_run} == {"no node has CPU together"}
    assert "held-float32-plain" in {cell["case"] for cell in info.not_run}
    absent = run_pytest("--campaign", nodes.address, "--device", "toy:0", suites=SUITE)
    assert absent.status == 4
    assert "no node has CPU and TOY together" in absent.output
    nodes.add_node(num_cpus=1, **SMALL)
    resume = "--campaign", nodes.address, "--resume", str(outcome.directory)
    again = run_pytest(*resume, suites=SUITE, folder=outcome.directory)
    info = RunInfo.load(outcome.directory)
    assert again.status == 0, again.output
    assert (info.recorded, info.not_run) == (CELLS, [])
    assert Counter(cells_of(outcome.directory).values()) == {1: CELLS}


def test_a_cluster_with_another_token_is_told_in_a_line(nodes, run_pytest):
    env = {"RAY_AUTH_TOKEN": "x" * 32, "RAY_NUM_REDIS_GET_RETRIES": "1"}
    outcome = run_pytest("--campaign", nodes.address, suites=SUITE, env=env)
    assert outcome.status == 4
    assert f"no campaign at {nodes.address}: the token here is not the cluster's" in outcome.output
