"""Tests of the tables that can be taken along: what they count, their formats, and their verb."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tf_opdiff import reports
from tf_opdiff.command_line import main
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.store.records.record import VERDICTS, Record
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.figures.tables import NAMED, make
from tf_opdiff.reports.data.run_data import parquet
from tf_opdiff.reports.tests.conftest import HOSTILE
from tf_opdiff.reports.tests.planted import synthetic
from tf_opdiff.reports.text import formats

GUIDE = ROOT / "docs" / "guides" / "read-a-failure.md"
FORMULAS = ("=1+1", "+1+1", "-1+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1+1", "\x00=1")


@pytest.fixture(scope="module")
def records(run: Path) -> pd.DataFrame:
    return reports.load(run)


def frame(*rows: Record) -> pd.DataFrame:
    return pd.DataFrame([vars(row) for row in rows])


def one(**fields: Any) -> Record:
    row = synthetic.records([("s", "floor")], ["cpu"], ["edges"])[0]
    return replace(row, against="numpy", **{"verdict": "match", "kind": "", "owner": "", **fields})


def test_a_record_counts_for_each_op_of_its_graph() -> None:
    found = tables.by_op(frame(one(raw_op="Switch;Merge"), one(raw_op="Merge", verdict="mismatch"), one(raw_op="")))
    assert found.set_index("raw_op")["records"].to_dict() == {"": 1, "Merge": 2, "Switch": 1}
    assert found.set_index("raw_op")["worst"].to_dict() == {"": "match", "Merge": "mismatch", "Switch": "match"}


@pytest.mark.parametrize("name", ["by_spec", "by_plan"])
def test_every_record_is_counted_once_under_its_verdict(records: pd.DataFrame, name: str) -> None:
    found = make(name, records)
    assert found["records"].sum() == len(records)
    assert found[list(VERDICTS)].sum().to_dict() == tables.counts(records)
    assert (found[list(VERDICTS)].sum(axis=1) == found["records"]).all()


def test_plans_come_cpu_first_and_a_run_takes_its_time_once() -> None:
    rows = [one(device=d, mode=m, quantity=q, seconds=1.5) for d in ("gpu:0", "cpu") for m in ("xla", "eager")
            for q in ("output[0]", "grad[0]")]  # fmt: skip
    found = tables.by_plan(frame(*rows))
    plans = [("cpu", "eager"), ("cpu", "xla"), ("gpu:0", "eager"), ("gpu:0", "xla")]
    assert list(zip(found["device"], found["mode"], strict=True)) == plans
    assert found["seconds"].tolist() == [1.5] * 4 and found["records"].tolist() == [2] * 4


def test_coverage_is_of_what_ran_and_says_whether_a_gradient_did() -> None:
    rows = [
        one(raw_op="Floor", quantity="output[0]"),
        one(raw_op="Floor", quantity="grad[0]", case="floor-float32-bits"),
        one(raw_op="Floor", quantity="output[0]", mode="xla"),
        one(raw_op="Floor", quantity="grad[0]", mode="xla", verdict="unavailable"),
        one(raw_op="Ceil", quantity="output[0]", verdict="error"),
    ]
    found = tables.rows(tables.coverage(frame(*rows)))
    assert [(r["raw_op"], r["mode"], r["cases"], r["gradient"], r["quantities"]) for r in found] == [
        ("Floor", "eager", 2, True, "output grad"),
        ("Floor", "xla", 1, False, "output"),
    ]


def test_each_cause_is_listed_with_all_that_it_covers() -> None:
    entry = {"cause": "twice", "owner": "tensorflow", "reason": "rounds twice", "kind": "value"}
    rows = [
        one(**entry, verdict="known"),
        one(**entry, verdict="known", mode="xla", quantity="grad[0]", dtype="float16", case="floor-float16-edges"),
        one(**{**entry, "kind": ""}, verdict="stale", mode="graph"),
        one(**{**entry, "kind": "crash"}, verdict="mismatch", mode="graph"),
        one(owner="nobody", reason="as documented", verdict="contract"),
        one(owner="nobody", reason="another", kind="nan", verdict="known"),
    ]
    first, second = tables.rows(tables.known(frame(*rows)))
    assert (first["cause"], first["reason"], first["owner"]) == ("twice", "rounds twice", "tensorflow")
    assert (first["known"], first["stale"], first["other"]) == (2, 1, 1)
    assert (first["kinds"], first["dtypes"], first["plans"]) == (
        "crash value", "float16 float32", "cpu/eager cpu/xla cpu/graph",
    )  # fmt: skip
    assert (first["cases"], first["quantities"], second["reason"]) == (2, "grad[0] output[0]", "another")
    assert second["cause"] == ""


@pytest.mark.parametrize("name", NAMED)
def test_a_table_of_no_records_has_the_same_typed_columns(records: pd.DataFrame, name: str) -> None:
    whole, none = make(name, records), make(name, records.head(0))
    assert len(whole) and not len(none)
    assert none.dtypes.to_dict() == whole.dtypes.to_dict()
    assert len(formats.csv(none).splitlines()) == len(formats.text(none).splitlines()) == 1


@pytest.mark.parametrize("name", NAMED)
def test_a_run_that_has_not_ended_gives_every_table_of_what_is_there(tmp_path: Path, name: str) -> None:
    synthetic.write(tmp_path, synthetic.records(synthetic.ops(8), ["cpu"], ["edges"]), state="running", ended="")
    shard = max((tmp_path / "shards").iterdir())
    shard.write_bytes(shard.read_bytes()[: shard.stat().st_size // 2])
    (tmp_path / "shards" / "gw9-1-abc.jsonl").write_bytes(b"")
    found = reports.load(tmp_path)
    assert 0 < len(found) < 64
    assert len(make(name, found)) > 0 or name in ("hidden", "lacking")  # nothing is, there


def cells(text: str) -> list[str]:
    return [cell for row in list(csv.reader(io.StringIO(text)))[1:] for cell in row]


@pytest.mark.parametrize("cell", [*FORMULAS, *HOSTILE])
def test_no_cell_of_csv_begins_like_a_formula_or_holds_a_control_character(cell: str) -> None:
    (found,) = cells(formats.csv(pd.DataFrame({"name": [cell.encode("utf-8", "replace").decode()]})))
    assert found.lstrip(" ")[0] not in "=+-@＝＋－＠" and not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in found)


@pytest.mark.parametrize("cell", ["-0.0", "-1.5e-07", "+3", "7", "plain words", "a=b", "output[0]", "C++ - text"])
def test_words_that_no_spreadsheet_runs_stay_as_they_are(cell: str) -> None:
    assert cells(formats.csv(pd.DataFrame({"name": [cell]}))) == [cell]


@pytest.mark.parametrize("cell", [";=1+1", "a; @SUM(A1)", 'a;"=HYPERLINK(1)', "x;b;-2+3", "a;\uff1d1"])
def test_no_formula_stands_behind_a_semicolon_which_separates_columns_elsewhere(cell: str) -> None:
    (found,) = cells(formats.csv(pd.DataFrame({"name": [cell]})))
    assert len(found) == len(cell) + 1 and "'" in found
    assert not [part for part in found.split(";")[1:] if part.lstrip(' "')[:1] in tuple("=+-@＝＋－＠")]


def test_ops_joined_by_semicolons_stay_as_they_are() -> None:
    assert cells(formats.csv(pd.DataFrame({"name": ["Switch;Merge"]}))) == ["Switch;Merge"]


def test_numbers_stay_numbers_in_csv() -> None:
    table = pd.DataFrame({"f": [-1.5, float("nan"), float("-inf"), 1e-300, 0.1], "i": [-3, 2**60, 0, 1, 2], "w": "=x"})
    back = pd.read_csv(io.StringIO(formats.csv(table)))
    pd.testing.assert_frame_equal(back[["f", "i"]], table[["f", "i"]], check_exact=True)
    assert back["w"].tolist() == ["'=x"] * 5


@pytest.mark.parametrize("name", NAMED)
def test_hostile_texts_are_inert_in_every_format(hostile_run: Path, name: str) -> None:
    table = make(name, reports.load(hostile_run))
    for line in formats.markdown(table).splitlines():
        assert line.startswith("| ") and line.endswith(" |") and line.isprintable()
        assert len(line.replace("\\\\", "").replace("\\|", "").split(" | ")) == len(table.columns)
        assert "<" not in line and "](" not in line.replace("\\]", "").replace("\\(", "")
    assert all(line.isprintable() for line in formats.text(table).splitlines())
    assert not [c for c in cells(formats.csv(table)) if c.lstrip(" ")[:1] in ("=", "+", "@", "\t", "\r")]


def test_text_aligns_numbers_to_the_right_and_says_yes_or_no() -> None:
    table = pd.DataFrame({"name": ["a", "longer"], "n": [5, 12345], "ok": [True, False]})
    assert formats.text(table) == "name         n  ok\na            5  yes\nlonger  12,345  no\n"


@pytest.mark.parametrize("name", NAMED)
def test_parquet_keeps_the_types(records: pd.DataFrame, tmp_path: Path, name: str) -> None:
    table = make(name, records)
    parquet.write(table, tmp_path / "table.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "table.parquet"), table)


def test_the_verb_without_a_name_lists_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(NAMED) and all(len(line.split()) > 4 for line in lines)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["by_opp", "RUN"], "no table 'by_opp'; there is by_kind, by_op"),
        (["by_opp"], "no table 'by_opp'"),
        (["by_op"], "expected the directory of a run as well"),
        (["by_op", "nowhere"], "nowhere is not the directory of a run"),
        (["by_op", "RUN", "--format", "parquet"], "expected --out FILE as well"),
        (["by_op", "RUN", "--top", "-1"], "--top: expected a whole number of rows from 0"),
        (["by_op", "RUN", "--out", "nowhere/x.csv"], "nowhere"),
        (
            ["by_op", "RUN", "--out", "nowhere/x.xlsx"],
            "x.xlsx: expected a file with a suffix of .txt, .md, .csv, .parquet",
        ),
    ],
)
def test_wrong_usage_is_one_line(
    run: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert main(["table", *(str(run) if a == "RUN" else a for a in arguments)]) == 4
    captured = capsys.readouterr()
    assert says in captured.err and len(captured.err.splitlines()) == 1 and not captured.out


@pytest.mark.parametrize("words", [[], ["nonsense"], ["diff"], ["table", "--format", "docx"]])
def test_words_that_no_verb_takes_are_wrong_usage_and_not_an_interrupt(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 4
    assert re.search("error:|no verb", capsys.readouterr().err)


def test_help_is_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "--help"]) == 0
    assert "RUN_A" in capsys.readouterr().out


def test_rows_that_are_not_shown_are_counted(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "by_op", str(run), "--top", "3"]) == 0
    captured = capsys.readouterr()
    assert len(captured.out.splitlines()) == 4
    assert "3 of 69 rows; --top 69 gives all" in captured.err


def test_a_partial_run_is_said_to_be_partial(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    synthetic.write(tmp_path, synthetic.records(synthetic.ops(2), ["cpu"], ["edges"]), state="running", ended="")
    assert main(["table", "by_plan", str(tmp_path)]) == 0
    assert "partial run: it never ended (killed, or still running)" in capsys.readouterr().err
    (tmp_path / "run.json").unlink()
    assert main(["table", "by_plan", str(tmp_path)]) == 0
    assert "no run.json" in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["csv", "md", "parquet"])
def test_a_file_is_of_the_format_that_its_name_ends_with_and_whole(run: Path, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"table.{ending}"
    assert main(["table", "by_op", str(run), "--out", str(path)]) == 0
    whole = make("by_op", reports.load(run))
    if ending == "parquet":
        assert len(pd.read_parquet(path)) == len(whole)
    elif ending == "csv":
        assert path.read_text() == formats.csv(whole)
    else:
        assert path.read_text() == formats.markdown(whole.head(50))


def test_the_lines_that_the_guide_gives_for_a_notebook_run(run: Path) -> None:
    blocks = re.findall(r"```python\n(from tf_opdiff import reports\n.*?)```", GUIDE.read_text(), re.DOTALL)
    assert len(blocks) == 1 and "reports.tables." in blocks[0]
    names: dict[str, Any] = {}
    exec(blocks[0].replace("runs/latest", str(run)), names)  # noqa: S102  the guide's own lines
    assert len(names["df"]) == 3904
