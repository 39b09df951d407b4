"""The page of overrides states what the records of its run show, and says where the run shows nothing."""

import html
import json
import re
from dataclasses import replace

import pytest

from tf_opdiff import reports
from tf_opdiff.harness.spec.lists.override_cell import APPLIED, IGNORED, INEXPRESSIBLE, OWN, REFUSED
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.reports.analysis.overrides.override_answers import answers
from tf_opdiff.reports.analysis.overrides.override_devices import KEPT, override_devices
from tf_opdiff.reports.analysis.overrides.override_matrix import (
    NOT_RUN,
    STATES,
    UNAVAILABLE,
    UNEXPECTED,
    Cell,
    override_matrices,
)
from tf_opdiff.reports.data.run_data.load import load_overrides
from tf_opdiff.reports.tests.planted import planted_overrides as planted
from tf_opdiff.reports.tests.planted import synthetic
from tf_opdiff.reports.text.bounded import MOST


def written(folder, records):
    """A run directory with these records, the planted overrides and its report."""
    info = synthetic.write(folder, records)
    (folder / "overrides.json").write_text(json.dumps(planted.overrides()))
    reports.write(folder, info)
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return written(tmp_path_factory.mktemp("overrides"), planted.records())


@pytest.fixture(scope="module")
def matrix(run):
    (matrix,) = override_matrices(reports.load(run), planted.overrides())
    return matrix


def states(matrix, mechanism, place, op="floor"):
    return [matrix.cell(op, mechanism, place, mode).state for mode in MODES]


def test_each_cell_has_the_state_that_its_records_show(matrix):
    assert states(matrix, "none", "plain") == [OWN] * 4
    assert states(matrix, "map", "plain") == [IGNORED, IGNORED, REFUSED, APPLIED]
    assert states(matrix, "custom", "plain") == [UNEXPECTED, UNAVAILABLE, NOT_RUN, APPLIED]
    assert states(matrix, "C++", "plain") == [INEXPRESSIBLE] * 4
    assert matrix.cell("floor", "C++", "plain", "eager").why == "no such op"
    assert {cell.state for *_, cell in matrix.each()} == set(STATES)


def test_a_fitted_model_has_its_own_column(matrix):
    assert states(matrix, "map", "fitted")[1] == APPLIED
    assert matrix.cell("floor", "map", "fitted", "function").record[2] == "eager"
    assert states(matrix, "map", "fitted")[3] == INEXPRESSIBLE


def test_an_expected_state_without_a_record_is_not_stated(tmp_path):
    records = [replace(r, spec="other") for r in planted.records()]
    assert override_matrices(reports.load(_stored(tmp_path, records)), planted.overrides()) == ()


def test_other_devices_have_no_matrix(tmp_path):
    records = [replace(r, device="gpu:0") for r in planted.records()]
    assert override_matrices(reports.load(_stored(tmp_path, records)), planted.overrides()) == ()


def on_gpu(name="gpu:0", **verdicts):
    """The planted records, and those of a GPU: spec → its verdict in every mode of the CPU's records."""
    own = [r for r in planted.records() if r.spec.replace("-", "_") in verdicts]
    return planted.records() + [replace(r, device=name, verdict=verdicts[r.spec.replace("-", "_")]) for r in own]


def test_the_page_says_which_cells_ran_on_a_gpu_and_which_did_not(tmp_path):
    records = on_gpu(floor_none="match", floor_map="unavailable", floor_custom="mismatch")
    (device,) = override_devices(reports.load(_stored(tmp_path, records)), planted.overrides())
    assert device.device == "gpu:0"
    assert device.counts["none"] == {KEPT: 4}
    assert device.counts["map"] == {UNAVAILABLE: 4, NOT_RUN: 1}
    assert device.counts["custom"] == {UNEXPECTED: 3, NOT_RUN: 1}
    assert device.ran == 7
    assert device.absent == {
        UNAVAILABLE: ("map: every op",),
        NOT_RUN: ("plain: every op, in xla", "fitted: every op"),
    }
    page = (written(tmp_path / "page", records) / "overrides.html").read_text()
    assert "7 of 13 cells with a program ran here." in page
    assert "<li>plain: every op, in xla</li>" in page
    assert "This run had no GPU" not in page


def test_a_device_on_which_no_override_ran_is_named(tmp_path):
    others = [replace(r, spec="other", device="gpu:0") for r in planted.records()[:2]]
    (device,) = override_devices(reports.load(_stored(tmp_path, planted.records() + others)), planted.overrides())
    assert (device.device, device.ran) == ("gpu:0", 0)
    assert device.absent[NOT_RUN] == ("plain: every op", "fitted: every op")


def test_without_a_gpu_the_page_says_that_no_cell_ran_on_one(run):
    page = (run / "overrides.html").read_text()
    assert "This run had no GPU and no other accelerator: none of the 13 cells with a program ran on one." in page


def test_other_cpus_are_no_accelerators(tmp_path):
    records = [*planted.records(), *(replace(r, device="cpu@2.18.1") for r in planted.records())]
    assert override_devices(reports.load(_stored(tmp_path, records)), planted.overrides()) == ()


def test_a_record_that_fails_is_never_shown_as_its_expected_state(tmp_path):
    red = [replace(r, verdict="mismatch") if r.quantity == "grad[0]" else r for r in planted.records()]
    (matrix,) = override_matrices(reports.load(_stored(tmp_path, red)), planted.overrides())
    tested = {cell.state for *_, cell in matrix.each()} - {INEXPRESSIBLE, NOT_RUN}
    assert tested == {UNEXPECTED}
    assert all(cell.record[3] == "grad[0]" for *_, cell in matrix.each() if cell.state == UNEXPECTED)


def _stored(folder, records):
    synthetic.write(folder, records)
    return folder


def test_the_answers_count_and_rank_the_mechanisms(matrix):
    by_mode = answers(matrix)
    assert next(iter(by_mode)) == "xla"
    assert [(a.mechanism, a.word) for a in by_mode["graph"]][:2] == [
        ("map", "works"),
        ("custom", "works"),
    ]
    (of_map,) = (a for a in by_mode["xla"] if a.mechanism == "map")
    assert (of_map.word, of_map.counts) == ("does not work", "applied in 0 of 1 cells; refused in 1")
    assert of_map.where == ("refused everywhere: floor-map is refused <b>",)
    (custom,) = (a for a in by_mode["xla"] if a.mechanism == "custom")
    assert (custom.word, custom.counts) == ("not run", "1 did not run")
    fails = dict.fromkeys(MODES, Cell(REFUSED, "the op itself"))
    cells = {**matrix.overrides["floor", "none"].cells, "plain": fails}
    barred = {**matrix.overrides, ("floor", "none"): replace(matrix.overrides["floor", "none"], cells=cells)}
    (of_map,) = (a for a in answers(replace(matrix, overrides=barred))["xla"] if a.mechanism == "map")
    assert (of_map.word, of_map.counts) == ("not run", "in 1 more the op fails without an override, too")


def test_an_op_that_fails_elsewhere_for_the_same_reason_says_nothing_about_a_mechanism(matrix):
    """XLA has no kernel of PyFunc; Keras refuses a weight without a gradient before XLA says so."""

    def of_map(why):
        cells = {**matrix.overrides["floor", "none"].cells, "fitted": dict.fromkeys(MODES, Cell(REFUSED, why))}
        barred = {**matrix.overrides, ("floor", "none"): replace(matrix.overrides["floor", "none"], cells=cells)}
        return next(a for a in answers(replace(matrix, overrides=barred))["xla"] if a.mechanism == "map").counts

    assert of_map("floor-map is refused <b>") == "in 1 more the op fails without an override, too"
    assert of_map("another reason") == "applied in 0 of 1 cells; refused in 1"


def test_the_page_has_every_cell_and_a_link_to_its_program_and_its_record(run, matrix):
    page = (run / "overrides.html").read_text()
    cells = re.findall(r'<td class="o-[\w-]+(?: first)?"><a href="#([^"]+)"', page)
    assert len(cells) == sum(matrix.counts.values())
    assert {f'id="{anchor}"' in page for anchor in cells} == {True}
    assert "index.html#record=floor-map-float32-v%7Ccpu%7Cxla%7Cgrad%5B0%5D%7Cnumpy" in page
    assert "is refused &lt;b&gt;" in page and "<b>." not in page
    assert "it stands in the same function as the op" in page, "elsewhere a tape does see a map"
    for state in STATES:
        assert f'<span class="offscreen">{state}</span>' in page
    assert "<script" not in page


def test_the_page_shows_programs_and_files_whole(tmp_path):
    long = "".join(f"print('<{i}>')\n" for i in range(MOST))
    told = [override | {"program": long, "files": {"op.cc": long}} for override in planted.overrides()]
    info = synthetic.write(tmp_path, planted.records())
    (tmp_path / "overrides.json").write_text(json.dumps(told))
    reports.write(tmp_path, info)
    assert html.unescape((tmp_path / "overrides.html").read_text()).count(long) == 2 * len(told)


def test_a_place_without_a_record_is_named_and_has_no_table(run, tmp_path):
    assert "<summary>Fitted</summary>" in (run / "overrides.html").read_text()
    records = [record for record in planted.records() if record.spec != "floor-map-fitted"]
    page = (written(tmp_path, records) / "overrides.html").read_text()
    assert "This run tested nothing in these places: fitted." in page
    assert "<summary>Fitted</summary>" not in page and '<th scope="row">fitted</th>' not in page


def test_an_unknown_state_is_refused(tmp_path):
    (override, *_) = planted.overrides()
    override["cells"][0]["expected"]["eager"]["state"] = "<b>"
    (tmp_path / "overrides.json").write_text(json.dumps([override]))
    with pytest.raises(ValueError, match=r"overrides\.json"):
        load_overrides(tmp_path)


def test_the_index_links_the_page_where_there_is_one(run, tmp_path):
    assert 'href="overrides.html"' in (run / "index.html").read_text()
    folder = tmp_path / "without"
    info = synthetic.write(folder, planted.records())
    reports.write(folder, info)
    assert not (folder / "overrides.html").exists()
    assert 'href="overrides.html"' not in (folder / "index.html").read_text()


def test_a_run_writes_what_the_page_needs(run_pytest):
    """A real run of two specs: the map on floor, and floor itself."""
    names = ("matrix-floor-map-plain", "matrix-floor-none-plain")
    options = [word for name in names for word in ("--op", name)]
    suites = "tf_opdiff.suites.programs.override_matrix"
    outcome = run_pytest("--device", "cpu", "--mode", "eager", "--mode", "graph", *options, suites=suites)
    assert outcome.status == 0, outcome.output
    page = (outcome.directory / "overrides.html").read_text()
    row = re.search(r'<th scope="row">floor \(tf.floor\)</th>(.*?)</tr>', page, re.DOTALL)[1]
    states = re.findall(r'<span class="offscreen">([\w ]+)</span>', row)
    assert states[4:8] == [IGNORED, NOT_RUN, NOT_RUN, APPLIED]
