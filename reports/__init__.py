"""Reports: views of the records of a run, as DataFrames, texts and pages."""

from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.figures.errors import load_error_histogram, load_errors
from tf_opdiff.reports.data.run_data.load import load, load_observations
from tf_opdiff.reports.notebook import findings, records, run
from tf_opdiff.reports.pages.op_pages.op_plot import plot
from tf_opdiff.reports.write import write

__all__ = [
    "findings",
    "load",
    "load_error_histogram",
    "load_errors",
    "load_observations",
    "plot",
    "records",
    "run",
    "tables",
    "write",
]
