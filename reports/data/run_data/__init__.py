"""Run data: the files of a run directory as DataFrames."""
