"""Tests of lacking: which kernels are missing, and what a maturity list says of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tf_opdiff import reports
from tf_opdiff.harness.judge.known_failures.maturity import Entry, Maturity
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.reports.data.causes.missing_kernels import lacking
from tf_opdiff.reports.tests.planted import synthetic
from tf_opdiff.reports.text.sentences.summary import terminal

LIST = Maturity(
    "gpu",
    "gpu.toml",
    {
        ("ceil", "float32", "eager", "output"): (1, Entry(level="mandatory", reason="released")),
        ("floor", "float32", "eager", "output"): (2, Entry(level="expected")),
        ("rint", "float32", "eager", "output"): (3, Entry(level="skip")),
    },
)


def made(spec: str, mode: str = "eager", **fields: str) -> Record:
    op = spec.capitalize()
    place = {"suite": "rounding", "case": f"{spec}-float32-edges", "dtype": "float32", "device": "gpu:0"}
    found = {"verdict": "unavailable", "kind": "status", "detail": f"no GPU kernel of {op}: INVALID_ARGUMENT: {op}"}
    record = Record(spec=spec, mode=mode, against="numpy", quantity="output[0]", **place | found | fields)
    return LIST.graded(record, came=False)


ROWS = [
    *(made("rint"), made("round"), made("round", "graph"), made("floor"), made("ceil")),
    made("cos", verdict="match", kind="", detail=""),
]


def test_each_missing_kernel_is_a_row_and_what_is_mandatory_comes_first(tmp_path: Path) -> None:
    synthetic.write(tmp_path, ROWS)
    table = lacking(reports.load(tmp_path))
    assert table[["missing", "listed"]].to_numpy().tolist() == [
        ["no GPU kernel of Ceil", "mandatory, by entry 1 of gpu.toml (released)"],
        ["no GPU kernel of Floor", "expected, by entry 2 of gpu.toml"],
        ["no GPU kernel of Round", ""],
        ["no GPU kernel of Rint", "skip, by entry 3 of gpu.toml"],
    ]
    assert table.loc[2, ["device", "modes", "specs", "cases", "records"]].tolist() == [
        "gpu:0",
        "eager graph",
        "round",
        1,
        2,
    ]


def test_what_is_expected_and_lacking_is_listed_in_the_terminal_and_cut_where_it_is_much(tmp_path: Path) -> None:
    floor = made("floor")
    more = [replace(floor, detail=f"no GPU kernel of Op{n}: …", spec=f"op{n}") for n in range(4)]
    info = synthetic.write(tmp_path, [*ROWS, *more])
    lines = [line for line in terminal(reports.load(tmp_path), info, []) if line.startswith("expected: ")]
    assert lines[0] == "expected: no GPU kernel of Floor (1 records) on gpu:0, for floor"
    assert lines[-1] == "expected: 3 more are missing; python -m harness table lacking RUN lists them"
    assert len(lines) == 3


def test_a_run_that_lacks_nothing_has_an_empty_table(tmp_path: Path) -> None:
    info = synthetic.write(tmp_path, ROWS[-1:])
    assert lacking(reports.load(tmp_path)).empty
    assert not [line for line in terminal(reports.load(tmp_path), info, []) if line.startswith("expected")]
