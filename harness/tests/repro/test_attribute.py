"""The verb `switches` finds the setting on which a planted discrepancy depends, and says where there is none."""

import csv
import io
import json
import shutil

import pytest

from tf_opdiff.command_line import main

SUITE = "tf_opdiff.harness.tests.planted_specs.planted_switches"
SWITCHES = {
    "log-of-exp/mismatch/inf": "nohlo=algsimp",
    "two-constants/mismatch/value": "norewriter=constant_folding",
    "another-program-when-traced/mismatch/value": "none",
    "refused-under-a-setting/mismatch/value": "",
}


@pytest.fixture(scope="module")
def run(run_pytest, tmp_path_factory):
    """The run of the planted specs, with its switches."""
    directory = tmp_path_factory.mktemp("switches") / "run"
    shutil.copytree(run_pytest("--repro=none", suites=SUITE).directory, directory)
    assert main(["switches", str(directory), "--suites", SUITE]) == 0
    return directory


def test_each_planted_discrepancy_depends_on_its_setting(run):
    attributions = {one["id"]: one for one in json.loads((run / "switches.json").read_text())}
    assert {name: one["switch"] for name, one in attributions.items()} == SWITCHES
    assert all(one["tried"][""] == "reproduced" for one in attributions.values())
    for one in attributions.values():
        assert one["switch"] in ("", "none") or one["tried"][one["switch"]] == "not reproduced"


def test_the_report_and_the_table_have_the_setting_of_each_discrepancy(run, capsys):
    page = (run / "index.html").read_text()
    assert "XLA&#39;s pass algsimp" in page
    assert "Grappler&#39;s rewriter constant_folding" in page
    assert main(["table", "discrepancies", str(run), "--format", "csv"]) == 0
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert {row["id"]: row["switch"] for row in rows} == SWITCHES


def test_the_answer_for_one_discrepancy_leaves_the_others(run):
    assert main(["switches", str(run), "--suites", SUITE, "--id", "two-constants/mismatch/value"]) == 0
    assert {one["id"]: one["switch"] for one in json.loads((run / "switches.json").read_text())} == SWITCHES


def test_an_unknown_discrepancy_is_refused(run, capsys):
    assert main(["switches", str(run), "--suites", SUITE, "--id", "nothing"]) == 4
    assert "no discrepancy 'nothing'" in capsys.readouterr().err
