"""Tests of what changed between two runs."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tf_opdiff import reports
from tf_opdiff.command_line import main
from tf_opdiff.harness.device.observation import pack
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.store.records.record import COLUMNS, Record
from tf_opdiff.reports.analysis.comparisons import bits, causes, changelog
from tf_opdiff.reports.analysis.comparisons.bits_of_changes import with_changed_inputs, with_numbers
from tf_opdiff.reports.analysis.comparisons.one_sided import one_sided
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.run_data import frame, run_environment
from tf_opdiff.reports.pages.run_pages import changelog_page, run_page
from tf_opdiff.reports.tests.browser import Browser
from tf_opdiff.reports.tests.conftest import HOSTILE
from tf_opdiff.reports.tests.pages.test_page import Page
from tf_opdiff.reports.tests.planted import synthetic
from tf_opdiff.reports.text.sentences import markdown, summary
from tf_opdiff.reports.verbs.diff import diff

BAD = {"verdict": "mismatch", "kind": "value", "mismatched": 3}


def row(case: str = "exp-float32-edges", mode: str = "eager", **more: Any) -> Record:
    spec = case.split("-")[0]
    base = {
        "device": "cpu",
        "against": "numpy",
        "quantity": "output[0]",
        "verdict": "match",
        "size": 67,
        "seed": "5eed",
    }
    told = {"dtype": "float32", "recipe": case.split("-")[-1], "max_ulp": 0.5, "budget": 4.0, "suite": "unary"}
    return Record(
        **{"spec": spec, "case": case, "mode": mode, "rerun": f"pytest suites --case {case}"} | base | told | more
    )


def table(rows: Sequence[Record]) -> pd.DataFrame:
    return frame.typed(pd.DataFrame([vars(r) for r in rows], columns=list(COLUMNS)))


def found(before: Sequence[Record], after: Sequence[Record], **more: Any) -> pd.DataFrame:
    return diff(table(before), table(after), **more)


def only(before: Record, after: Record) -> tuple[str, bool]:
    (change,) = found([before], [after])[["change", "worse"]].itertuples(index=False)
    return change.change, change.worse


@pytest.mark.parametrize(
    ("was", "now", "change", "worse"),
    [
        ({}, BAD, "new", True),
        ({}, BAD | {"verdict": "known"}, "new", True),
        ({"verdict": "unavailable"}, BAD, "new", True),
        ({"verdict": "contract"}, {"verdict": "error"}, "new", True),
        (BAD, {}, "fixed", False),
        (BAD | {"verdict": "known"}, {"verdict": "contract"}, "fixed", False),
        (BAD, BAD | {"kind": "nan"}, "changed", True),
        (BAD, BAD | {"verdict": "known"}, "changed", False),
        (BAD | {"verdict": "known"}, BAD, "changed", True),
        ({"verdict": "known", "kind": "nan"}, {"verdict": "stale"}, "changed", True),
        ({}, {"verdict": "unavailable"}, "changed", True),
        (BAD, {"verdict": "unavailable"}, "changed", True),
        ({}, {"verdict": "contract"}, "changed", False),
        ({}, {}, "unchanged", False),
        (BAD, BAD | {"got": "another"}, "unchanged", False),
        ({}, {"max_ulp": 1.1}, "drifted", False),
        ({"max_ulp": 1.1}, {}, "drifted", False),
        ({"max_ulp": 1.0}, {"max_ulp": 1.5}, "unchanged", False),
        ({"budget": 1.0}, {"budget": 1.0, "max_ulp": 0.8}, "drifted", False),
        ({"max_ulp": 1000.0, "budget": 4e3}, {"max_ulp": 1001.0, "budget": 4e3}, "unchanged", False),
        ({"max_ulp": 1.0, "budget": math.inf}, {"max_ulp": math.inf, "budget": math.inf}, "drifted", False),
        ({"max_ulp": math.inf}, {"max_ulp": math.inf}, "unchanged", False),
        ({"max_ulp": math.nan}, {"max_ulp": math.nan}, "unchanged", False),
        (BAD | {"max_ulp": 6.0}, BAD | {"max_ulp": 9.0}, "drifted", True),
        (BAD | {"max_ulp": 9.0}, BAD | {"max_ulp": 6.0}, "drifted", False),
        ({}, {"max_ulp": 1.1, "seed": "other"}, "unchanged", False),
        ({}, {"max_ulp": 1.1, "size": 68}, "unchanged", False),
        ({}, BAD | {"seed": "other"}, "new", True),
    ],
)
def test_a_change_has_its_name_and_direction(
    was: dict[str, Any], now: dict[str, Any], change: str, worse: bool
) -> None:
    assert only(row(**was), row(**now)) == (change, worse)


def test_columns_are_typed_and_positions_point_at_the_records() -> None:
    before = [row("exp-float32-a"), row("exp-float32-b"), row("gone-float32-a")]
    after = [row("new-float32-a", **BAD), row("exp-float32-b", max_ulp=3.0), row("exp-float32-a")]
    changes = found(before, after)
    assert changes["change"].tolist() == ["appeared", "drifted", "unchanged", "disappeared"]
    assert changes["before"].tolist() == [-1, 1, 0, 2]
    assert changes["after"].tolist() == [0, 1, 2, -1]
    assert changes["worse"].tolist() == [True, False, False, False]
    assert changes["case"].tolist() == ["new-float32-a", "exp-float32-b", "exp-float32-a", "gone-float32-a"]
    assert {n: str(changes[n].dtype) for n in ("change", "worse", "max_ulp", "mismatched", "before", "plan")} == {
        "change": "category", "worse": "bool", "max_ulp": "float64", "mismatched": "int64", "before": "int64",
        "plan": "category",
    }  # fmt: skip
    assert changes["verdict_before"].tolist() == ["", "match", "match", "match"]
    assert changes.loc[3, "kind"] == ""
    assert not changes.select_dtypes(exclude="float").isna().any(axis=None)


def test_what_a_record_is_held_against_is_part_of_it() -> None:
    ways = ["numpy", "cpu/function", "cpu/eager", "claim:C01"]
    before = [row(against=way) for way in ways]
    for i, way in enumerate(ways):
        changes = found(before, [*before[:i], replace(before[i], **BAD), *before[i + 1 :]])
        assert changes["change"].tolist() == ["new" if w == way else "unchanged" for w in ways]


def test_a_plan_compared_with_another_one_than_before_is_paired() -> None:
    """The eager plan broke, so that the others are compared with the function's now."""
    before = [row(mode=m, against="numpy") for m in ("eager", "function", "xla")]
    before += [row(mode=m, against="cpu/eager") for m in ("function", "xla")]
    after = [replace(before[0], **BAD), *before[1:3]]
    after += [row(mode="eager", against="cpu/function", **BAD), row(mode="xla", against="cpu/function", max_ulp=3.0)]
    changes = found(before, after)
    assert changes["change"].tolist() == ["new", "unchanged", "unchanged", "new", "unchanged"]
    assert changes["before"].tolist() == [0, 1, 2, 3, 4]
    back = found(after, before)
    assert back["change"].tolist() == ["fixed", "unchanged", "unchanged", "fixed", "unchanged"]


def test_a_record_of_a_run_that_both_have_is_new_or_fixed_where_it_fails() -> None:
    mutated = row(quantity="input[0]", against="cpu/eager", verdict="mismatch", kind="input_mutated")
    assert found([row()], [row(), mutated])["change"].tolist() == ["unchanged", "new"]
    assert found([row(), mutated], [row()])["change"].tolist() == ["unchanged", "fixed"]
    broken = row(quantity="", verdict="error", kind="reference")
    assert found([row(**BAD)], [broken])["change"].tolist() == ["new", "disappeared"]


def test_records_that_agree_in_everything_are_paired_in_order() -> None:
    twice = [row(against="cpu/eager"), row(against="cpu/eager", **BAD)]
    assert found(twice, twice)["change"].tolist() == ["unchanged"] * 2
    assert found(twice, twice[:1])["change"].tolist() == ["unchanged", "fixed"]


def test_other_inputs_are_said_and_not_drift() -> None:
    at = {"worst_index": "[3]", "input": "0.5"} | BAD
    changes = found([row(**at, max_ulp=5.0)], [row(**at | {"input": "0.75"}, max_ulp=50.0)])
    assert changes[["change", "inputs_changed"]].values.tolist() == [["unchanged", True]]


def test_what_was_planned_and_has_no_result_is_worse_what_was_left_out_is_not() -> None:
    before = [row(mode="eager"), row(mode="xla")]
    lost = pd.DataFrame([{"case": "exp-float32-edges", "device": "cpu", "mode": "xla", "why": "killed"}])
    changes = found(before, before[:1], not_run=lost)
    assert changes[["change", "lost", "worse"]].values.tolist() == [
        ["unchanged", False, False],
        ["disappeared", True, True],
    ]
    assert not found(before, before[:1])["worse"].any()


@pytest.mark.parametrize(("before", "after"), [([], []), ([], [row()]), ([row()], [])])
def test_runs_without_records_are_compared(before: list[Record], after: list[Record]) -> None:
    changes = found(before, after)
    assert changes["change"].tolist() == ["appeared"] * len(after) + ["disappeared"] * len(before)
    assert len(causes.causes(changes)) == 0
    assert len(one_sided(changes, "appeared")) == len(after)


def cases(spec: str, n: int, mode: str = "xla", **more: Any) -> list[Record]:
    return [row(f"{spec}-float32-r{i}", mode, **more) for i in range(n)]


def test_one_cause_is_one_row_over_specs_and_cases() -> None:
    before = [r for i in range(30) for r in cases(f"op{i}", 10)]
    after = [replace(r, **BAD | {"kind": "subnormal"}) for r in before]
    gathered = causes.causes(found(before, after))
    (cause,) = tables.rows(gathered)
    assert (cause["kind"], cause["plans"], cause["records"], cause["cases"]) == ("subnormal", "cpu/xla", 300, 300)
    assert len(cause["specs"]) == 30
    assert set(cause["specs"].values()) == {10}


def test_failures_that_are_known_for_other_reasons_are_other_causes_each_with_its_simplest_example() -> None:
    names = [f"exp-float32-{n}" for n in range(4)]
    inputs = dict(zip(names, ["-inf", "inf", "1e-9", "0.0"], strict=True))
    after = [
        row(name, verdict="known", kind="value", reason="at infinity" if "inf" in x else "near 0", example=f"input {x}")
        for name, x in inputs.items()
    ]
    gathered = causes.causes(found([row(name) for name in names], after))
    shown = {c["reason"]: after[c["example"]].example for c in tables.rows(gathered)}
    assert shown == {"at infinity": "input inf", "near 0": "input 0.0"}
    assert list(gathered["records"]) == [2, 2]


def test_other_kinds_and_plans_are_other_causes_and_the_worst_stands_for_the_rest() -> None:
    before = [*cases("exp", 3), *cases("log", 3, "graph"), *cases("tan", 2)]
    after = [replace(r, **BAD, max_ulp=9.0 + i) for i, r in enumerate(before[:6])]
    after += [replace(r, **BAD | {"kind": "nan"}) for r in before[6:]]
    changes = found(before, after)
    gathered = causes.causes(changes)
    assert sorted(zip(gathered["kind"], gathered["plans"])) == [  # noqa: B905
        ("nan", "cpu/xla"), ("value", "cpu/graph"), ("value", "cpu/xla"),
    ]  # fmt: skip
    best = gathered[gathered["plans"] == "cpu/graph"].iloc[0]
    assert changes.loc[best["example"], "max_ulp"] == 14.0


def test_a_plan_that_only_one_run_has_is_one_row_not_its_cases() -> None:
    both = [r for i in range(20) for r in cases(f"op{i}", 5, "eager")]
    gpu = [
        replace(r, device="gpu:0", mode=m, **(BAD if i == 0 else {}))
        for m in ("eager", "xla")
        for i, r in enumerate(both)
    ]
    more = [
        *cases("fresh", 2, "eager"),
        *cases("op0", 7, "eager")[5:],
        row("op1-float32-r0", "eager", against="claim:C01"),
    ]
    changes = found(both, [*both, *gpu, *more])
    rows = tables.rows(one_sided(changes, "appeared"))
    assert [(r["level"], r["records"], r["failing"], r["plans"]) for r in rows] == [
        ("plan", 200, 2, "gpu:0/eager gpu:0/xla"),
        ("spec", 2, 0, "cpu/eager"),
        ("cases", 2, 0, "cpu/eager"),
        ("comparisons", 1, 0, "cpu/eager"),
    ]
    back = one_sided(found([*both, *gpu, *more], both), "disappeared")
    assert back["level"].tolist() == ["plan", "spec", "cases", "comparisons"]


def test_what_appeared_and_fails_is_a_cause_of_its_own() -> None:
    changes = found([row()], [row(), *cases("log", 5, **BAD), *cases("exp", 5)])
    (cause,) = tables.rows(causes.causes(changes))
    assert (cause["change"], cause["was"], cause["now"], cause["specs"]) == ("appeared", "", "mismatch", {"log": 5})


def run(directory: Path, rows: Sequence[Record], **info: Any) -> Path:
    reports.write(directory, synthetic.write(directory, rows, **info))
    return directory


Runs = Callable[..., tuple[Path, Path]]
NEW_MACHINE = {"model": "family 25, model 17, stepping 1", "instructions": "AVX FMA AVX2 AVX512F AVX512_VNNI"}


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    def made(
        before: Sequence[Record], after: Sequence[Record], one: Any = None, other: Any = None
    ) -> tuple[Path, Path]:
        return run(tmp_path / "a", before, **(one or {})), run(tmp_path / "b", after, **(other or {}))

    return made


def test_the_first_question_is_answered_what_differs_between_the_runs(runs: Runs) -> None:
    a, b = runs(
        [row()], [row()], {"tf": "2.20.0", "flags": {"XLA_FLAGS": "--a"}},
        {"tf": "2.21.0", "cuda": "12.9", "devices": {"cpu": {"asked": True, "driver": "580"}}, "tier": "full"},
    )  # fmt: skip
    infos = run_environment.info(a), run_environment.info(b)
    told = run_environment.differences(*infos).set_index("what")
    assert told.loc["tensorflow"].tolist() == ["2.20.0", "2.21.0"]
    assert told.loc["flag XLA_FLAGS"].tolist() == ["--a", ""]
    assert told.loc["device cpu"].tolist() == ["requested", "requested, driver 580"]
    assert told.loc["device gpu:0"].tolist() == ["requested, device_name NVIDIA H100", ""]
    assert told.loc["tier"].tolist() == ["default", "full"]
    assert "numpy" not in told.index
    assert run_environment.alike(*infos)["numpy"] == "2.4.6"


def test_the_processor_and_onednn_are_among_the_circumstances_and_cuda_is_where_a_gpu_is(runs: Runs) -> None:
    """The first run is as runs were written before: no instruction sets, and the CUDA that TensorFlow was built for."""
    cpu = {"asked": True}
    a, b = runs(
        [row()], [row()],
        {"cuda": "12.5.1", "devices": {"cpu": cpu}, "machine": {"processor": "AMD EPYC"}, "versions": {"cudnn": "9"}},
        {"cuda": "", "devices": {"cpu": cpu | {"oneDNN": "on"}}, "machine": {"processor": "AMD EPYC", **NEW_MACHINE},
         "versions": {"cudnn": "", "built for cuda": "12.5.1", "built for cudnn": "9"}},
    )  # fmt: skip
    before, after = run_environment.info(a), run_environment.info(b)
    told = run_environment.differences(before, after).set_index("what")
    assert told.loc["device cpu"].tolist() == ["requested", "requested, oneDNN on"]
    assert told.loc["instructions"].tolist() == ["", NEW_MACHINE["instructions"]]
    assert told.loc["model"].tolist() == ["", NEW_MACHINE["model"]]
    assert not {"cuda", "cudnn", "built for cuda", "built for cudnn"} & set(told.index)
    assert run_environment.cuda(before) == run_environment.cuda(after) == "built for CUDA 12.5.1, no GPU here"
    gpu = replace(after, cuda="12.5.1", devices={"cpu": cpu, "gpu:0": cpu})
    assert run_environment.cuda(gpu) == "CUDA 12.5.1"
    assert (
        run_environment.cuda(replace(gpu, devices={"h100@2.21.0": {"asked": True, "device": "gpu:0"}})) == "CUDA 12.5.1"
    )
    records = reports.load(b)
    terminal = "\n".join(summary.terminal(records, after, []))
    for text in (run_page.html(records, after), terminal, markdown.summary(records, after, []).replace("\\", "")):
        assert "built for CUDA 12.5.1, no GPU here" in text
        assert "family 25, model 17" in text and "AVX512" in text
        assert "oneDNN on" in text


def test_an_op_that_is_executed_otherwise_or_elsewhere_is_told_though_no_verdict_changed(
    runs: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    one = [row(raw_op="Exp", ran_on="GPU:0"), row(mode="xla", raw_op="Mul;Exp"), row(mode="graph", raw_op="")]
    other = [
        row(raw_op="_FusedExp", ran_on="CPU:0"),
        row(mode="xla", raw_op="Exp;Mul"),
        row(mode="graph", raw_op="Exp"),
    ]
    a, b = runs(one, other)
    assert main(["diff", str(a), str(b), "--html", f"{b}/d.html", "--markdown", f"{b}/d.md"]) == 0
    out = capsys.readouterr().out
    assert "exp: executed ops Exp → _FusedExp, 1 record in 1 case on cpu/eager" in out
    assert "exp: ran on GPU:0 → CPU:0, 1 record in 1 case on cpu/eager" in out
    assert out.count("executed ops") == 1  # neither where a run does not tell, nor where the order alone is another
    assert "\\_FusedExp" in (b / "d.md").read_text() and "<td>_FusedExp</td>" in (b / "d.html").read_text()
    assert main(["diff", str(a), str(a)]) == 0
    assert "whatever the verdict" not in capsys.readouterr().out


def test_the_commits_of_the_suites_are_among_the_circumstances(runs: Runs) -> None:
    a, b = runs([row()], [row()], *({"versions": {"suite commit": c}} for c in ("1a2b3c4", "1a2b3c4 with changes")))
    infos = run_environment.info(a), run_environment.info(b)
    told = run_environment.differences(*infos).set_index("what")
    assert told.loc["suite commit"].tolist() == ["1a2b3c4", "1a2b3c4 with changes"]
    assert run_environment.alike(infos[0], infos[0])["suite commit"] == "1a2b3c4"


def test_a_reader_that_closes_the_pipe_changes_no_exit_status(runs: Runs) -> None:
    a, b = runs([row()], [row(**BAD)])
    read, write = os.pipe()
    os.close(read)  # as `head` does once it has seen enough
    command = [sys.executable, "-m", "harness", "diff", str(a), str(b)]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, cwd=ROOT, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


def test_the_status_is_0_unless_something_got_worse(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = runs([row()], [row(**BAD)])
    assert main(["diff", str(good), str(good)]) == 0
    assert "Nothing got worse." in capsys.readouterr().out
    assert main(["diff", str(good), str(bad)]) == 1
    out = capsys.readouterr().out
    assert "1 record got worse." in out
    assert "exp: value, match → mismatch: 1 record on cpu/eager" in out
    assert "rerun: pytest suites --case exp-float32-edges" in out
    assert main(["diff", str(bad), str(good)]) == 0


def test_a_failure_that_only_the_later_run_has_is_named_apart(
    runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = runs([row()], [row(), row("log-float32-edges", **BAD)])
    page = tmp_path / "diff.html"
    assert main(["diff", str(a), str(b), "--html", str(page)]) == 1
    assert "Nothing got worse. 1 record that only the later run has fails." in capsys.readouterr().out
    assert '<h1 class="partial">Nothing got worse.' in page.read_text()


def _no_run(path: Path) -> None:
    (path / "run.json").unlink()


def _torn_info(path: Path) -> None:
    (path / "run.json").write_text('{"run": "x"')


def _other_info(path: Path) -> None:
    (path / "run.json").write_text(json.dumps({"run": "x", "colour": "red"}))


def _odd_info(path: Path) -> None:
    (path / "run.json").write_text(json.dumps({"run": "x", "started": "", "arguments": 5}))


def _torn_records(path: Path) -> None:
    data = (path / "records.parquet").read_bytes()
    (path / "records.parquet").write_bytes(data[: len(data) // 2])


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (_no_run, "is not the directory of a run: it has no run.json"),
        (_torn_info, "run.json: expected JSON"),
        (_other_info, "run.json: Object missing required field started"),
        (_odd_info, "run.json: $.arguments: Expected array, got int"),
        (_torn_records, "records.parquet is damaged"),
    ],
)
def test_a_damaged_run_is_one_clear_line(
    damage: Callable[[Path], None], says: str, runs: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = runs([row()], [row()])
    damage(b)
    assert main(["diff", str(a), str(b)]) == 4
    told = capsys.readouterr()
    assert says in told.err
    assert str(b) in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""


@pytest.mark.parametrize("ulp", ["-1", "nan", "much"])
def test_a_threshold_that_is_no_distance_is_wrong_usage(
    ulp: str, runs: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = runs([row()], [row()])
    assert main(["diff", str(a), str(b), f"--ulp={ulp}"]) == 4
    expected = f"argument --ulp: expected a number of ULPs from 0 to 1e+18, got '{ulp}'"
    assert capsys.readouterr().err == f"python -m harness diff: error: {expected}\n"


def test_a_partial_run_is_compared_and_said_to_be_partial(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    lost = [{"case": "exp-float32-edges", "device": "cpu", "mode": "xla", "why": "killed"}]
    a, b = runs([row(), row(mode="xla")], [row()], other={"state": "interrupted", "planned": 2, "not_run": lost})
    assert main(["diff", str(a), str(b), "--html", f"{b}/d.html", "--markdown", f"{b}/d.md"]) == 1
    out = capsys.readouterr().out
    assert "PARTIAL RUN: it was interrupted; 1 of 2 planned cells have no result" in out
    assert "1 of them planned but without a result" in out
    assert "Partial run" in (b / "d.md").read_text()
    assert 'role="alert"' in (b / "d.html").read_text()


def test_the_terminal_gets_at_most_sixty_lines_whatever_changed(tmp_path: Path) -> None:
    kinds = ["value", "nan", "inf", "subnormal", "signed_zero", "shape", "dtype", "crash", "hang"]
    before, after = [], []
    for i, kind in enumerate(kinds):
        for mode in ("eager", "xla"):
            wrong = {"verdict": "mismatch", "kind": kind}
            before += [
                row(f"a{i}-f-x", mode),
                row(f"b{i}-f-x", mode, **wrong),
                row(f"c{i}-f-x", mode, verdict="known", kind=kind),
            ]
            after += [row(f"a{i}-f-x", mode, **wrong), row(f"b{i}-f-x", mode), row(f"c{i}-f-x", mode, **wrong)]
            before += [row(f"d{i}-f-x", mode), row(f"gone{i}-f-x", mode), row("g-f-x", device=f"old:{i}")]
            after += [
                row(f"d{i}-f-x", mode, max_ulp=2 + i),
                row(f"fresh{i}-f-x", mode),
                row("g-f-x", device=f"gpu:{i}"),
            ]
        before.append(row("claims-f-x", f"m{i}", against=f"claim:C{i}"))
        after.append(row("claims-f-x", f"m{i}", against=f"claim:C{i}", verdict="contract"))
    facts = {f"FLAG_{i}": str(i) for i in range(40)}
    a = run(tmp_path / "a", before, flags=facts)
    b = run(tmp_path / "b", after, state="interrupted", faults=["x" * 500])
    command = [sys.executable, "-m", "harness", "diff", str(a), str(b)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, env=dict(os.environ))
    lines = done.stdout.splitlines()
    assert done.returncode == 1, done.stderr
    assert 50 < len(lines) <= 60
    assert max(map(len, lines)) <= 210
    for heading in ("new (", "changed (", "fixed (", "drifted (", "verdicts on claims", "appeared:", "disappeared:"):
        assert any(line.startswith(heading) for line in lines)


def test_verdicts_on_claims_that_changed_are_told(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    before = [row("c-f-x", m, against="claim:C01") for m in ("eager", "xla")]
    after = [replace(before[0], verdict="contract"), before[1]]
    a, b = runs(before, after, {"tf": "2.20.0"}, {"tf": "2.21.0"})
    assert main(["diff", str(a), str(b)]) == 0
    assert "C01 confirmed → refuted on cpu/eager" in capsys.readouterr().out


def observed(directory: Path, arrays: dict[str, np.ndarray], rows: Sequence[Record]) -> Path:
    observation = {q: {"status": "value", "value": pack(a), "code": "", "message": ""} for q, a in arrays.items()}
    return run(directory, rows, observation=observation)


def compare(one: dict[str, np.ndarray], other: dict[str, np.ndarray], tmp_path: Path) -> pd.DataFrame:
    a, b = observed(tmp_path / "a", one, [row()]), observed(tmp_path / "b", other, [row()])
    return bits.compared(reports.load_observations(a), reports.load_observations(b)).set_index("quantity")


def test_bits_are_compared_exactly_and_nans_are_alike(tmp_path: Path) -> None:
    nan = np.array([0x7FC00000, 0x3F800000], np.uint32).view(np.float32)
    payload = np.array([0xFFC00001, 0x3F800000], np.uint32).view(np.float32)
    one = {
        "nan": nan, "ulp": np.float32([1, 2, 4]), "zero": np.float32([0.0]), "int": np.int32([1, 2]),
        "shape": np.zeros(3, np.float32), "complex": np.complex64([1 + 1j]), "inf": np.float32([1.0]),
        "text": np.array([b"a", b"b"], object),
    }  # fmt: skip
    other = one | {
        "nan": payload, "ulp": np.float32([1, 2.0000002, 4]), "zero": np.float32([-0.0]),
        "int": np.int32([1, 3]), "shape": np.zeros((3, 1), np.float32), "inf": np.float32([np.inf]),
        "complex": np.complex64([1 + 1.0000002j]), "text": np.array([b"a", b"cc"], object),
    }  # fmt: skip
    told = compare(one, other, tmp_path)
    assert told["numbers"].to_dict() == {q: "same" if q == "nan" else "differ" for q in one}
    assert told["differing"].to_dict() == dict.fromkeys(one, 1) | {"nan": 0, "shape": 0}
    assert told["what"].to_dict() == dict.fromkeys(one, "values") | {"nan": "", "shape": "form"}
    assert told["apart"].drop(["nan", "int", "shape", "text"]).round(2).to_dict() == {
        "ulp": 1.0, "zero": 0.0, "complex": 2.0, "inf": math.inf,
    }  # fmt: skip


def test_bits_tell_ours_from_theirs_and_what_no_verdict_tells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    value, other = np.float32([1.5, 2.5]), np.float32([1.5, 2.5000002])
    rows = [
        row(),
        row(max_abs=1e-6, quantity="grad[0]"),
        row(mode="xla"),
        row(mode="xla", max_abs=1e-6, quantity="grad[0]"),
    ]
    after = [replace(rows[0], **BAD), *rows[1:]]
    a = observed(tmp_path / "a", {"output[0]": value, "grad[0]": value}, rows)
    b = observed(tmp_path / "b", {"output[0]": value, "grad[0]": other}, after)
    assert main(["diff", str(a), str(b), "--bits"]) == 1
    out = capsys.readouterr().out
    assert "[the same bits from TensorFlow]" in out
    assert "exp float32: 2 of 4 elements, at most 1 ULP, in 1 case on cpu/eager cpu/xla" in out
    changes = with_numbers(
        diff(reports.load(a), reports.load(b)), bits.compared(*(reports.load_observations(r) for r in (a, b)))
    )
    assert dict(zip(changes["quantity"], changes["numbers"], strict=True)) == {"output[0]": "same", "grad[0]": "differ"}


@pytest.mark.parametrize(("moved", "anew"), [(0.5, True), (1e-7, False)])
def test_a_case_that_asks_something_else_under_its_seed_is_found_out(moved: float, anew: bool, tmp_path: Path) -> None:
    value = np.float32([1.5, 2.5])
    before = [row(max_abs=1e-6), row(against="cpu/xla"), row("log-float32-plain", quantity="grad[0]")]
    after = [replace(r, max_ulp=3.0) for r in before]
    a = observed(tmp_path / "a", {"output[0]": value}, before)
    b = observed(tmp_path / "b", {"output[0]": value + np.float32(moved)}, after)
    numbers = bits.compared(*(reports.load_observations(r) for r in (a, b)))
    changes = with_changed_inputs(diff(reports.load(a), reports.load(b)), numbers).set_index("spec")
    assert changes.loc["exp", "inputs_changed"].tolist() == [anew] * 2
    assert changes.loc["exp", "change"].tolist() == ["unchanged" if anew else "drifted"] * 2
    assert changes.loc["log", ["change", "inputs_changed"]].tolist() == ["drifted", False]


def test_a_failure_that_is_farther_off_by_the_same_bits_is_no_worse(tmp_path: Path) -> None:
    value = {"output[0]": np.float32([1.5, 2.5])}
    a = observed(tmp_path / "a", value, [row(**BAD, max_ulp=6.0)])
    b = observed(tmp_path / "b", value, [row(**BAD, max_ulp=60.0)])
    assert main(["diff", str(a), str(b)]) == 1
    assert main(["diff", str(a), str(b), "--bits"]) == 0


def test_bits_without_observations_are_wrong_usage(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = runs([row()], [row()])
    for path in (*(b / "shards").iterdir(), b / "observations.parquet"):
        path.unlink()
    (b / "shards").rmdir()
    assert main(["diff", str(a), str(b), "--bits"]) == 4
    assert "has no observations.parquet" in capsys.readouterr().err


def hostile(tmp_path: Path) -> changelog.Changelog:
    before, after = [], []
    for i, text in enumerate(HOSTILE):
        clean = text.encode("utf-8", "replace").decode()
        texts = dict.fromkeys(
            ("spec", "device", "mode", "quantity", "recipe", "dtype", "suite", "rerun", "detail"), clean
        )
        texts |= dict.fromkeys(("reason", "link", "got", "want", "input", "worst_index"), clean)
        before += [row(**texts | {"case": f"{clean}{i}{j}", "against": f"claim:{clean}"}) for j in range(3)]
        after += [replace(before[-3], **BAD), replace(before[-2], max_ulp=3.5), replace(before[-1], case=f"{clean}new")]
    clean = [text.encode("utf-8", "replace").decode() for text in HOSTILE]
    facts = dict.fromkeys(clean, clean[0])
    info = {"flags": facts, "versions": facts, "host": clean[1], "tf": clean[0], "faults": clean, "state": clean[1]}
    a, b = run(tmp_path / "a", before, run=clean[0]), run(tmp_path / "b", after, run=clean[1], **info)
    one, other = reports.load(a), reports.load(b)
    told = pd.DataFrame([{"claim": clean[0], "was": clean[1], "now": clean[2], "plans": clean[3]}])
    moved = {"what": "values", "erratic": False, "cases": 1, "differing": 1, "size": 2, "apart": 1.0}
    texts = dict.fromkeys(("spec", "dtype", "plans", "quantities", "worst"), clean[1])
    infos = run_environment.info(a), run_environment.info(b)
    return changelog.changelog(diff(one, other), one, other, infos, claims=told, numbers=pd.DataFrame([moved | texts]))


def test_hostile_texts_stay_texts_in_every_output(tmp_path: Path) -> None:
    log = hostile(tmp_path)
    path = tmp_path / "d.html"
    path.write_text(changelog_page.html(log))
    page = Page(path)
    assert page.scripts == []
    assert not {tag for tag, _ in page.elements} & {"script", "img", "svg", "iframe"}
    assert not {name for _, attributes in page.elements for name in attributes if name.startswith("on")}
    assert all((a.get("href") or "#").startswith("#") for _, a in page.elements)
    text = changelog_page.markdown(log)
    outside = [part for line in text.splitlines() for part in line.split("`")[::2]]
    assert not any("<" in part for part in outside if "onmouseover" not in part)
    assert all(c.isprintable() or c == "\n" for c in text)
    assert all(line.isprintable() for line in changelog_page.text(log))


@pytest.mark.browser
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_reads_in_a_browser_wide_and_narrow(browser: Browser, tmp_path: Path, dark: bool) -> None:
    before = [*cases("exp", 3), *cases("log", 3, "graph"), row("gone-float32-plain")]
    after = [replace(r, **BAD, max_ulp=9.0, detail="D" * 400) for r in before[:3]]
    after += [replace(r, max_ulp=3.0) for r in before[3:6]]
    a, b = run(tmp_path / "a", before, tf="2.20.0"), run(tmp_path / "b", after, arguments=["x" * 300])
    path = tmp_path / "diff.html"
    assert main(["diff", str(a), str(b), "--html", str(path)]) == 1
    browser.look(dark=dark)
    browser.call("Page.navigate", url=path.resolve().as_uri())
    browser.until("document.readyState === 'complete' && !!document.querySelector('footer')")
    text = browser.js("document.body.innerText")
    for part in ("3 records got worse.", "2.20.0", "exp", "drifted", "0.5 → 3 ULP of 4 allowed", "Disappeared"):
        assert part in text
    assert browser.js("document.documentElement.scrollWidth <= innerWidth")
    browser.look(width=390, height=800, dark=dark)
    assert browser.js("document.documentElement.scrollWidth <= innerWidth")
    assert browser.said == []
    assert {url for url in browser.asked if not url.startswith("about:")} == {path.resolve().as_uri()}
