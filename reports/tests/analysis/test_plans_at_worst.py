"""Tests of beside: what every plan gave where one is off."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tf_opdiff import reports
from tf_opdiff.harness.device.observation import pack
from tf_opdiff.reports.analysis.ops import plans_at_worst
from tf_opdiff.reports.data.run_data.load import load_observations
from tf_opdiff.reports.tests.planted import synthetic

ROW = replace(
    synthetic.records([("rounding", "floor")], ["cpu"], ["edges"])[0],
    verdict="mismatch",
    kind="value",
    worst_index="[1]",
)
ARRAY = np.array([1.0, -0.0, 3.0], np.float32)


def observed(directory: Path, row: Any, result: dict[str, Any]) -> plans_at_worst.ValuesByPlan:
    """What is told of a run of this record, whose plan gave this."""
    other = replace(row, mode="xla", verdict="match", kind="", worst_index="", got="", want="")
    synthetic.write(directory, [row, other], observation={row.quantity: result})
    return plans_at_worst.values(reports.load(directory), load_observations(directory))


def test_a_plan_that_matches_tells_what_it_gave_where_another_is_off(tmp_path: Path) -> None:
    found = observed(tmp_path, ROW, {"status": "value", "value": pack(ARRAY), "code": "", "message": ""})
    assert found == {ROW.case: {ROW.quantity: {"[1]": {"cpu/eager": "-0.0", "cpu/xla": "-0.0"}}}}


def test_what_came_instead_of_a_value_is_told(tmp_path: Path) -> None:
    found = observed(tmp_path, ROW, {"status": "error", "value": None, "code": "ABORTED", "message": "no"})
    assert found[ROW.case][ROW.quantity]["[1]"]["cpu/xla"] == "error ABORTED"


def test_a_difference_that_is_nowhere_in_particular_tells_dtypes_and_shapes(tmp_path: Path) -> None:
    row = replace(ROW, kind="status", worst_index="")
    found = observed(tmp_path, row, {"status": "value", "value": pack(ARRAY), "code": "", "message": ""})
    assert found[ROW.case][ROW.quantity][""]["cpu/xla"] == "value float32[3]"


def test_an_element_that_a_plan_does_not_have_is_left_out(tmp_path: Path) -> None:
    for i, index in enumerate(("[3]", "[0, 1]", "[__import__]")):
        row = replace(ROW, worst_index=index)
        result = {"status": "value", "value": pack(ARRAY), "code": "", "message": ""}
        found = observed(tmp_path / str(i), row, result)
        assert "-0.0" not in json.dumps(found) and "1.0" not in json.dumps(found)


def test_the_page_holds_it(tmp_path: Path) -> None:
    value = {"status": "value", "value": pack(ARRAY), "code": "", "message": ""}
    reports.write(tmp_path, synthetic.write(tmp_path, [ROW], observation={ROW.quantity: value}))
    text = (tmp_path / "index.html").read_text().partition('id="data">')[2].partition("</script>")[0]
    data = json.loads(gzip.decompress(base64.b64decode(text)))
    assert data["beside"] == {ROW.case: {ROW.quantity: {"[1]": {"cpu/eager": "-0.0"}}}}
