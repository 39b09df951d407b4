"""Programs that reproduced before: known again by all that their outcome depends on, and by nothing less."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tf_opdiff.harness.repro import earlier_programs
from tf_opdiff.harness.repro.earlier_programs import Store, circumstances
from tf_opdiff.harness.repro.program_text.program_digest import hashed
from tf_opdiff.harness.repro.reproduce import Setting, write
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories.run_info import RunInfo

PLANTED = Catalog.load("tf_opdiff.harness.tests.planted_specs.planted_writing")

INFO = RunInfo(
    run="r1",
    started="s",
    cuda="12.5",
    versions={"tensorflow": "2.21.0", "numpy": "2.4.0", "suite commit": "1a2b3c4"},
    flags={"TF_ENABLE_ONEDNN_OPTS": "1"},
    machine={"processor": "one"},
    devices={"cpu": {"asked": True}},
)
#: A finding: its case, mode, quantity, oracle and kind.
ONE = ("floor-float32-plain", "eager", "output[0]", "numpy", "value")


def store(folder, info=INFO, timeout=60.0):
    return Store(info.run, circumstances(info, timeout), info.devices, folder)


@pytest.fixture
def folder(tmp_path):
    store(tmp_path / "reproduced").add(ONE, "cpu", "print(1)", 3, "EXIT 1", "said\n[EXIT 1]")
    return tmp_path / "reproduced"


def test_a_program_is_known_in_another_run_and_at_another_commit(folder):
    later = replace(INFO, run="r2", versions=INFO.versions | {"suite commit": "5d6e7f8"})
    shown = store(folder, later).find(ONE, "cpu")
    assert shown is not None
    assert (shown.run, shown.how, shown.output) == ("r1", "EXIT 1", "said\n[EXIT 1]")
    assert (shown.form, shown.program) == (3, hashed("print(1)"))
    assert shown.date[:2] == "20"


@pytest.mark.parametrize(
    "change",
    [
        {"versions": INFO.versions | {"tensorflow": "2.20.0"}},
        {"versions": INFO.versions | {"numpy": "2.3.0"}},
        {"flags": {}},
        {"cuda": ""},
        {"machine": {"processor": "another"}},
        {"devices": {"cpu": {"asked": True, "device_name": "another"}}},
    ],
)
def test_a_program_is_unknown_where_its_outcome_may_be_another(folder, change):
    assert store(folder, replace(INFO, **change)).find(ONE, "cpu") is None


def test_a_finding_is_unknown_in_another_case_on_another_device_or_with_another_time_limit(folder):
    assert store(folder).find(("floor-float32-ties", *ONE[1:]), "cpu") is None
    assert store(folder).find(ONE, "cpu+noonednn") is None
    assert store(folder, timeout=5.0).find(ONE, "cpu") is None


@pytest.mark.parametrize("content", ["", "{", '{"run": 1}', "[]", json.dumps({"run": "r"}), "x" * 100_000])
def test_a_damaged_entry_is_none(folder, content):
    (path,) = folder.iterdir()
    path.write_text(content)
    assert store(folder).find(ONE, "cpu") is None


def test_a_store_that_cannot_be_written_costs_nothing_but_itself(tmp_path):
    (tmp_path / "file").write_text("")
    one = store(tmp_path / "file" / "reproduced")
    one.add(ONE, "cpu", "print(1)", 0, "EXIT 1", "")
    one.prune()
    assert one.find(ONE, "cpu") is None


def test_a_store_keeps_what_was_needed_last(tmp_path, monkeypatch):
    monkeypatch.setattr(earlier_programs, "MOST", 3)
    one = store(tmp_path)
    for n in range(5):
        one.add((str(n),), "cpu", "print()", 0, "EXIT 1", "")
        for path in tmp_path.iterdir():
            stat = path.stat()
            earlier_programs.os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns - 10**9))
    assert one.find(("0",), "cpu")
    one.prune()
    assert [n for n in range(5) if one.find((str(n),), "cpu")] == [0, 3, 4]


def test_several_runs_write_one_store_at_once(tmp_path):
    one = store(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: one.add((str(n % 3),), "cpu", "print()", 0, "EXIT 1", "x" * 1000), range(300)))
    assert len(list(tmp_path.iterdir())) == 3
    assert all(one.find((str(n),), "cpu") for n in range(3))


def test_a_program_that_is_another_one_today_runs_again(tmp_path):
    case = PLANTED.specs["hard-to-write"].cases()[0]
    about = {"spec": "hard-to-write", "case": case.id, "dtype": case.dtype, "recipe": case.recipe, "attrs": case.attrs}
    shown = {"kind": "crash", "got": "crash SIGABRT", "verdict": "mismatch"}
    record = Record(**about, **shown, device="cpu", mode="eager", quantity="output[0]", against="numpy")
    one = store(tmp_path / "reproduced")
    setting = Setting(catalog=PLANTED, tf="2.21.0", folder=tmp_path, store=one, again=False)
    forms = (lambda: setting.discrepancy(record),)
    text = write(setting.discrepancy(record), "2.21.0", tmp_path).read_text()
    identity = (record.case, record.mode, record.quantity, record.against, record.kind)
    one.add(identity, "cpu", text, 0, "SIGABRT", "")
    assert setting.earlier(forms, record)
    one.add(identity, "cpu", f"{text}# another", 0, "SIGABRT", "")
    assert setting.earlier(forms, record) is None
