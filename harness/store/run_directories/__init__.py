"""Run directories: folders of runs, with the request, the machine and the code of each run."""

#: The modules that other rooms may import.
__all__ = (
    "code_digest",
    "environment",
    "judges",
    "old_runs",
    "open_run",
    "revision",
    "run_code",
    "run_info",
    "rundir",
)
