"""The page of batches shows what a real run of planted specs found, and what did not run."""

import re

import pytest

from tf_opdiff import reports
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.reports.analysis.batch_matrix import NOT_RUN, batch_matrix
from tf_opdiff.suites.derived.batch import SIZES


@pytest.fixture(scope="module")
def run(run_pytest):
    """A run of the default tier: the mode `graph` is left out, and XLA and functions are in the full tier."""
    suites = "tf_opdiff.suites.tests.planted.planted_batches"
    return run_pytest("--device", "cpu", "--mode", "eager", "--mode", "function", "--tier", "full", suites=suites)


@pytest.fixture(scope="module")
def matrix(run):
    return batch_matrix(reports.load(run.directory))


def cells(matrix, name, mode):
    """The cells of an op in a mode, by size."""
    (line,) = (line for line in matrix.lines if line.name == name)
    first = MODES.index(mode) * len(SIZES)
    return line.cells[first : first + len(SIZES)]


def test_a_row_that_takes_something_of_its_neighbour_fails_the_run(run):
    assert run.status == 1


def test_the_matrix_has_a_line_for_each_op_and_a_cell_for_each_mode_and_size(matrix):
    assert [line.name for line in matrix.lines] == ["one-ulp", "sums", "sums-altered"]
    assert matrix.sizes == SIZES
    assert {len(line.cells) for line in matrix.lines} == {len(MODES) * len(SIZES)}


@pytest.mark.parametrize("mode", ["eager", "function"])
def test_each_state_stands_where_it_was_found(matrix, mode):
    assert {cell.state for cell in cells(matrix, "sums", mode)} <= {"same bits", "other bits"}
    altered = cells(matrix, "sums-altered", mode)
    assert {(cell.state, cell.text) for cell in altered} == {("discrepancy", "batch leak")}
    assert "output[0]" in altered[0].title
    assert {(cell.state, cell.text) for cell in cells(matrix, "one-ulp", mode)} == {("other bits", "1")}


def test_modes_that_did_not_run_are_shown_as_not_run(matrix):
    assert {*cells(matrix, "sums", "xla"), *cells(matrix, "sums", "graph")} == {NOT_RUN}
    assert matrix.counts["not run"] == 3 * 2 * len(SIZES)
    assert sum(matrix.counts.values()) == 3 * len(MODES) * len(SIZES)


def test_the_page_shows_every_cell_and_the_index_links_it(run, matrix):
    page = (run.directory / "batches.html").read_text()
    assert len(re.findall(r"<td class=\"s-", page)) == sum(matrix.counts.values())
    assert page.count("batch leak</td>") == 2 * len(SIZES)
    assert 'href="batches.html"' in (run.directory / "index.html").read_text()


def test_a_run_without_batches_has_no_page(matrix, run):
    records = reports.load(run.directory)
    assert batch_matrix(records[~records["spec"].astype(str).str.contains("-batches")]) is None
