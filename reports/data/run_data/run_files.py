"""Run file: the files of a run directory, and what each holds."""

from __future__ import annotations

from collections.abc import Mapping

#: One sentence for each file or folder in a run directory; `reports.pages.run_pages.extra_pages` has those of further
#: pages.
RUN_FILES: Mapping[str, str] = {
    "index.html": "The report. It opens offline.",
    "discrepancies.html": "All discrepancies, by mechanism, op, owner or severity.",
    "discrepancies.csv": "The same discrepancies as a table for spreadsheets.",
    "search.html": "The search for ops, functions, specs, discrepancies and claims; it works offline.",
    "ops": "A page for each op: verdicts, distances and budgets, errors by input, discrepancies; a list of them; and "
    "their style sheet, `op.css`. A page's tables are compressed; its script unpacks them, also offline.",
    "summary.md": "The report in short, as Markdown; GitHub's job summary is this text.",
    "records.parquet": "One row for each verdict, matches included; the columns are those of a record.",
    "observations.parquet": "The arrays, errors and crashes: one row for each quantity of a case under a plan.",
    "errors.parquet": "The error profile by the size of the argument: the largest error of each sign and exponent.",
    "error_histogram.parquet": "The error profile by the size of the error: how many elements are how far off.",
    "junit.xml": "The same verdicts as tests, for CI systems.",
    "badge.svg": "A badge with the outcome.",
    "badge.json": "The badge as data, for shields.io.",
    "run.json": "The options, versions, devices and machine of the run, its use of caches, and its outcome.",
    "repro.json": "The outcome of each finding's program.",
    "switches.json": "The settings on which discrepancies depend; written by `python -m harness switches`.",
    "claims.json": "The programs of the claims that the run tested.",
    "overrides.json": "The programs of the overrides that the run tested, and their expected states.",
    "causes.json": "The causes of known failures by which the run was judged, with their titles and severities.",
    "code.json": "Hashes of the files that decided the results; `--resume` expects the same.",
    "kernels.json": "The kernels that TensorFlow registers: for each op and device type, the dtypes by attribute.",
    "switches": "The programs that ran with and without these settings.",
    "repro": "A program of TensorFlow and NumPy alone for each finding. A hundred or more programs of known failures "
    "are in one archive, `known.tar.xz`; `tar -xf` unpacks it, and `index.html` shows each program at its record.",
    "shards": "The lines that each worker appended while the run was going: every record, behind a checksum. Once the "
    "report is written, large ones are compressed (`.zst`), without what `records.parquet` "
    "and `observations.parquet` have.",
    "logs": "The last MiB that each device server and program wrote. Once the report is written, large logs "
    "are compressed; `zless` shows them.",
    "sweep.json": "The tallies of a sweep: distances, counts of each kind, the worst inputs.",
    "sweep.svg": "The distances of a sweep as a plot.",
}
