"""Recordings with a base: equal results are stored once and read back in bits; a base that does not fit is named."""

import json
import re
import struct
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tf_opdiff.command_line import main
from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.store.extended import extended
from tf_opdiff.harness.store.formats import parquet
from tf_opdiff.harness.store.recordings import recording_header, recording_writer, shared_results
from tf_opdiff.harness.store.recordings.recorded_device import About
from tf_opdiff.harness.store.recordings.recording import Recording
from tf_opdiff.harness.store.recordings.recording_format import IN_BASE, KEY, RESULT, SCHEMA

NAN = np.frombuffer(struct.pack("<2I", 0x7FC00001, 0x7FC00002), np.float32)
LARGE = np.zeros(1 << 15, np.float32)
#: A result of each kind, by the case that has it.
RESULTS = {
    "edges": {"output[0]": Result("value", NAN), "grad[0]": Result("unconnected")},
    "zeros": {"output[0]": Result("value", np.zeros((2, 3), np.float64)), "output[1]": Result("value", np.int32(7))},
    "rows": {"output[0]": Result("sparse", np.float32([[1]]), np.array([2]), (4, 1))},
    "texts": {"output[0]": Result("value", np.array([b"a", b"\xff"], object))},
    "refused": {"output[0]": Result("error", code="InvalidArgumentError", message="must be ≥ 0")},
    "dies": {"output[0]": Result("crash", message="SIGSEGV")},
    "large": {"output[0]": Result("value", LARGE)},
}
#: Other results, each with the smallest change that a comparison may overlook.
CHANGED = {
    "edges": {"output[0]": Result("value", NAN[::-1].copy())},
    "zeros": {"output[0]": Result("value", -np.zeros((2, 3), np.float64))},
    "rows": {"output[0]": Result("sparse", np.float32([[1]]), np.array([3]), (4, 1))},
    "texts": {"output[0]": Result("value", np.array([b"a\xff", b""], object))},
    "refused": {"output[0]": Result("error", code="InvalidArgumentError", message="must be > 0")},
    "dies": {"output[0]": Result("hang", message="SIGSEGV")},
    "large": {"output[0]": Result("value", -LARGE)},
}


CHANGED = {case: results | CHANGED[case] for case, results in RESULTS.items()}
#: How many results `RESULTS` has.
COUNT = sum(map(len, RESULTS.values()))


def request(case, **more):
    return Request("m", "s", case, "float32", "eager", (), None, ("output[0]",), **more)


def about(name):
    return About(name=name, device="cpu", tf="2.21.0", runs=("r",), started="s")


def line(case, quantities, *, program="p", again=None):
    observation = Observation(quantities, seconds=0.5, ran_on="cpu", again=again or {}).to_json()
    asked = request(case, again=tuple(again or ())).digest
    return {
        "case": case,
        "mode": "eager",
        "records": [],
        "observation": observation,
        "program": program,
        "asked": asked,
    }


def lines(results, **more):
    """The result lines of cases under eager mode, and one of a sweep, which has no observation."""
    cells = {(case, "cpu", "eager"): line(case, quantities, **more) for case, quantities in results.items()}
    sweep = {"case": "sweep", "mode": "eager", "records": [], "observation": None, "program": "p", "asked": ""}
    return cells | {("sweep", "cpu", "eager"): sweep}


def written(folder, name, results=RESULTS, base="", **more):
    return recording_writer.write(about(name), lines(results, **more), folder, base=base)


def marked(path):
    """The rows of a file whose results are equal in the base."""
    return [row for row in pq.read_table(path).to_pylist() if row["status"] == IN_BASE and row["bytes"] is None]


def edited(path, change=lambda row: [row], **header):
    """Writes a recording's file again with changed rows and facts, as somebody else might; returns its path."""
    table = pq.read_table(path)
    facts = json.loads(table.schema.metadata[KEY]) | header
    rows = [row for old in table.to_pylist() for row in change(old)]
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA.with_metadata({KEY: json.dumps(facts)})), path)
    return path


@pytest.fixture
def two(tmp_path):
    """Two recordings with equal results; the first is the base of the second."""
    return written(tmp_path, "old@1"), written(tmp_path, "new@2", base="old@1")


def test_equal_results_are_stored_once_and_read_back_in_bits(two, tmp_path):
    old, new = two
    alone = written(tmp_path / "alone", "new@2")
    rows = pq.read_table(new).to_pylist()
    assert [row["case"] for row in rows if row["status"] != IN_BASE] == ["sweep"]
    assert all(row[name] is None for row in marked(new) for name in RESULT[1:])
    assert Recording(new).table.equals(Recording(alone).table)
    assert Recording(new).about.base == old.stem and Recording(alone).about.base == ""
    for recording in (Recording(old), Recording(new)):
        observation = recording.observation(request("edges"), "p")
        assert observation.quantities["output[0]"].value.tobytes() == NAN.tobytes()
    assert Recording(new).without_arrays("large", "eager") and not Recording(new).without_arrays("edges", "eager")


@pytest.mark.parametrize("case", CHANGED)
def test_a_result_that_differs_in_a_bit_a_word_or_a_place_is_stored(tmp_path, case):
    written(tmp_path, "old@1")
    results = {**RESULTS, case: CHANGED[case]}
    new = written(tmp_path, "new@2", results, base="old@1")
    rows = [row for row in pq.read_table(new).to_pylist() if row["status"] != IN_BASE or row["bytes"]]
    stored = [(row["case"], row["quantity"]) for row in rows]
    assert [row["bytes"].count(0) for row in rows if row["status"] == IN_BASE] == {
        "edges": [6],
        "zeros": [42],
        "texts": [7],
    }.get(case, [])
    assert stored == sorted([(case, "output[0]"), ("sweep", None)])
    assert Recording(new).table.equals(Recording(written(tmp_path / "alone", "new@2", results)).table)


def test_a_recording_grows_by_new_cells_and_keeps_its_others(two, tmp_path):
    older = Recording(written(tmp_path, "more@1", {c: RESULTS[c] for c in ("edges", "zeros")}, base="old@1"))
    new = recording_writer.table(lines({"zeros": CHANGED["zeros"], "texts": RESULTS["texts"]}))
    facts, rows = extended(replace(about("more@1"), runs=("s",), started="t"), new, older)
    assert (facts.runs, facts.started) == (("r", "s"), "s")
    assert facts.details["partial"] == "grown by 2 runs to 4 cells"  # one is the sweep
    grown = Recording(recording_writer.write_rows(facts, rows, tmp_path, base="old@1"))
    results = {"edges": RESULTS["edges"], "zeros": CHANGED["zeros"], "texts": RESULTS["texts"]}
    whole = Recording(written(tmp_path / "alone", "more@1", results))
    by_row = [("case", "ascending"), ("quantity", "ascending")]
    assert grown.table.sort_by(by_row).equals(whole.table.sort_by(by_row))


@pytest.mark.parametrize(
    ("facts", "says"),
    [({"tf": "2.20.0"}, "TensorFlow: 2.20.0 and 2.21.0"), ({"details": {"traits": "fma"}}, "traits: fma and (none)")],
)
def test_a_recording_does_not_grow_by_cells_of_another_device(two, facts, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        extended(replace(about("new@2"), **facts), recording_writer.table(lines(CHANGED)), Recording(two[1]))


def test_a_rerun_and_another_mode_are_other_rows(tmp_path):
    first, second = Result("value", np.float32([1])), Result("value", np.float32([2]))
    written(tmp_path, "old@1", {"c": {"output[0]": first}})
    again = {"position": {"output[0]": first}}
    new = written(tmp_path, "new@2", {"c": {"output[0]": second}}, base="old@1", again=again)
    assert marked(new) == []
    observation = Recording(new).observation(request("c", again=("position",)), "p")
    assert observation.quantities["output[0]"].value == [2] and observation.again["position"]["output[0]"].value == [1]


def test_the_same_run_gives_the_same_bytes(two, tmp_path):
    again = tmp_path / "again"
    assert written(again, "old@1").read_bytes() == two[0].read_bytes()
    assert written(again, "new@2", base="old@1").read_bytes() == two[1].read_bytes()


def test_digests_are_those_of_the_recording_not_of_its_base(tmp_path):
    written(tmp_path, "old@1")
    recording = Recording(written(tmp_path, "new@2", base="old@1", program="other"))
    assert len(marked(recording.path)) == COUNT
    assert "with another program" in recording.observation(request("edges"), "p").lacking
    assert recording.observation(request("edges"), "other").lacking == ""


def test_a_recording_of_format_1_is_read_and_can_be_a_base(tmp_path):
    old = edited(written(tmp_path, "old@1"), format=1)
    assert Recording(old).table.equals(Recording(written(tmp_path / "alone", "old@1")).table)
    assert len(marked(written(tmp_path, "new@2", base="old@1"))) == COUNT


def test_a_recording_of_format_2_is_read(two):
    before = Recording(two[1]).table
    assert Recording(edited(two[1], format=2)).table.equals(before)


def test_a_recording_of_a_later_format_is_refused(two):
    with pytest.raises(ValueError, match=r"new@2.parquet: expected a recording of format 1 or 2 or 3, got 4$"):
        Recording(edited(two[1], format=4))


def changed(old, new):
    written(old.parent, "old@1", {"edges": RESULTS["edges"]} | {"zeros": CHANGED["zeros"]})


def cut(old, new):
    old.write_bytes(old.read_bytes()[:-100])


def flipped(old, new):
    data = old.read_bytes()
    old.write_bytes(data[:100] + bytes([data[100] ^ 1]) + data[101:])


def linked(old, new):
    old.rename(old.with_name("elsewhere"))
    old.symlink_to("elsewhere")


def chained(old, new):
    edited(new, base_digest=recording_header.digest(edited(old, base="oldest@0")))


def in_a_circle(old, new):
    edited(new, base_digest=recording_header.digest(edited(old, base="new@2")))


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda old, new: old.unlink(), r"new@2\.parquet: its base is missing: expected .*old@1\.parquet"),
        (lambda old, new: edited(old, host="x"), r"its base old@1 has changed since, or is damaged: expected the file"),
        (flipped, "its base old@1 has changed since, or is damaged: expected the file with the digest [0-9a-f]{32}, "),
        (
            cut,
            r"new@2\.parquet: its base can't be read: .*old@1\.parquet: expected a recording of format 1 or 2 or 3 \(",
        ),
        (linked, r"its base can't be read: .*old@1\.parquet: expected a file, got a link"),
        (chained, "its base old@1 has the base oldest@0: expected a base without a base"),
        (in_a_circle, "its base old@1 has the base new@2: expected a base without a base"),
        (lambda old, new: edited(new, base="new@2"), "expected another recording as its base, got itself"),
        (lambda old, new: edited(new, base="../old@1"), r"its base '\.\./old@1': expected a name such as"),
        (lambda old, new: edited(new, base="/etc/passwd"), "its base '/etc/passwd': expected a name such as"),
        (lambda old, new: edited(new, base="old@1\0"), r"its base 'old@1\\x00': expected a name such as"),
        (lambda old, new: edited(new, base="a" * 5000), r"its base is missing"),
        (lambda old, new: edited(new, base=["old@1"]), r"new@2\.parquet: \$\.base: Expected str, got array"),
        (lambda old, new: edited(new, base_digest=7), r"new@2\.parquet: \$\.base_digest: Expected str, got int"),
    ],
)
def test_a_base_that_does_not_fit_is_named_in_one_line(two, spoil, says):
    spoil(*two)
    with pytest.raises(ValueError, match=says) as why:
        Recording(two[1])
    assert "\n" not in str(why.value)


def row_of(case, **columns):
    """A change of the rows of a case."""
    return lambda row: [{**row, **columns} if row["case"] == case else row]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (row_of("edges", bytes=b"1234"), "expected a change of [08] bytes, got 4"),
        (row_of("edges", code="x"), "column code: expected no value in a row with the status 'base'"),
        (row_of("edges", mode="xla"), r"its base has no (output|grad)\[0\] of edges under xla"),
        (row_of("refused", again="batch"), r"its base has no output\[0\] of refused under eager \(batch\)"),
        (lambda row: [row, row], "expected each row once, got grad|output.* twice"),
    ],
)
def test_a_row_that_its_base_does_not_have_is_named(two, change, says):
    edited(two[1], change)
    with pytest.raises(ValueError, match=says) as why:
        Recording(two[1]).table  # noqa: B018
    assert str(why.value).startswith(f"{two[1]}: ") and "\n" not in str(why.value)


def test_a_base_with_a_row_twice_or_a_marked_row_is_named(two):
    old, new = two
    edited(old, lambda row: [row, row])
    edited(new, base_digest=recording_header.digest(old))
    with pytest.raises(ValueError, match=r"new@2\.parquet: its base: expected each row once, got output"):
        Recording(new).table  # noqa: B018
    edited(old, lambda row: [{**row, "status": IN_BASE}])
    edited(new, base_digest=recording_header.digest(old))
    with pytest.raises(ValueError, match=r"old@1\.parquet: rows have the status 'base', but the recording names no"):
        Recording(new).table  # noqa: B018


def test_a_recording_and_its_base_together_take_no_more_memory_than_a_table_may(two, monkeypatch):
    table = Recording(two[0]).table
    monkeypatch.setattr(parquet, "MOST", 2 * table.nbytes)
    assert shared_results.restored(table, table, "x").equals(table)
    monkeypatch.setattr(parquet, "MOST", 2 * table.nbytes - 1)
    with pytest.raises(ValueError, match=r"^x: would take [\d,]+ bytes with its base; expected at most [\d,]+$"):
        shared_results.restored(table, table, "x")


@pytest.mark.parametrize(
    ("base", "says"),
    [
        ("none@1", r"its base is missing: expected .*none@1\.parquet"),
        ("third@3", "expected another recording as its base, got itself"),
        ("new@2", "its base new@2 has the base old@1: expected a base without a base"),
        ("../old@1", "expected a name such as h100@2.21.0"),
        ("broken@1", r"its base can't be read: .*broken@1\.parquet: expected a recording"),
    ],
)
def test_nothing_is_written_with_a_base_that_can_not_be_one(two, tmp_path, base, says):
    (tmp_path / "broken@1.parquet").write_text("PAR1")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ValueError, match=says):
        written(tmp_path, "third@3", base=base)
    assert sorted(tmp_path.iterdir()) == before


def test_the_base_of_others_is_not_replaced_until_they_do_without_it(two, tmp_path, capsys):
    old, new = two
    before = old.read_bytes()
    assert written(tmp_path, "old@1").read_bytes() == before  # the same bytes: nothing is lost
    with pytest.raises(ValueError, match=r"old@1\.parquet: it is the base of new@2: first write them without it: "):
        written(tmp_path, "old@1", CHANGED)
    assert old.read_bytes() == before and sorted(tmp_path.glob("*.tmp")) == []
    whole = Recording(new).table
    assert main(["rebase", "new@2", "--recordings", str(tmp_path)]) == 0
    written(tmp_path, "old@1", CHANGED)
    assert Recording(new).table.equals(whole) and marked(new) == []


def test_a_changed_base_can_be_written_again(two, tmp_path):
    """The recording that it no longer fits does not keep it as it is."""
    edited(two[0], host="x")
    written(tmp_path, "old@1")
    assert len(Recording(two[1]).table) == COUNT + 1


def test_rebase_gives_a_recording_another_base_or_none_and_keeps_its_rows(tmp_path, capsys):
    written(tmp_path, "old@1")
    written(tmp_path, "other@1", CHANGED)
    new = edited(written(tmp_path, "new@2", CHANGED), format=1)
    whole, header = Recording(new).table, Recording(new).about
    for base, count in (("old@1", COUNT - len(CHANGED)), ("other@1", COUNT), ("", 0)):
        words = ["--base", base] if base else []
        assert main(["rebase", "new@2", *words, "--recordings", str(tmp_path)]) == 0
        assert f"{new}: 0.0 MiB before, 0.0 MiB now" in capsys.readouterr().out
        assert Recording(new).table.equals(whole), base
        assert replace(Recording(new).about, base="", base_digest="") == header
        assert Recording(new).about.base == base and len(marked(new)) == count
        assert json.loads(pq.read_schema(new).metadata[KEY])["format"] == 3
    assert new.read_bytes() == written(tmp_path / "alone", "new@2", CHANGED).read_bytes()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["old"], "no recording 'old' in {folder}; there is new@2, old@1, third@3"),
        (["old@7"], "no recording 'old@7' in {folder}; there is new@2, old@1, third@3"),
        (["../old@1"], "recording '../old@1': expected a name such as h100@2.21.0"),
        (["third@3", "--base", "new@2"], "third@3.parquet: its base new@2 has the base old@1: expected a base without"),
        (["old@1", "--base", "third@3"], "old@1.parquet: it is the base of new@2: first write them without it: python"),
    ],
)
def test_what_rebase_can_not_write_is_wrong_usage(two, tmp_path, capsys, words, says):
    written(tmp_path, "third@3", CHANGED)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert main(["rebase", *words, "--recordings", str(tmp_path)]) == 4
    (said,) = capsys.readouterr().err.splitlines()
    assert says.format(folder=tmp_path) in said
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
