"""Views of large runs: synthetic records, 16 per case, written as a run's files and read by a command of its own.

`diff` compares two runs; every tenth spec fails, drifts, or is absent in the later run. With `--bits` it also compares
an array of 67 float32 for each case, plan and quantity. `peak` is the command's largest resident set. `command` is its
time from start to end, with the start of Python and the reading of files.
`report` writes a run's Parquet files and page from its shards; 64 records per spec. `page` is the page's size. `open`
is the time from the start of the navigation until the records table stands in headless Chromium. `filter` is the time
from a change of the address to the next frame: the longest of several filters of the records and of the matrix, each
the first of its sort on that page. Both are the best of five, and given as multiples of an empty page's time as well.

`python -m bench.measurements.reports PAGE…` prints these times for pages of other runs.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.data.run_data import frame, parquet
from tf_opdiff.reports.data.run_data.load import OBSERVATIONS, RECORDS
from tf_opdiff.reports.tests.browser import Browser
from tf_opdiff.reports.tests.planted import synthetic

SIZES = (100_000, 1_000_000)
RECIPES = ("edges", "bits", "plain", "halves", "domain", "inside", "nan", "large")
DEVICES = ("cpu", "gpu:0")
REPEATS = 5
#: A page with no content that is ready as soon as its script runs.
EMPTY = "<!doctype html><script>document.documentElement.dataset.ready = Math.ceil(performance.now())</script>"
#: Filters of the records and of the matrix, as fragments.
FILTERS = ("verdict=known", "q=floor", "mode=xla", "matrix.show=ulp", "matrix.show=budget&matrix.mode=xla")
#: Runs a command and prints its exit status, seconds and largest resident set, in KiB. Linux counts the memory of the
#: process that starts a command as the command's own, so a small process starts it, not the one that made the runs.
_MEASURER = """
import os, sys, time
begin = time.perf_counter()
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
print()
print(os.waitstatus_to_exitcode(status), time.perf_counter() - begin, usage.ru_maxrss)
"""
_CELLS = ["case", "device", "mode", "quantity"]


def records(count: int, seed: int = 0) -> pd.DataFrame:
    """At least as many made-up records, typed as a run's are."""
    base = pd.DataFrame(map(vars, synthetic.records(synthetic.ops(200), DEVICES, RECIPES, seed)))
    parts = []
    for i in range(-(-count // len(base))):
        names = base["spec"] + f"_{i}x"
        parts.append(base.assign(spec=names, case=names + "-float32-" + base["recipe"]))
    made = pd.concat(parts, ignore_index=True).assign(against="numpy")
    return frame.typed(made.assign(seed="0123456789abcdef"))


def later(records: pd.DataFrame) -> pd.DataFrame:
    """The records of the next night: of every ten specs one fails now, one has drifted, and one is gone."""
    nth = records["spec"].cat.codes % 10
    made = records.assign(run="later")
    fails = (nth == 1) & (made["verdict"] == "match")
    made["verdict"] = made["verdict"].mask(fails, "mismatch")
    made["kind"] = made["kind"].mask(fails, "value")
    made["max_ulp"] = made["max_ulp"].mask(fails, 99.0).where(nth != 2, made["max_ulp"] * 3)
    return frame.typed(made[nth != 3].reset_index(drop=True))


def observations(records: pd.DataFrame, off: str = "") -> pd.DataFrame:
    """An array for each case, plan and quantity; those of the recipe `off` have another bit in one element."""
    cells = records[_CELLS].drop_duplicates()
    arrays = np.random.default_rng(0).random((997, 67), np.float32)
    plain = [a.tobytes() for a in arrays]
    moved = [np.nextafter(a, np.float32(2), where=np.arange(67) == 5, out=a.copy()).tobytes() for a in arrays]
    wrong = (records.loc[cells.index, "recipe"] == off).tolist() if off else [False] * len(cells)
    which = (pd.util.hash_pandas_object(cells.astype("str"), index=False) % 997).tolist()
    made = cells.assign(status="value", dtype="float32", shape=[(67,)] * len(cells))
    made["bytes"] = [(moved if w else plain)[i] for i, w in zip(which, wrong, strict=True)]
    return frame.typed(made.assign(indices=None, dense_shape=None, code="", message="")[frame.OBSERVATIONS.names])


def write(directory: Path, made: pd.DataFrame, arrays: pd.DataFrame | None = None) -> Path:
    """A run's directory with these records and, where they are given, observations."""
    directory.mkdir()
    parquet.write(made, directory / RECORDS)
    if arrays is not None:
        parquet.write(arrays, directory / OBSERVATIONS, schema=frame.OBSERVATIONS)
    cells = len(made[["case", "device", "mode"]].drop_duplicates())
    info = {"state": "complete", "planned": cells, "recorded": cells, "modes": list(synthetic.MODES)}
    RunInfo(run=directory.name, started="2031-05-04T03:02:01+00:00", tf="2.21.0", **info).save(directory)
    return directory


def measured(*arguments: str, module: str = "harness") -> tuple[float, float]:
    """Seconds and the largest resident set, in MiB, of `python -m harness` with these arguments.

    Raises:
      RuntimeError: it ended with a status other than 0 and 1.
    """
    command = [sys.executable, "-c", _MEASURER, sys.executable, "-m", module, *arguments]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)
    if process.returncode:
        raise RuntimeError((process.stdout + process.stderr)[-2000:])
    status, seconds, peak = process.stdout.splitlines()[-1].split()
    if int(status) not in (0, 1):
        raise RuntimeError((process.stdout + process.stderr)[-2000:])
    return float(seconds), int(peak) / 1024


def diff(count: int, folder: Path) -> list[dict[str, object]]:
    """The rows of `python -m harness diff`."""
    before = records(count)
    after = later(before)
    runs = [write(folder / f"a{count}", before, observations(before))]
    runs.append(write(folder / f"b{count}", after, observations(after, off="nan")))
    rows = []
    for options in ((), ("--html", f"{folder}/diff.html", "--markdown", f"{folder}/diff.md"), ("--bits",)):
        seconds, peak = measured("diff", *map(str, runs), *options)
        name = " ".join(["diff", *(o for o in options if o.startswith("--"))])
        rows.append({"view": name, "records a run": len(before), "command, s": seconds, "peak, MiB": peak})
    return rows


def report(count: int, folder: Path) -> dict[str, object]:
    """The row of `python -m reports`, and of the page that it writes."""
    per_spec = 4 * len(DEVICES) * len(synthetic.MODES) * 2
    made = synthetic.records(synthetic.ops(-(-count // per_spec)), DEVICES, RECIPES[:4])
    directory = folder / f"r{count}"
    directory.mkdir()
    synthetic.write(directory, made)
    many = len(made)
    made.clear()
    seconds, peak = measured(str(directory), module="reports")
    page = directory / "index.html"
    row = {"view": "report", "records a run": many, "command, s": seconds, "peak, MiB": peak}
    return row | {"page, MB": page.stat().st_size / 1e6} | times(page)


def times(page: Path) -> dict[str, object]:
    """How long a page takes to open and to filter, in ms and as multiples of the time of an empty page."""
    program = shutil.which("chromium")
    if not program:
        return {"open, ms": "no chromium"}
    opened, least, filtered = [], [], []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        empty = Path(folder, "empty.html")
        empty.write_text(EMPTY)
        browser = Browser(program, Path(folder, "profile"))
        try:
            for _ in range(REPEATS):
                least.append(_opened(browser, empty))
                opened.append(_opened(browser, page))
                filtered.append([_filtered(browser, fragment) for fragment in FILTERS])
        finally:
            browser.close()
    best, slowest = min(least), max(min(column) for column in zip(*filtered, strict=True))
    shares = {"open / empty": min(opened) / best, "filter / empty": slowest / best}
    return {"empty, ms": best, "open, ms": min(opened), "filter, ms": slowest} | shares


def _opened(browser: Browser, page: Path) -> float:
    browser.open(page)
    return float(browser.js("Number(document.documentElement.dataset.ready)"))


def _filtered(browser: Browser, fragment: str) -> float:
    """The time from a change of the fragment until the frame after the page has followed it."""
    frame = "requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)))"
    follow = f"addEventListener('hashchange', () => {frame}, {{once: true}})"
    change = f"const start = performance.now(); {follow}; location.hash = '{fragment}'"
    return float(browser.js(f"new Promise((done) => {{ {change}; }})"))


def rows() -> list[dict[str, object]]:
    """A row for each view and size."""
    with tempfile.TemporaryDirectory() as folder:
        made = [row for count in SIZES for row in [*diff(count, Path(folder)), report(count, Path(folder))]]
    heads = dict.fromkeys(head for row in made for head in row)
    return [{head: row.get(head, "") for head in heads} for row in made]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(name, times(Path(name)), flush=True)
