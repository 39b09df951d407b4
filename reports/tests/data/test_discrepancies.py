"""Discrepancies are ranked by what they cost a reader, and never by how many records a run has of them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tf_opdiff import reports
from tf_opdiff.command_line import main
from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.verdicts.severity import SEVERITIES
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.reports.data.causes.discrepancies import discrepancies, discrepancy_table
from tf_opdiff.reports.data.causes.discrepancy import Discrepancy
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.run_data.load import load_causes
from tf_opdiff.reports.tests.data.test_table import frame
from tf_opdiff.reports.tests.planted import synthetic

ROW = Record(
    suite="math", spec="floor", raw_op="Floor", case="floor-float32-edges", dtype="float32", device="cpu",
    mode="eager", against="numpy", quantity="output[0]", verdict="mismatch", kind="value", max_ulp=1e6, budget=1.0,
    size=67, mismatched=3, example="input 0.5, got 1.0, want 0.0",
)  # fmt: skip
CAUSE = Cause(
    id="rounds", owner="tensorflow", reason="it rounds twice", link="https://example.org", title="tf.floor rounds",
    severity="accuracy", severity_reason="One ULP is little.",
)  # fmt: skip


def known(of_cause: Cause = CAUSE, **fields: Any) -> Record:
    about = {"cause": of_cause.id, "owner": of_cause.owner, "reason": of_cause.reason, "severity": of_cause.severity}
    return replace(ROW, verdict="known", **about | fields)


def of(
    *rows: Record, causes: tuple[Cause, ...] = (CAUSE,), before: tuple[Record, ...] | None = None
) -> list[Discrepancy]:
    previous = None if before is None else frame(ROW, *before).iloc[1:]
    return discrepancies(frame(*rows), {cause.id: cause for cause in causes}, previous)


PLANTED = {
    "memory": replace(ROW, spec="crashes", case="crashes-1", kind="crash", severity="memory", max_ulp=math.nan),
    "wrong_value": replace(ROW, spec="wrong", case="wrong-1", severity="wrong_value"),
    "accuracy": replace(ROW, spec="inexact", case="inexact-1", severity="accuracy", max_ulp=9.0),
}


@pytest.mark.parametrize("most", list(PLANTED))
def test_severity_ranks_before_everything_whatever_has_most_records(most: str) -> None:
    rows = [*PLANTED.values(), known()]
    rows += [replace(PLANTED[most], case=f"{PLANTED[most].case}-{n}") for n in range(50)]
    ranked = of(*rows)
    assert [one.severity for one in ranked] == ["memory", "wrong_value", "accuracy", "accuracy"]
    assert [one.example["spec"] for one in ranked[:2]] == ["crashes", "wrong"]
    assert max(ranked, key=lambda one: one.records).severity == most


def test_reach_comes_before_distance_and_distance_before_the_name() -> None:
    near = [known(replace_cause("b-wide"), dtype=dtype, max_ulp=2.0) for dtype in ("float16", "float32")]
    far = [known(replace_cause("c-far"), max_ulp=900.0)] * 40
    rows = [*far, known(replace_cause("a-near"), max_ulp=3.0), known(replace_cause("d-unmeasured"), max_ulp=math.nan)]
    ids = [one.id for one in of(*rows, *near, causes=())]
    assert ids == ["b-wide", "c-far", "a-near", "d-unmeasured"]
    assert ids == [one.id for one in of(*near, *rows[::-1], causes=())]


PUBLIC = {"severity": "wrong_gradient", "function": "tf.maximum"}


def planted(name: str, fields: dict[str, str], **row: Any) -> tuple[Cause, Record]:
    """A cause with these fields, and a record of it; the other modes give the right value."""
    cause = msgspec.structs.replace(CAUSE, id=name, **PUBLIC | fields)
    return cause, known(cause, **{"case": f"case-{name}", "spec": name, "mode": "xla", "cause": name} | row)


#: Causes in the order in which the first screen has to show them, each with its record and the rule that decides.
IN_ORDER = [
    planted("memory-of-valid-arguments", {"severity": "memory"}, kind="crash"),
    planted("gradient", {}, quantity="grad[0]"),
    planted("lost-nan", {"severity": "special_value"}, kind="nan", got="1.0", want="nan", max_ulp=9.0),
    planted("value-of-float16", {"severity": "wrong_value"}, dtype="float16", max_ulp=8.0),
    planted("lost-error", {"severity": "error"}, kind="status", got="value float32[]", want="error X", max_ulp=7.0),
    planted("room-of-the-api", {"function": "tf.math.bessel_i1"}, max_ulp=9e9),
    planted("all-plans", {}, mode="eager", case="without-other-modes"),
    planted("rare-dtype", {}, dtype="complex64"),
    planted("raw-op", {"severity": "memory", "function": ""}, kind="crash"),
    planted("invalid-arguments", {"severity": "memory", "arguments": "invalid"}, kind="crash"),
    planted("invalid-wrong-value", {"severity": "wrong_value", "arguments": "invalid"}),
    planted("error-for-value", {"severity": "error"}, kind="status", got="error X", want="value float32[]"),
    planted("sign-of-zero", {"severity": "special_value"}, kind="signed_zero", got="-0.0", want="0.0", max_ulp=3.0),
    planted("nan-is-infinite", {"severity": "special_value"}, kind="nan", got="inf", want="nan", max_ulp=2.0),
    planted("digits", {"severity": "accuracy"}, max_ulp=2.0),
    planted("choice", {"severity": "convention"}, kind="error_code"),
]


@pytest.mark.parametrize("turned", [1, -1])
def test_known_discrepancies_are_ranked_by_what_they_do_to_a_correct_program(turned: int) -> None:
    causes, rows = zip(*IN_ORDER, strict=True)
    right = [replace(row, mode="eager", verdict="match", kind="") for row in rows if row.mode == "xla"]
    ranked = of(*[*rows, *right][::turned], causes=causes)
    assert [one.id for one in ranked] == [cause.id for cause in causes]
    failing = replace(ROW, spec="unexplained", case="unexplained", severity="accuracy", max_ulp=2.0)
    assert of(*rows, failing, *right, causes=causes)[0].id == "unexplained/mismatch/value"


def test_a_raw_op_is_told_only_where_causes_state_functions() -> None:
    (public, row), (raw, of_raw) = planted("public", {}), planted("raw", {"function": ""})
    assert {one.id: one.raw_op_only for one in of(row, of_raw, causes=(public, raw))} == {"public": False, "raw": True}
    assert [one.raw_op_only for one in of(of_raw, causes=(raw,))] == [False]  # a run of an earlier version


def test_reach_counts_specs_and_not_the_ops_of_their_graphs() -> None:
    (wide, row), (busy, other) = planted("a-busy", {}), planted("b-wide", {})
    row = replace(row, raw_op=";".join(f"Op{n}" for n in range(40)))
    ranked = of(row, other, replace(other, spec="another", case="another"), causes=(wide, busy))
    assert [(one.id, one.reach) for one in ranked] == [("b-wide", 2), ("a-busy", 1)]


@pytest.mark.parametrize(("severity", "far"), [("wrong_value", 1e6), ("wrong_gradient", math.nan), ("accuracy", 2.0)])
def test_the_record_that_represents_a_group_shows_its_severity(severity: str, far: float) -> None:
    """The simplest record alone would be told as a wrong value, and is a rounding; or the other way around."""
    cause = msgspec.structs.replace(CAUSE, severity=severity)
    simple = {"example": "input 1.0, got 0.9999999, want 1.0", "max_ulp": 1e6 if severity == "accuracy" else 1.0}
    row = known(cause, case="z", example="input 3.25, got 9.0, want 4.0", max_ulp=far)
    row = replace(row, kind="nan") if math.isnan(far) else row
    (one,) = of(known(cause, case="a", **simple), row, causes=(cause,))
    assert one.example["case"] == "z"
    first, other = (replace(r, verdict="mismatch", kind="value", cause="") for r in (known(), row))
    (one,) = of(replace(first, severity="convention"), replace(other, severity=severity))
    assert (one.severity, one.example["case"]) == (severity, "z")


def test_the_distance_of_a_discrepancy_is_that_of_elements_that_count() -> None:
    edge = known(max_ulp=8e6, distance="1.2 ULP, 1 allowed")
    (one,) = of(edge, known(case="b", max_ulp=300.0, distance="300 ULP, 1 allowed"))
    assert (one.distance, one.distance_words) == (300, "300 ULP, 1 allowed")
    (one,) = of(edge)
    assert (one.distance, one.distance_words) == (1.2, "1.2 ULP, 1 allowed")


def replace_cause(name: str) -> Cause:
    return msgspec.structs.replace(CAUSE, id=name, reason=f"the reason of {name}")


def test_a_record_with_several_causes_counts_for_each_of_them() -> None:
    zero = replace_cause("zero")
    both = {"cause": "rounds;zero", "kind": "value", "kinds": "signed_zero;value", "example": "input 1.0"}
    rows = [known(**both), known(zero, case="floor-float32-other", kind="signed_zero", kinds="signed_zero")]
    for causes in ((CAUSE, zero), ()):
        one, other = sorted(of(*rows, causes=causes), key=lambda one: one.id)
        assert (one.id, one.records, one.kinds, one.reason) == ("rounds", 1, ("value",), "it rounds twice")
        assert (other.id, other.records, other.kinds, other.reason) == (
            "zero", 2, ("signed_zero",), "the reason of zero",
        )  # fmt: skip
        assert (one.example["case"], other.example["case"]) == ("floor-float32-edges", "floor-float32-other")
    table = tables.known(frame(*rows)).set_index("cause")
    assert table[["known", "reason", "kinds"]].to_dict("index") == {
        "rounds": {"known": 1, "reason": "it rounds twice", "kinds": "value"},
        "zero": {"known": 2, "reason": "the reason of zero", "kinds": "signed_zero"},
    }
    assert tables.by_kind(frame(*rows)).set_index("kind")["records"].to_dict() == {"signed_zero": 2, "value": 1}
    assert [one.new for one in of(*rows, before=(known(**both),))] == [False, False]


def test_the_records_of_a_cause_are_one_discrepancy_with_its_words() -> None:
    rows = [known(), known(spec="ceil", raw_op="Ceil;Cast", mode="xla", dtype="float16", max_ulp=8.0, distance="8 ULP")]
    (one,) = of(*rows)
    assert (one.id, one.title, one.severity_reason) == ("rounds", "tf.floor rounds", "One ULP is little.")
    assert (one.specs, one.ops, one.plans) == (("ceil", "floor"), ("Cast", "Ceil", "Floor"), ("cpu/eager", "cpu/xla"))
    assert (one.dtypes, one.records, one.distance, one.link) == (("float16", "float32"), 2, 1e6, "https://example.org")
    assert one.example["case"] == ROW.case and one.reach == 2 * 2


@pytest.mark.parametrize(("severity", "quantity"), [("wrong_value", "output[0]"), ("wrong_gradient", "grad[0]")])
def test_the_example_is_of_an_output_unless_the_gradient_is_what_is_wrong(severity: str, quantity: str) -> None:
    of_severity = msgspec.structs.replace(CAUSE, severity=severity)
    rows = [known(of_severity, quantity=name, case=f"case-{name}") for name in ("grad[0]", "output[0]")]
    (one,) = of(*rows, causes=(of_severity,))
    assert one.example["quantity"] == quantity
    (alone,) = of(rows[0], causes=(of_severity,))
    assert alone.example["quantity"] == "grad[0]"


def test_a_run_without_causes_has_the_reason_and_the_rule() -> None:
    (one,) = of(known(severity=""), causes=())
    assert one.title == "floor: it rounds twice"
    assert (one.severity, one.severity_reason) == ("wrong_value", SEVERITIES["wrong_value"].rule)
    (older,) = of(known(severity="", cause="", max_ulp=2.0), known(severity="", cause="", max_ulp=1.0), causes=())
    assert (older.id, older.severity, older.records) == ("it rounds twice", "accuracy", 2)


def test_an_unexplained_failure_has_the_sentence_of_its_kind_and_the_rule() -> None:
    (one,) = of(replace(ROW, quantity="grad[0]", severity="wrong_gradient", owner="us", reason="not this"))
    assert one.title == "The gradient of floor gives wrong values"
    assert (one.severity_reason, one.owner, one.reason) == (SEVERITIES["wrong_gradient"].rule, "", "")
    faults = of(replace(ROW, verdict="error", kind="reference"), replace(ROW, verdict="stale", kind="", case="c"), ROW)
    assert [one.verdict for one in faults] == ["mismatch", "error", "stale"]
    assert [one.severity_title for one in faults[1:]] == ["fault of the suite", "no longer fails"]


PASSES = replace(ROW, mode="xla", verdict="match", kind="", max_ulp=0.0)


@pytest.mark.parametrize(
    ("others", "disagree"),
    [
        ([], False),
        ([replace(ROW, mode="xla")], False),
        ([PASSES], True),
        ([replace(PASSES, verdict="contract")], True),
        ([replace(PASSES, verdict="unavailable")], False),
        ([replace(PASSES, case="another")], False),
        ([replace(PASSES, quantity="grad[0]")], False),
        ([replace(PASSES, against="cpu/xla")], False),  # its own rerun says nothing about NumPy
        ([replace(ROW, mode="xla", against="cpu/eager")], True),
        ([replace(PASSES, against="claim:C1")], False),
    ],
)
def test_plans_disagree_where_one_passes_or_two_differ(others: list[Record], disagree: bool) -> None:
    (one,) = of(ROW, *others)
    assert one.disagree is disagree
    assert one.sides == ("plans disagree" if disagree else "TensorFlow against NumPy")


@pytest.mark.parametrize(
    ("row", "before", "new"),
    [
        (ROW, None, None),
        (ROW, (), True),
        (ROW, (ROW,), False),
        (ROW, (replace(ROW, verdict="match", kind=""),), True),
        (known(), (ROW,), False),  # it failed there before, and has a cause now
        (known(), (known(case="another"),), False),
        (known(), (known(replace_cause("another"), case="another"),), True),
        (replace(ROW, case="another"), (ROW,), True),
    ],
)
def test_a_discrepancy_is_new_if_the_previous_run_had_neither_its_cause_nor_its_place(
    row: Record, before: tuple[Record, ...] | None, new: bool | None
) -> None:
    (one,) = of(row, before=before)
    assert one.new is new


def test_the_table_of_a_run_states_the_causes_that_judged_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    synthetic.write(tmp_path, [known(), PLANTED["memory"]])
    (tmp_path / "causes.json").write_text(json.dumps([msgspec.to_builtins(CAUSE)]))
    assert main(["table", "discrepancies", str(tmp_path), "--format", "csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert '"crashes crashes"' in lines[1] and '"tf.floor rounds"' in lines[2] and len(lines) == 3
    table = discrepancy_table(reports.load(tmp_path), load_causes(tmp_path))
    assert table["severity"].tolist() == ["memory", "accuracy"] and table["values"].tolist()[1] == ROW.example


def test_ids_of_related_causes_can_be_written_as_text(tmp_path: Path) -> None:
    cause = {**msgspec.to_builtins(CAUSE), "see": ["\ud800"]}
    (tmp_path / "causes.json").write_text(json.dumps([cause]))
    assert [name.encode() for one in load_causes(tmp_path).values() for name in one.see] == [b"\\ud800"]


def test_a_severity_or_a_dtype_that_nobody_knows_comes_last_and_breaks_nothing() -> None:
    rows = [known(replace_cause("odd"), severity="dreadful", case="a"), replace(ROW, dtype="<b>", severity="")]
    assert [one.severity for one in of(*rows, causes=())] == ["wrong_value", "dreadful"]
