"""The table of planted faults that known failures would hide."""

from dataclasses import replace

from tf_opdiff.reports.data.causes.hidden_faults import hidden
from tf_opdiff.reports.tests.data.test_table import frame
from tf_opdiff.reports.tests.planted import synthetic

ROW = replace(synthetic.records([("rounding", "ceil")], ["cpu"], ["edges"])[0], verdict="known", cause="far", planted=4)


def test_each_hidden_fault_has_a_row_with_its_place_and_cause():
    table = hidden(frame(replace(ROW, unseen="one element × 3;one element is 0"), replace(ROW, case="seen")))
    assert table["fault"].tolist() == ["one element × 3", "one element is 0"]
    assert set(table["cause"]) == {"far"} and set(table["case"]) == {ROW.case}


def test_a_run_without_hidden_faults_or_of_an_earlier_version_has_an_empty_table():
    records = frame(ROW)
    assert hidden(records).empty and hidden(records.drop(columns="unseen")).empty
    assert list(hidden(records).columns) == list(hidden(records.drop(columns="unseen")).columns)
