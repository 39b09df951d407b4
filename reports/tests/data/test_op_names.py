"""Tests of op names: which page a spec stands on, and files that no name can misuse."""

from __future__ import annotations

import re
from dataclasses import asdict

import pandas as pd
import pytest

from tf_opdiff.harness.store.formats.json_text import encodable
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.reports.data.names.op_names import OpNames, op_names
from tf_opdiff.reports.tests.conftest import HOSTILE


def names_of(*places: tuple[str, str, str]) -> OpNames:
    """The pages of records with these suites, specs and ops."""
    rows = [asdict(Record(suite=suite, spec=spec, raw_op=op, against="numpy")) for suite, spec, op in places]
    return op_names(pd.DataFrame(rows))


def test_a_spec_stands_on_the_page_of_each_op_that_its_records_name() -> None:
    names = names_of(("cond", "cond", "Switch;Mul"), ("cond", "cond", ""), ("arithmetic", "mul", "Mul"))
    assert list(names.ops) == ["Mul", "Switch"] and not names.suites
    assert (names.ops["Mul"].own, names.ops["Mul"].shared) == (("mul",), ("cond",))
    assert (names.ops["Switch"].own, names.ops["Switch"].shared) == (("cond",), ())
    assert names.link("Mul") == "ops/Mul.html" and names.link("Floor") == ""
    assert names.by_spec() == {"mul": "ops/Mul.html", "cond": "ops/Switch.html"}


def test_a_spec_without_a_covered_op_stands_on_the_page_of_its_suite() -> None:
    names = names_of(("rounding", "floor-integer", ""), ("rounding", "floor", "Floor"))
    assert names.suites["rounding"].own == ("floor-integer",)
    assert names.by_spec() == {"floor-integer": "ops/suite-rounding.html", "floor": "ops/Floor.html"}


def test_the_programs_of_claims_are_never_what_an_op_is_about() -> None:
    claim = Record(suite="claims", spec="claim-c12", raw_op="Floor", against="claim:C12a")
    own = Record(suite="rounding", spec="floor", raw_op="Floor;Identity", against="numpy")
    names = op_names(pd.DataFrame([asdict(claim), asdict(own)]))
    assert (names.ops["Floor"].own, names.ops["Floor"].shared) == (("floor",), ("claim-c12",))


def test_files_differ_where_a_system_takes_upper_and_lower_case_for_the_same() -> None:
    names = names_of(("s", "a", "Select"), ("s", "b", "SELECT"), ("s", "c", "Floor"), ("select", "d", ""))
    files = [page.file for page in names.pages]
    assert len({file.lower() for file in files}) == 4 and "Floor.html" in files


@pytest.mark.parametrize(
    "name", [*HOSTILE, "..", "../../etc/passwd", "/", "con", "index", "a" * 300, "suite-x", "é", "A.B"]
)
def test_no_name_makes_an_unsafe_file(name: str) -> None:
    name = encodable(name)  # as reports.load gives it
    names = names_of(("s", "a", name), ("suite " + name, "b", ""), ("s", "c", "Index"), ("x", "d", ""))
    for page in names.pages:
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,80}\.html", page.file)
        assert page.file.lower() not in ("index.html", "con.html")
    assert len({page.file.lower() for page in names.pages}) == len(names.pages)
