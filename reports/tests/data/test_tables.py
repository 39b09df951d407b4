"""Tests of tables, grid and sentence."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from tf_opdiff import reports
from tf_opdiff.harness.judge.differences.wording import sentence as in_one_line
from tf_opdiff.harness.repro.findings import findings
from tf_opdiff.harness.spec.kinds import KINDS
from tf_opdiff.harness.store.records.record import VERDICTS, Record
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.analysis.grid import OPENED, STATES, grid
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.tests.data.test_table import frame
from tf_opdiff.reports.tests.planted import synthetic
from tf_opdiff.reports.text import verdicts
from tf_opdiff.reports.text.sentences import sentence


@pytest.fixture(scope="module")
def records(run: Path) -> pd.DataFrame:
    return reports.load(run)


def test_verdict_counts_add_up_and_name_the_absent_ones(records: pd.DataFrame, rows: list[Record]) -> None:
    counts = tables.by_verdict(records)
    assert counts.to_dict() == {v: Counter(r.verdict for r in rows)[v] for v in VERDICTS}
    assert tables.by_verdict(records[records["verdict"] == "match"])["mismatch"] == 0


def test_a_cell_shows_its_worst_verdict_not_its_commonest(records: pd.DataFrame, rows: list[Record]) -> None:
    matrix = tables.matrix(records)
    assert matrix.loc[("rounding", "floor"), "cpu/xla"] == "mismatch"
    assert matrix.loc[("rounding", "ceil"), "cpu/xla"] == "match"
    suites = tables.cells(records, ["suite"]).set_index(["suite", "plan"])
    row = suites.loc["rounding"].loc["gpu:0/xla"]
    assert (row["worst"], row["mismatch"], row["stale"], row["known"]) == ("mismatch", 8, 8, 8)
    assert suites["records"].sum() == len(rows)


def test_plans_come_cpu_first_and_modes_in_the_harness_order(records: pd.DataFrame) -> None:
    names = list(tables.matrix(records).columns)
    assert names == [f"{d}/{m}" for d in ("cpu", "gpu:0") for m in ("eager", "function", "xla", "graph")]


def test_severity_covers_every_verdict_and_every_one_has_a_symbol() -> None:
    assert sorted(tables.SEVERITY) == sorted(VERDICTS)
    assert set(VERDICTS) < set(STATES) and len({state.symbol for state in STATES.values()}) == len(STATES)
    for field in ("symbol", "letter", "emoji", "meaning", "colours"):
        assert len({getattr(verdict, field) for verdict in verdicts.VERDICTS.values()}) == len(VERDICTS)


def test_findings_put_failing_before_known_and_lose_no_record(records: pd.DataFrame, rows: list[Record]) -> None:
    found = tables.findings(records)
    wanted = Counter(r.verdict for r in rows)
    assert found["records"].sum() == wanted["mismatch"] + wanted["error"] + wanted["stale"] + wanted["known"]
    assert list(found["verdict"].astype(str).drop_duplicates()) == ["mismatch", "error", "stale", "known"]
    for row in tables.rows(found):
        first = tables.row(records, row["first"])
        assert [first[name] for name in ("spec", "verdict", "kind")] == [
            row[name] for name in ("spec", "verdict", "kind")
        ]
        assert first["against"] == "numpy"


def test_a_finding_has_one_cause_and_is_illustrated_by_its_simplest_example() -> None:
    row = synthetic.records([("s", "floor")], ["cpu"], ["edges"])[0]
    row = replace(row, verdict="known", kind="value", against="numpy", got="1", want="2")
    examples = {"at infinity": ("-inf", "inf"), "near 0": ("1e-9", "-0.25")}
    rows = [replace(row, reason=r, example=f"input {x}, got 1, want 2") for r, xs in examples.items() for x in xs]
    unknown = [replace(row, verdict="mismatch", reason=reason) for reason in ("", "what its contract says")]
    records = frame(*rows, *unknown)
    found = tables.findings(records).set_index("reason")
    assert found["records"].to_dict() == {"": 2, "at infinity": 2, "near 0": 2}
    shown = {reason: records["example"][at] for reason, at in found["first"].items() if reason}
    assert shown == {"at infinity": "input inf, got 1, want 2", "near 0": "input -0.25, got 1, want 2"}


def test_a_run_counts_once_among_the_slowest_however_many_records_it_gave(records: pd.DataFrame) -> None:
    slow = tables.slowest(records, 50)
    assert not slow.duplicated(["case", "device", "mode"]).any()
    assert slow["seconds"].is_monotonic_decreasing and slow["seconds"].iloc[0] == records["seconds"].max()


def test_margins_are_of_matches_within_their_budget(records: pd.DataFrame) -> None:
    margins = tables.worst_margins(records, 1000)
    assert margins["used"].is_monotonic_decreasing and margins["used"].between(0, 1).all()


def test_a_budget_of_correct_rounding_has_no_margin(records: pd.DataFrame) -> None:
    exact = records.head(1).assign(against="numpy", verdict="match", max_ulp=0.5, budget=0.5, spec="rounded")
    both = pd.concat([records.astype({"against": "str"}), exact.astype({"against": "str"})])
    assert "rounded" not in set(tables.worst_margins(both, 1000)["spec"])


def test_a_claim_that_denies_has_no_margin(records: pd.DataFrame) -> None:
    denied = records.head(1).assign(against="claim:C08b", verdict="match", max_ulp=1e9, budget=1.0)
    both = pd.concat([records.astype({"against": "str"}), denied.astype({"against": "str"})])
    assert (tables.worst_margins(both, 1000)["used"] <= 1).all()


def test_kinds_count_all_that_is_no_match(records: pd.DataFrame) -> None:
    found = tables.by_kind(records)
    assert found["records"].sum() == (records["kind"] != "").sum()
    assert list(found["kind"]) == [kind for kind in KINDS if (records["kind"] == kind).any()]


def info(**fields: object) -> RunInfo:
    return RunInfo(**{"run": "r", "started": "", "state": "complete", "planned": 2, "recorded": 2, **fields})  # type: ignore[arg-type]


LOST = {"case": "floor-float32-edges", "device": "cpu", "mode": "xla", "why": "cut off"}


def test_planned_cells_without_a_result_show_in_the_matrix_even_of_a_spec_without_records() -> None:
    rows = synthetic.records([("rounding", "ceil")], ["cpu"], ["edges"])
    frame = pd.DataFrame([vars(r) for r in rows])
    found = grid(
        frame, info(not_run=[LOST, *({**LOST, "case": f"ceil-float32-{case}"} for case in ("edges", "axis0-new"))])
    )
    cells = {(s.name, c.plan.mode): c for suite in found.rows for s in suite.specs for c in suite.cells and s.cells}
    assert cells["floor", "xla"].worst == "not run" and cells["floor", "eager"].worst == ""
    counts = {state: n for state, n in cells["ceil", "xla"].counts.items() if n}
    assert counts == {"not run": 2, "match": 2}


def test_a_mismatch_is_not_hidden_by_a_cell_that_did_not_run() -> None:
    rows = [replace(r, verdict="mismatch") for r in synthetic.records([("s", "ceil")], ["cpu"], ["edges"])]
    found = grid(pd.DataFrame([vars(r) for r in rows]), info(not_run=[{**LOST, "case": "ceil-float32-edges"}]))
    assert found.rows[0].cells[2].worst == "mismatch"


@pytest.mark.parametrize(("failing", "opened"), [(OPENED, ["bad"]), (OPENED + 1, [])])
def test_suites_that_fail_stand_open_where_that_is_not_too_long(failing: int, opened: list[str]) -> None:
    rows = synthetic.records([("bad", f"op{i}") for i in range(failing)], ["cpu"], ["edges"])
    bad = [replace(r, verdict="mismatch") for r in rows[:1]] + rows[1:]
    good = synthetic.records([("good", f"fine{i}") for i in range(OPENED)], ["cpu"], ["edges"])
    found = grid(pd.DataFrame([vars(r) for r in bad + good]), info())
    assert [row.name for row in found.opened] == opened


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"state": "running"}, "never ended"),
        ({"state": "interrupted"}, "interrupted"),
        ({"state": "fault"}, "fault of the suite itself"),
        ({"recorded": 1, "not_run": [LOST]}, "1 of 2 planned cells have no result"),
        ({"recorded": 1}, "1 of 2 planned cells are unaccounted for"),
        ({"damaged": 3}, "3 damaged lines"),
    ],
)
def test_a_run_that_is_not_whole_says_so_first(fields: dict[str, object], says: str) -> None:
    counts = dict.fromkeys(VERDICTS, 1)
    assert sentence.of_run(info(**fields), counts).startswith("Partial run: ")
    assert says in sentence.of_run(info(**fields), counts)
    assert sentence.of_run(info(**fields), counts, brief=True).startswith("Partial run.")


def test_a_whole_run_says_what_fails() -> None:
    assert sentence.of_run(info(), dict.fromkeys(VERDICTS, 1)) == "3 of 7 records fail."
    assert sentence.of_run(info(), {**dict.fromkeys(VERDICTS, 0), "match": 1}) == "No record fails."
    assert sentence.of_run(info(), dict.fromkeys(VERDICTS, 0)) == "There are no records."


def test_the_sentence_of_a_mismatch_tells_what_where_how_many_and_how_far() -> None:
    row = synthetic.records([("s", "floor")], ["cpu"], ["edges"])[0]
    row = replace(
        row, verdict="mismatch", kind="value", mismatched=3, size=1234, max_ulp=12.5, budget=1.0, against="numpy"
    )
    row = replace(row, worst_index="[4]", input="0.5", got="1.0", want="0.0")
    assert sentence.of_record(vars(row)) == (
        "floor-float32-edges, output[0] on cpu/eager: differs from numpy in 3 of 1,234 elements (value)."
    )
    assert sentence.values(vars(row)) == "at [4]: input 0.5, got 1.0, want 0.0"
    row = replace(row, distance="12.5 ULP, 1 allowed")
    assert sentence.values(vars(row)) == "at [4]: input 0.5, got 1.0, want 0.0 (12.5 ULP, 1 allowed)"
    row = replace(row, example_index="[7]", example="input 0, got 2, want 1")
    assert sentence.values(vars(row)) == (
        "at [7]: input 0, got 2, want 1; worst at [4]: input 0.5, got 1.0, want 0.0 (12.5 ULP, 1 allowed)"
    )
    row = replace(row, distance="")  # a zero of the wrong sign, say: none is worse than another
    assert sentence.values(vars(row)) == "at [7]: input 0, got 2, want 1"


@pytest.mark.parametrize("verdict", VERDICTS)
def test_every_verdict_has_a_sentence(verdict: str) -> None:
    row = replace(synthetic.records([("s", "floor")], ["cpu"], ["edges"])[0], verdict=verdict, against="numpy")
    assert sentence.of_record(vars(row)).startswith("floor-float32-edges, output[0] on cpu/eager: ")


@pytest.mark.parametrize("verdict", ["mismatch", "known"])
@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("position", "the value depends on its position in the tensor"),
        ("nondeterministic", "two runs of the same program give different results"),
        ("input_mutated", "the op changes its input"),
    ],
)
def test_each_way_in_which_a_run_contradicts_itself_has_words_of_its_own(verdict: str, kind: str, says: str) -> None:
    row = synthetic.records([("s", "floor")], ["cpu"], ["edges"])[0]
    row = replace(row, verdict=verdict, kind=kind, against=f"{row.device}/{row.mode}", got="1", want="2", example="")
    for text in (sentence.of_record(vars(row)), in_one_line(row)):
        assert says in text
        assert sum(other in text for other in ("depends on its position", "two runs", "changes its input")) == 1
        assert "itself" not in text


def test_page_and_program_of_a_finding_show_the_same_example_in_whatever_order_records_come() -> None:
    base = {"suite": "s", "spec": "a", "verdict": "mismatch", "kind": "value", "against": "numpy", "mode": "eager"}
    texts = {"bfloat16": "got -0, want -1", "float16": "got -0.0, want -1.0", "float32": "got -0.0, want -1.0"}
    some = [
        Record(**base, case=f"a-{dtype}", dtype=dtype, device=device, example=f"input -0.5, {text}")
        for (dtype, text), device in itertools.product(texts.items(), ("cpu", "gpu:0"))
    ]
    for order in itertools.permutations(some):
        (row,) = tables.findings(frame(*order)).itertuples()
        assert findings(order) == [order[row.first]] == [some[4]]


def test_the_static_matrix_of_many_specs_leaves_out_those_that_match_everywhere() -> None:
    rows = synthetic.records([("s", "fine"), ("s", "floor")], ["cpu"], ["edges"])
    matrix = grid(pd.DataFrame([vars(r) for r in rows]), info())
    ((suite, every),) = matrix.listed(2)
    assert [spec.name for spec in every] == ["fine", "floor"] == [spec.name for spec in suite.specs]
    assert [[spec.name for spec in specs] for _, specs in matrix.listed(1)] == [["floor"]]
