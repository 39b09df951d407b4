"""What we tell people: views of the records of a run."""

from reports import tables
from reports.load import load, load_observations
from reports.write import write

__all__ = ["load", "load_observations", "tables", "write"]
