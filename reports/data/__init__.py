"""Data: the files of a run, read into DataFrames."""
