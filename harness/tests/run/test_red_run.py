"""A red run says first what is wrong, where, and with which example: of a floor that is a ceiling below 0."""

import json
import os
from html.parser import HTMLParser

import pytest

WRONG = "floor gives wrong values everywhere: on all 4 plans, in all 4 dtypes."
EXAMPLE = "Example: input -0.5, got -0.0, want -1.0 (floor-"


@pytest.fixture(scope="module")
def red(shared_run):
    return shared_run(
        "--device",
        "cpu",
        "--no-sweep",
        "-n",
        "2",
        suites="tf_opdiff.harness.tests.planted_sweeps.planted_floor",
        env={"CI": "true"},
    )


class Body(HTMLParser):
    """The texts of a page's body in their order, without scripts, the menu, and the link that skips to the records."""

    def __init__(self, text):
        super().__init__()
        self.texts, self._within = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag in ("body", "nav", "script", "style") or ("class", "skip") in attrs:
            self._within.append(tag)

    def handle_endtag(self, tag):
        if self._within and self._within[-1] == tag:
            self._within.pop()

    def handle_data(self, data):
        if self._within == ["body"] and data.strip():
            self.texts.append(" ".join(data.split()))


def test_the_first_two_lines_of_the_page_say_what_is_wrong(red):
    first, second, *_ = Body((red.directory / "index.html").read_text()).texts
    assert first == WRONG
    assert second.startswith(EXAMPLE)


def test_the_summaries_begin_with_the_same_lines(red):
    lines = red.output.splitlines()
    at = lines.index(WRONG)
    assert lines[at - 1].strip("=") == " tf-opdiff " and lines[at + 1].startswith(EXAMPLE)
    markdown = (red.directory / "summary.md").read_text().replace("\\", "").splitlines()
    assert markdown[0] == f"**{WRONG}**" and markdown[2].startswith(EXAMPLE)


def test_finding_program_and_plot_have_one_example(red):
    (outcome,) = json.loads((red.directory / "repro.json").read_text())
    assert outcome["status"] == "reproduced"
    assert outcome["marked"]["simplest"][0] == -0.5
    assert "x = np.array([-0.5]" in (red.directory / outcome["script"]).read_text()
    assert "got  float32[1] array([-0.]" in outcome["output"]


def test_each_item_shows_its_simplest_record_and_folds_the_others(red):
    lines = red.output.splitlines()
    places = [number for number, line in enumerate(lines) if line.startswith("mismatch: ")]
    assert 4 <= len(places) <= 8  # an item for each dtype; sweeps have records of their own
    for place in places:
        first, others, rerun = lines[place : place + 3]
        assert "at [18]: input -0.5, got -0, want -1" in first.replace(".0", "") or "-sweep" in first
        assert " more records like it: on cpu/eager, " in others and "; in floor-" in others
        assert rerun.startswith("  rerun: pytest suites --case floor-")


def test_the_summary_tells_a_cause_in_one_block(red):
    lines = red.output.splitlines()
    (at,) = [number for number, line in enumerate(lines) if line.startswith("fail: ")]
    title, example, rerun, program, record = lines[at : at + 5]
    assert title.endswith(", on cpu/eager cpu/function cpu/xla cpu/graph")
    assert "input -0.5, got -0.0, want -1.0" in example
    assert rerun.startswith("    rerun: pytest suites --case floor-")
    (outcome,) = json.loads((red.directory / "repro.json").read_text())
    assert program == f"    program: {red.directory / outcome['script']}"
    assert record.startswith(f"    record: {red.directory / 'index.html'}#record=floor-")


def test_the_summary_of_pytest_has_one_line_for_each_item_also_in_ci(red):
    summary = red.output.partition("short test summary info")[2].strip(" =\n").splitlines()
    assert [line.partition(" ")[0] for line in summary[:-1]] == ["FAILED"] * (len(summary) - 1)
    assert len(summary) > 4


def test_a_program_is_run_also_where_the_output_of_pytest_goes_to_a_file(run_pytest, tmp_path):
    def into_a_file():
        os.dup2(os.open(tmp_path / "output", os.O_WRONLY | os.O_CREAT), 1)

    done = run_pytest(
        *("--case", "floor-float32-edges", "--mode", "eager", "--device", "cpu"),
        suites="tf_opdiff.harness.tests.planted_sweeps.planted_floor",
        before=into_a_file,
    )
    (outcome,) = json.loads((done.directory / "repro.json").read_text())
    assert (outcome["status"], outcome["output"].splitlines()[-1]) == ("reproduced", "[EXIT 1]")
