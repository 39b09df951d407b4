"""Tests of the pictures of errors: what they show, and that nothing planted stays out of sight."""

from __future__ import annotations

import math
import re
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tf_opdiff import reports
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.reports.analysis.ops.error_pictures import MOST, ErrorTables
from tf_opdiff.reports.data.figures.error_frames import BINS, PROFILE, STEPS, typed
from tf_opdiff.reports.data.figures.errors import ERRORS, HISTOGRAM
from tf_opdiff.reports.data.names.op_names import op_names
from tf_opdiff.reports.data.run_data import parquet
from tf_opdiff.reports.pages.op_pages import op_page
from tf_opdiff.reports.pages.op_pages.strip import Strip
from tf_opdiff.reports.tests.conftest import HOSTILE
from tf_opdiff.reports.tests.packed import whole
from tf_opdiff.reports.tests.planted import synthetic

COMMON = {"spec": "exp", "raw_op": "Exp", "dtype": "float32", "attrs": "", "device": "cpu", "mode": "eager"}
COMMON |= {"quantity": "output[0]", "budget": 4.0}


def row(exponent: int, ulp: float, sign: int = 1, **changes: Any) -> dict[str, Any]:
    """A bin of `Exp` with one element of a normal argument."""
    place = {"argument": "input[0]", "argument_class": "normal", "sign": sign, "exponent": exponent}
    return COMMON | place | {"elements": 1, "max_ulp": ulp, "wrong": 0, "mismatched": 0} | changes


def tables(bins: list[dict[str, Any]], counts: list[dict[str, Any]] | None = None) -> ErrorTables:
    """The profiles of such bins; by default the histogram has the distances of the bins."""
    if counts is None:
        counts = [step(b["max_ulp"], b["elements"], **{name: b[name] for name in PROFILE}) for b in bins]
    return ErrorTables(
        *(typed(pd.DataFrame(rows, columns=[*PROFILE, *more])) for rows, more in ((bins, BINS), (counts, STEPS)))
    )


def step(ulp: float, elements: int, **changes: Any) -> dict[str, Any]:
    """A bin of the histogram for a distance."""
    edge = ulp if math.isnan(ulp) or ulp in (0.0, math.inf) else max(0.5, 2.0 ** math.ceil(math.log2(ulp)))
    return COMMON | {"up_to": edge, "elements": elements} | changes


def picture(bins: list[dict[str, Any]]) -> Strip:
    """The one picture of some bins."""
    (errors,) = tables(bins).pictures(["exp"])
    return Strip(errors)


def columns(strip: Strip, name: str, i: int = 0) -> list[int]:
    """The slots of row `i` in which the path `name` is drawn."""
    groups = list(ET.fromstring(str(strip.svg)).iter("g"))
    paths = [p.get("d", "") for p in groups[i].iter("path") if p.get("class") == name]
    at, high, slots = 0, 0, []
    for letter, number in re.findall(r"([Mvh])(-?\d+)", paths[0] if paths else ""):
        if letter == "M":
            at, high = int(number), 0
        elif letter == "v":
            high -= int(number)
        elif int(number) > 0:
            slots += range(at, at + int(number)) if high > 0 or name in "nwa" else []
            at += int(number)
    return slots


@pytest.mark.parametrize("at", [-126, -40, -1, 0, 77, 127])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_planted_wrong_value_stands_in_the_slot_of_its_argument(at: int, sign: int) -> None:
    bins = [row(e, 1.0, s) for e in range(-126, 128) for s in (1, -1)]
    planted = [b | {"max_ulp": 900.0, "mismatched": 1} if (b["exponent"], b["sign"]) == (at, sign) else b for b in bins]
    strip = picture(planted)
    slots = strip.errors.slots
    (red,) = columns(strip, "o")
    assert slots[red].sign == sign and slots[red].exponent <= at < slots[red].exponent + slots[red].step
    assert columns(picture(bins), "o") == []
    assert "at most 900 ULP off, 4 allowed" in strip.label and "1 element off by more than allowed" in strip.label
    (line,) = [cells for name, cells in strip.table if "1 beyond the budget" in cells[0]]
    assert line == ["900, 1 beyond the budget"]


def test_a_value_of_a_wrong_class_is_marked_whether_it_is_allowed_or_not() -> None:
    allowed = picture([row(0, math.nan, wrong=1), row(1, 1.0)])
    wrong = picture([row(0, math.nan, wrong=1, mismatched=1), row(1, 1.0)])
    assert columns(allowed, "a") == [0] and columns(allowed, "w") == []
    assert columns(wrong, "w") == [0] and columns(wrong, "a") == []


def test_an_error_beyond_its_budget_ends_above_the_line_and_one_within_it_does_not() -> None:
    for budget in (0.5, 4.0, 1e6):
        strip = picture([row(0, budget, budget=budget), row(1, budget * 1.001, budget=budget, mismatched=1)])
        heights = [strip._height(ulp, budget) for ulp in (0.0, budget / 1e9, budget, budget * 1.001, math.inf)]
        assert heights == sorted(heights) and heights[0] == 0 and heights[1] == 1
        assert heights[2] < heights[3] <= heights[4]


def test_the_largest_distances_that_a_float_can_hold_have_a_height() -> None:
    ulps = (1.0, 1e300, sys.float_info.max / 2)
    strip = picture([row(i, ulp, budget=0.0, mismatched=1) for i, ulp in enumerate(ulps)])
    heights = [strip._height(ulp, 0.0) for ulp in (*ulps, math.inf)]
    assert heights == sorted(heights)
    assert strip.svg


def test_arguments_are_in_order_and_gaps_can_be_seen() -> None:
    bins = [row(-3, 1.0), row(3, 1.0), row(2, 1.0, -1), row(0, 0.0, argument_class="nan", sign=0)]
    bins += [row(0, 0.0, sign, argument_class=name) for sign in (1, -1) for name in ("zero", "inf")]
    strip = picture(bins)
    names = [(slot.sign, slot.name, slot.exponent) for slot in strip.errors.slots]
    numbers = range(-3, 4)
    assert names == [
        (-1, "inf", 0), *((-1, "number", e) for e in reversed(numbers)), (-1, "zero", 0),
        (1, "zero", 0), *((1, "number", e) for e in numbers), (1, "inf", 0), (0, "nan", 0),
    ]  # fmt: skip
    assert [names[i] for i in columns(strip, "b")] == [(-1, "number", 2), (1, "number", -3), (1, "number", 3)]
    assert len(columns(strip, "n")) == len(bins)


def test_a_wide_range_has_few_slots_and_loses_no_element() -> None:
    bins = [row(e, 1.0, s) for e in range(-1074, 1024) for s in (1, -1)]
    strip = picture(bins)
    assert len(strip.errors.slots) <= 2 * MOST and strip.elements == len(bins)
    assert sum(int(row.counts.sum()) for row in strip.errors.rows) == len(bins)


def test_plans_share_a_row_only_if_all_their_errors_agree() -> None:
    plans = [{"mode": "eager"}, {"mode": "function"}, {"mode": "xla"}, {"mode": "graph"}]
    bins = [row(e, 1.0, **plan) for e in range(4) for plan in plans]
    assert [r.plans for r in picture(bins).errors.rows] == [["cpu/eager", "cpu/function", "cpu/xla", "cpu/graph"]]
    bins[2] |= {"max_ulp": 1.5}
    assert [r.plans for r in picture(bins).errors.rows] == [["cpu/eager", "cpu/function", "cpu/graph"], ["cpu/xla"]]
    bins[2] |= {"max_ulp": 1.0, "budget": 9.0}
    assert len(picture(bins).errors.rows) == 2


def test_the_histogram_counts_each_element_once() -> None:
    strip = picture([row(0, 0.0), row(1, 0.3), row(2, 3.0), row(3, 900.0, mismatched=1), row(4, math.nan, wrong=1)])
    assert dict(strip.counts)["at most 0 ULP"] == dict(strip.counts)["at most 4 ULP"] == ["1"]
    assert dict(strip.counts)["class"] == ["1"] and dict(strip.counts)["at most 512 ULP"] == ["0"]
    assert sum(int(cells[0]) for _, cells in strip.counts) == 5


def test_the_picture_is_well_formed_whatever_the_names_hold() -> None:
    for text in HOSTILE[:-1]:
        strip = picture([row(0, 1.0, mode=text, argument=text)])
        for svg in (str(strip.svg), strip._repr_svg_()):
            assert {element.tag.rpartition("}")[2] for element in ET.fromstring(svg).iter()} <= {
                "svg", "g", "path", "text", "style",
            }  # fmt: skip
        assert "<script" not in strip._repr_html_() and "<img" not in strip._repr_html_()


def one_page(records: list[Record], folder: Path, errors: ErrorTables | None) -> str:
    info = synthetic.write(folder, records)
    reports.write(folder, info)
    frame = reports.load(folder)
    pages = op_page.pages(op_page.OpSources(records=frame, info=info, names=op_names(frame), errors=errors))
    return whole(pages["Exp.html"])


def test_a_page_has_the_pictures_of_its_dtypes_and_an_older_run_says_that_it_has_none(tmp_path: Path) -> None:
    (first, *_) = synthetic.records([("exponential", "exp")], ["cpu"], ["edges"])
    first = replace(first, raw_op="Exp", verdict="match", kind="", mismatched=0)
    errors = tables([row(0, 1.0), row(0, 0.0, quantity="grad[0]")])
    page = one_page([first], tmp_path, errors)
    assert page.count("<svg") == 1 and 'role="img"' in page and "Numbers</summary>" in page
    assert "Every compared element is exact: grad[0], float32, of exp (1 elements)" in page
    for nothing in (None, tables([])):
        page = one_page([first], tmp_path / str(bool(nothing is None)), nothing)
        assert "<svg" not in page and "This run did not record errors by input" in page


@pytest.fixture
def profiled(tmp_path: Path) -> Path:
    """A run whose `Exp` has errors in two dtypes, and a gradient."""
    (first, *_) = synthetic.records([("exponential", "exp")], ["cpu"], ["edges"])
    reports.write(tmp_path, synthetic.write(tmp_path, [first]))
    bins = [row(0, 1.0), row(1, 9.0, quantity="grad[0]", mismatched=1), row(2, 0.5, dtype="float64")]
    counts = [step(b["max_ulp"], 1, **{name: b[name] for name in PROFILE}) for b in bins]
    for name, rows, more in ((ERRORS, bins, BINS), (HISTOGRAM, counts, STEPS)):
        parquet.write(typed(pd.DataFrame(rows, columns=[*PROFILE, *more])), tmp_path / name)
    return tmp_path


def test_a_notebook_shows_the_pictures_of_an_op(profiled: Path) -> None:
    plot = reports.plot(profiled, op="Exp")
    assert [strip.title for strip in plot.strips] == [
        "output[0], float32, of exp", "grad[0], float32, of exp", "output[0], float64, of exp",
    ]  # fmt: skip
    assert plot._repr_html_().count("<svg") == 3 and "at most 9 ULP off, 4 allowed" in repr(plot)
    assert len(reports.plot(profiled, op="exp", dtype="float32").strips) == 2
    (only,) = reports.plot(str(profiled), op="exp", quantity="grad[0]").strips
    assert dict(only.counts)["at most 16 ULP"] == ["1"]


def test_a_plot_of_nothing_says_what_there_is(profiled: Path, tmp_path: Path, run: Path) -> None:
    with pytest.raises(LookupError, match="no op 'Expo'; there is Exp, exp"):
        reports.plot(profiled, op="Expo")
    with pytest.raises(LookupError, match="no dtype 'float16'; there is float32, float64"):
        reports.plot(profiled, op="Exp", dtype="float16")
    with pytest.raises(ValueError, match="expected a run that recorded errors by input"):
        reports.plot(run, op="Floor")
