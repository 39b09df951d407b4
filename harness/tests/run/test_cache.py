"""A run with a cache of inputs and promises gives the records of a run without; the cache decides no verdict."""

import importlib
import sys
import tempfile
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tf_opdiff.harness.cases.case_runner import CaseRunner
from tf_opdiff.harness.device.processes.locks import Slots
from tf_opdiff.harness.device.processes.server_handle import DeviceServer
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.judge.promises.promise_cache import PromiseCache
from tf_opdiff.harness.judge.verdicts.verdict import Context, Origin
from tf_opdiff.harness.run.runner import Runner
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.store.formats.plain_values import decode, encode
from tf_opdiff.harness.store.run_directories.code_digest import CodeDigest
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards.shard import Shard
from tf_opdiff.harness.system.file_cache import FileCache
from tf_opdiff.harness.tests.patience import PATIENCE
from tf_opdiff.harness.tests.planted_runs.planted_slow_inputs import SLOW

SUITES = "tf_opdiff.harness.tests.planted_runs.planted_slow_inputs"


def is_temporary(file):
    return isinstance(file, str) and Path(file).resolve().is_relative_to(Path(tempfile.gettempdir()).resolve())


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """run(cache) → the records of the planted spec, and its use of the cache, from one device server."""
    folder, cpu = tmp_path_factory.mktemp("cached"), Device("cpu")
    context = Context(run="r", started="s", here=Origin("2.21.0", host="h"), known=Known(()))
    server, shard = DeviceServer(cpu, folder, timeout=PATIENCE), Shard(folder / "shard.jsonl")
    (item,) = Catalog.load(SUITES).items

    def records(cache):
        runner = Runner(CaseRunner(context, [Plan(cpu, "eager")], {cpu: server}, cache=cache), shard, Slots([cpu]))
        found = [(r.case, r.against, r.quantity, r.verdict, r.detail) for r in runner.run(item)]
        if cache:
            cache.flush()
        return found

    yield records
    server.stop()
    shard.close()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """cache() → the cache as a new process has it, without modules that other tests wrote while this process ran."""
    written = [name for name, module in sys.modules.items() if is_temporary(getattr(module, "__file__", None))]
    for name in written:
        monkeypatch.delitem(sys.modules, name)
    code = CodeDigest(SUITES)
    return lambda: PromiseCache(FileCache(tmp_path), code, worth=SLOW / 2)


def test_the_second_run_reads_what_the_first_one_stored_and_has_the_same_records(run, cache, tmp_path):
    without = run(None)
    first, second = cache(), cache()
    assert run(first) == run(second) == without
    assert {verdict for *_, verdict, _ in without} == {"match"}
    assert [(c.read, c.computed) for c in (first, second)] == [(0, 2), (1, 1)]
    assert len(list(tmp_path.iterdir())) == 1, "the cheap case was stored too"


def test_a_wrong_promise_in_the_cache_fails_as_the_suites_own_fault_and_is_gone_in_the_next_run(run, cache, tmp_path):
    right = run(cache())
    (path,) = tmp_path.iterdir()
    files = FileCache(tmp_path)
    pairs = msgspec.msgpack.decode(files.get(path.name))
    (number,) = [i for i, (name, _) in enumerate(pairs) if name == "reference"]
    pairs[number][1] = encode(np.nextafter(decode(pairs[number][1]), 9))
    files.put(path.name, msgspec.msgpack.encode(pairs))
    wrong = [(verdict, detail) for case, *_, verdict, detail in run(cache()) if case == "slow-inputs-float32-slow"]
    assert {verdict for verdict, _ in wrong} == {"error"}
    assert all("differ from fresh ones" in detail for _, detail in wrong)
    assert run(cache()) == right


def test_the_run_says_how_it_used_the_cache_and_without_cache_it_neither_reads_nor_writes(run_pytest, tmp_path):
    env = {"XDG_CACHE_HOME": str(tmp_path), "TF_OPDIFF_CACHE": ""}
    use = [
        RunInfo.load(run_pytest("--device", "cpu", *options, suites=SUITES, shared_env=env).directory).cache
        for options in (["--no-cache"], [])
    ]
    assert use == [
        {"inputs and promises": "off: --no-cache"},
        {"inputs and promises": "0 cases read, 2 computed"},
    ]
    assert list((tmp_path / "tf-opdiff" / "promises").iterdir())


def test_a_module_that_was_written_while_the_process_ran_turns_the_cache_off(tmp_path, cache, monkeypatch):
    (tmp_path / "written_now.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    assert not cache().off
    importlib.import_module("written_now")
    try:
        assert "written_now.py changed during the run" in PromiseCache(FileCache(tmp_path), CodeDigest(SUITES)).off
    finally:
        del sys.modules["written_now"]
