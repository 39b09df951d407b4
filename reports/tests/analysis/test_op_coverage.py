"""Tests of the coverage of raw ops: what counts, what is missing, and the verb that prints it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tf_opdiff.command_line import main
from tf_opdiff.harness.spec.catalog import Catalog, Item
from tf_opdiff.harness.spec.lists.options import Options
from tf_opdiff.harness.spec.lists.raw_ops import RawOp, RawOps
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.reports.analysis.ops.coverage_lines import line
from tf_opdiff.reports.analysis.ops.covered_ops import coverages, totals
from tf_opdiff.reports.analysis.ops.op_coverage import STATES, OpCoverage
from tf_opdiff.reports.data.figures.tested_inputs import kinds_of_shapes, of_inputs, outputs_of
from tf_opdiff.reports.data.run_data.load import load_observations
from tf_opdiff.reports.pages.run_pages.coverage_page import place_of
from tf_opdiff.reports.tests.planted import synthetic

KERNELS = {"CPU": ("float32", "int32", "int8"), "GPU": ("float32", "int32")}
FLOOR = RawOp(
    name="Floor", family="rounding", devices=("CPU", "GPU"), dtypes={"T": KERNELS, "Tidx": KERNELS},
    gradient="function", operands=("x",), attributes={"axis": "int", "exact": [False, True]}, onednn=False,
    shapes=("empty", "odd"),
)  # fmt: skip
RAW_OPS = RawOps(
    "2.21.0",
    {
        "Floor": FLOOR,
        "Ceil": replace(FLOOR, name="Ceil"),
        "Sleep": replace(FLOOR, name="Sleep", family="datasets", excluded="It waits."),
    },
    {"rounding": "Rounding", "datasets": "Datasets"},
)
#: The options that the spec shows, and one that is left out.
OPTIONS = Options(
    {"Floor": {"exact": {"True": ["floor"]}, "Tidx": {"int32": ["other", "floor"], "float32": ["floor"]}}},
    {"Floor": {"exact": {"False": "It is not exact."}}},
)
SPEC = Spec(
    name="floor",
    ops="Floor",
    program=lambda tf, x, i, exact: tf.floor(x),
    reference=lambda x, i, exact: np.floor(x),
    vjp=lambda g, x, i, exact: (0 * g, None),
    recipes={"none": lambda draw, d: (np.zeros((0, 2), d), np.zeros(2, "int32")),
             "odd": lambda draw, d: (np.zeros(3, d), np.zeros(3, "int32"))},
    attrs={"exact": {"exact": True}},
    dtypes=("float32", "int32"),
)  # fmt: skip
CATALOG = Catalog(tuple(Item("suites.rounding", SPEC, dtype) for dtype in SPEC.dtypes))
ROW = replace(
    synthetic.records([("s", "floor")], ["cpu"], ["edges"])[0],
    against="numpy", verdict="match", kind="", raw_op="Floor;Ceil", attrs="exact",
)  # fmt: skip
#: Records that show everything: two dtypes in two modes, with a gradient of the float one.
WHOLE = [
    replace(ROW, case=f"floor-{dtype}-exact-{recipe}", recipe=recipe, dtype=dtype, mode=mode, quantity=quantity)
    for recipe in ("none", "odd")
    for mode in ("eager", "xla")
    for dtype, quantity in (("float32", "output[0]"), ("float32", "grad[0]"), ("int32", "output[0]"))
]


def covered(
    rows: list[Record],
    raw_ops: RawOps = RAW_OPS,
    catalog: Catalog = CATALOG,
    options: Options = OPTIONS,
    **outputs: Any,
) -> dict[str, OpCoverage]:
    listed = coverages(raw_ops, pd.DataFrame([vars(row) for row in rows]), catalog, outputs, options)
    return {coverage.op.name: coverage for coverage in listed}


def test_an_op_with_everything_is_covered_and_says_by_what() -> None:
    by_op = covered(WHOLE)
    assert {name: coverage.state for name, coverage in by_op.items()} == {
        "Floor": "covered", "Ceil": "inside", "Sleep": "excluded",
    }  # fmt: skip
    row = by_op["Floor"].row()
    assert (row["specs"], row["modes"], row["quantities"]) == (["floor"], ["eager", "xla"], ["output", "grad"])
    assert row["dtypes"] == {"T": ["float32", "int32"], "Tidx": ["int32"]}
    assert row["attributes"]["exact"] == {
        "values": ["False", "True"], "tested": ["True"], "left_out": {"False": "It is not exact."},
    }  # fmt: skip
    assert row["shapes"] == {"empty": True, "odd": True} and row["missing"] == []
    assert by_op["Ceil"].missing == ["a spec"] and by_op["Ceil"].inside == {"floor"}
    assert by_op["Sleep"].row()["missing"] == []


LACKING = {
    "a value in a second mode in addition to eager": lambda row: row.mode == "eager",
    "dtypes int32": lambda row: row.dtype != "int32",
    "the gradient": lambda row: row.quantity != "grad[0]",
    "the gradient in float32": lambda row: (row.mode, row.quantity) != ("xla", "grad[0]"),
    "shapes empty": lambda row: row.recipe != "none",
    "shapes odd": lambda row: row.recipe != "odd",
}


@pytest.mark.parametrize("missing", LACKING)
def test_what_is_missing_is_named(missing: str) -> None:
    coverage = covered([row for row in WHOLE if LACKING[missing](row)])["Floor"]
    assert coverage.state == "partly" and missing in coverage.missing


@pytest.mark.parametrize(
    "fields", [{"against": "cpu/eager"}, {"verdict": "unavailable"}, {"verdict": "error"}, {"spec": "gone"}]
)
def test_records_that_compared_nothing_with_a_reference_do_not_count(fields: dict[str, str]) -> None:
    assert covered([replace(row, **fields) for row in WHOLE])["Floor"].state == "untested"  # type: ignore[arg-type]


def test_an_op_that_the_executed_graph_lacked_does_not_count() -> None:
    assert covered([replace(row, raw_op="Ceil") for row in WHOLE])["Floor"].state == "untested"


def test_a_gradient_that_is_not_registered_is_not_missing() -> None:
    for gradient in ("none", "absent"):
        ops = replace(RAW_OPS, ops={"Floor": replace(FLOOR, gradient=gradient)})
        assert covered([row for row in WHOLE if row.quantity != "grad[0]"], ops)["Floor"].state == "covered"


def test_an_op_that_one_mode_runs_and_the_other_refuses_needs_a_gradient_in_one_mode() -> None:
    rows = [row for row in WHOLE if row.mode == "eager" or row.quantity != "grad[0]"]
    assert covered(rows)["Floor"].missing == ["the gradient in float32"]
    refused = [replace(row, ran_on="") if row.mode == "xla" else row for row in rows]
    assert covered(refused)["Floor"].missing == ["a value in a second mode in addition to eager"]


def test_a_gradient_without_a_kernel_in_the_other_mode_is_needed_in_one_mode() -> None:
    gradient = [row for row in WHOLE if row.quantity == "grad[0]"]
    rows = [row for row in WHOLE if row.mode == "xla" or row.quantity != "grad[0]"]
    assert covered(rows)["Floor"].missing == ["the gradient in float32"]
    lacking = [replace(row, verdict="unavailable") for row in gradient if row.mode == "eager"]
    assert covered([*rows, *lacking])["Floor"].state == "covered"
    third = replace(WHOLE[0], mode="graph")
    assert covered([*rows, *lacking, third])["Floor"].missing == ["the gradient in float32"]
    every = [replace(row, verdict="unavailable") for row in gradient]
    assert covered([*(row for row in WHOLE if row not in gradient), *every])["Floor"].missing == ["the gradient"]
    elsewhere = [replace(row, dtype="float16") for row in lacking]
    assert covered([*rows, *elsewhere])["Floor"].missing == ["the gradient in float32"]


def test_a_promised_error_is_no_second_mode() -> None:
    refusal: dict[str, Any] = {"ran_on": "", "raw_op": "", "verdict": "contract", "size": 0}
    rows = [row if row.mode == "eager" else replace(row, **refusal) for row in WHOLE]
    assert covered(rows)["Floor"].missing[0] == "a value in a second mode in addition to eager"
    failed = [replace(row, size=0) if row.mode == "xla" else row for row in WHOLE]
    assert covered(failed)["Floor"].missing[0] == "a value in a second mode in addition to eager"
    known = [replace(row, size=0, want="value float32[3]") if row.mode == "xla" else row for row in WHOLE]
    assert covered(known)["Floor"].state == "covered"  # TensorFlow breaks the promise of a value


def test_a_kernel_of_xla_needs_a_value_under_xla_in_each_dtype() -> None:
    kernels = {**KERNELS, "XLA": ("float32", "int32")}
    floor = replace(FLOOR, devices=("CPU", "GPU", "XLA"), dtypes={"T": kernels, "Tidx": kernels})
    ops = replace(RAW_OPS, ops={"Floor": floor})
    assert covered(WHOLE, ops)["Floor"].state == "covered"
    elsewhere = [replace(row, mode="graph") if (row.mode, row.dtype) == ("xla", "int32") else row for row in WHOLE]
    assert covered(elsewhere, ops)["Floor"].missing == ["XLA in int32"]


def test_what_no_spec_can_show_has_its_reason_and_stays_missing() -> None:
    floor = replace(FLOOR, gaps={"a value in a second mode": "Other modes refuse it.", "shapes": "None."})
    ops = replace(RAW_OPS, ops={"Floor": floor})
    coverage = covered([row for row in WHOLE if row.mode == "eager"], ops)["Floor"]
    lacks = "a value in a second mode in addition to eager"
    assert (coverage.state, coverage.explained) == ("partly", {lacks: "Other modes refuse it."})
    assert lacks in coverage.missing and f"{lacks} (Other modes refuse it.)" in line(coverage)


def test_each_operand_needs_a_gradient() -> None:
    ops = replace(RAW_OPS, ops={"Floor": replace(FLOOR, operands=("x", "y"))})
    assert covered(WHOLE, ops)["Floor"].missing == ["the gradient by 1 of 2 operands"]
    second = [replace(row, quantity="grad[1]") for row in WHOLE if row.quantity == "grad[0]"]
    assert covered([*WHOLE, *second], ops)["Floor"].state == "covered"


@pytest.mark.parametrize("dtype", ["S", "object"])
def test_the_dtypes_of_strings_are_one_of_the_registry(dtype: str) -> None:
    strings = {"CPU": ("float32", "bytes"), "GPU": ("float32", "bytes")}
    ops = replace(RAW_OPS, ops={"Floor": replace(FLOOR, dtypes={"T": strings})})
    assert covered(WHOLE, ops)["Floor"].missing == ["dtypes bytes"]
    rows = [replace(row, dtype=dtype) if row.dtype == "int32" else row for row in WHOLE]
    assert covered(rows, ops)["Floor"].state == "covered"


INTS = {"CPU": ("int32", "int64"), "GPU": ("int32", "int64")}


@pytest.mark.parametrize(
    ("dtypes", "missing"),
    [
        (
            {"Tcomplex": {"CPU": ("complex64",), "GPU": ("complex64",)}, "Treal": KERNELS},
            ["options Tcomplex=complex64"],
        ),
        ({"Tidx": {"CPU": ("uint8",), "GPU": ("uint8",)}, "T": KERNELS}, ["options Tidx=uint8"]),
        ({"Tidx": {"CPU": ("int64",), "GPU": ("int64",)}}, ["dtypes int64"]),
    ],
)
def test_dtypes_of_an_attribute_that_is_not_about_the_data_are_options(
    dtypes: dict[str, Any], missing: list[str]
) -> None:
    ops = replace(RAW_OPS, ops={"Floor": replace(FLOOR, dtypes=dtypes)})
    assert covered(WHOLE, ops)["Floor"].missing == missing


def test_an_op_whose_one_attribute_is_about_another_input_needs_each_of_its_dtypes_there() -> None:
    rows = [replace(row, dtype="float32") for row in WHOLE if row.dtype == "float32"]
    ops = replace(RAW_OPS, ops={"Floor": replace(FLOOR, dtypes={"Tidx": INTS})})
    assert covered(rows, ops)["Floor"].missing == ["dtypes int64"]


def test_the_first_input_counts_if_its_dtype_is_not_that_of_the_case() -> None:
    seeds = {"seed": lambda draw, d: (np.zeros(3, "int64"),), "own": lambda draw, d: (np.zeros(3, d),)}
    spec = replace(SPEC, program=lambda tf, x: x, reference=lambda x: x, vjp=None, recipes=seeds, attrs={})
    assert [of_inputs(case).dtypes for case in spec.cases("float32")] == [{"int64"}, set()]


def test_shapes_of_outputs_count_and_are_not_broadcast() -> None:
    ops = replace(RAW_OPS, ops={"Floor": replace(FLOOR, shapes=("batch", "broadcast"))})
    assert covered(WHOLE, ops)["Floor"].missing == ["shapes batch broadcast"]
    outputs = {WHOLE[0].case: [("float32", (1, 3)), ("int8", (1, 1))]}
    coverage = covered(WHOLE, ops, **outputs)["Floor"]
    assert coverage.missing == ["shapes broadcast"] and "int8" in coverage.dtypes


def test_each_shape_is_told_apart() -> None:
    shapes = [(), (0, 2), (2, 4), (2, 3), (1, 4)]
    assert [kinds_of_shapes([shape]) for shape in shapes] == [{"one"}, {"empty"}, set(), {"odd"}, {"batch"}]
    assert "broadcast" in kinds_of_shapes([(2, 4), (4,)]) and "broadcast" not in kinds_of_shapes([(2, 4), (3,)])
    assert "broadcast" not in kinds_of_shapes([(0, 4), (4,)]) and "broadcast" not in kinds_of_shapes([(4,), (4,)])


def test_every_op_is_counted_once_in_its_family() -> None:
    table = totals(RAW_OPS, list(covered(WHOLE).values()))
    assert table.to_dict("records") == [
        {"family": "Rounding", "ops": 2, "covered": 1, "partly": 0, "inside": 1, "untested": 0, "excluded": 0},
        {"family": "Datasets", "ops": 1, "covered": 0, "partly": 0, "inside": 0, "untested": 0, "excluded": 1},
        {"family": "all", "ops": 3, "covered": 1, "partly": 0, "inside": 1, "untested": 0, "excluded": 1},
    ]


def test_outputs_are_read_from_observations(run: Path) -> None:
    outputs = outputs_of(load_observations(run))
    assert outputs["floor-float32-edges"] == [("float32", (67,))]


def test_the_verb_prints_totals_ops_and_json(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "coverage.html"
    assert main(["coverage", "--run", str(run), "--html", str(page)]) == 0
    assert "660 raw ops" in (out := capsys.readouterr().out) and all(f"\n{state}: " in out for state in STATES)
    assert page.read_text().count('<tr id="op-') == 660
    assert main(["coverage", "rounding", "Floor", "--run", str(run)]) == 4  # no family has this name
    assert "'rounding'" in capsys.readouterr().err
    assert main(["coverage", "Floor", "scans", "--run", str(run)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["Cumprod", "Cumsum", "CumulativeLogsumexp", "Floor"]
    assert lines[-1].startswith("Floor: partly; by floor; missing: dtypes ")
    assert main(["coverage", "--json", "--run", str(run), "--run", str(run)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert len(data["ops"]) == 660 and data["totals"][-1]["ops"] == 660


def test_a_run_that_does_not_exist_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coverage", "--run", str(tmp_path / "none")]) == 4
    assert "is not the directory of a run" in capsys.readouterr().err


def test_each_device_has_a_column() -> None:
    names = ["cpu", "cpu+noonednn", "arm64@2.21.0", "arm64", "gpu:0", "h200@2.21.0", "cpu@2.18.1", "tf218", "toy:0"]
    assert [place_of(name) for name in names] == ["CPU", "CPU", "arm64", "arm64", "GPU", "GPU", "CPU", "", ""]
