"""Reproduce: each finding's script, written and run in a process of its own."""

from __future__ import annotations

import contextlib
import math
import os
import re
import runpy
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import numpy as np

from tf_opdiff.harness.device.channel import Channel
from tf_opdiff.harness.device.fork_server import start_fork_server, uninterrupted
from tf_opdiff.harness.device.process import Child
from tf_opdiff.harness.device.repeat import AGAIN
from tf_opdiff.harness.device.server_handle import memory_limit
from tf_opdiff.harness.judge.error_points import points
from tf_opdiff.harness.judge.reference import ReferenceFault
from tf_opdiff.harness.judge.simplest import TIES, of_texts
from tf_opdiff.harness.judge.wording import sentence
from tf_opdiff.harness.repro.earlier_programs import Shown, Store
from tf_opdiff.harness.repro.script import Discrepancy, promised, smaller, text
from tf_opdiff.harness.repro.source import Unwritable
from tf_opdiff.harness.spec import variant
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import SWEEPS, Case
from tf_opdiff.harness.store.record import CLAIM, Record
from tf_opdiff.harness.system.progress import Progress

#: What became of a script: it showed the discrepancy, it did in an earlier run and was not run again, it did not, there
#: is none, it failed in another way, or it was not run, since the device was recorded elsewhere.
STATUSES = ("reproduced", "reproduced earlier", "not reproduced", "no script", "failed", "elsewhere")
#: What TensorFlow logs on its own account: when it was, in which line of its source.
_LOG_LINE = re.compile(r"^([IWE]\d{4} \d\d:|\d{4}-\d\d-\d\d \d\d:).*\n", re.MULTILINE)
#: Inputs and errors of a plot, and those that are marked; see `harness.judge.error_points.points`.
Plot = tuple[list[list[float]], dict[str, list[float]]]
#: Statuses after which nothing else is tried.
ENDED = ("reproduced", "reproduced earlier", "no script", "elsewhere")
#: Copies of a sweep's input, where one alone does not show the discrepancy: enough to fill the lanes of a vector.
LANES = 64
_BROKEN = 70
_KEPT = 2000


@dataclass(frozen=True)
class Outcome:
    """What became of a finding's script: one of `STATUSES`, the script's path in the run, and the end of its output.

    `points` are inputs and errors of the elements of the whole case, `marked` those of the simplest and the worst one;
    see `harness.judge.error_points`. Of a script that was not run again, `run` and `date` say in which run and when it
    showed the discrepancy.
    """

    suite: str
    spec: str
    verdict: str
    kind: str
    case: str
    device: str
    mode: str
    against: str
    quantity: str
    status: str
    script: str = ""
    output: str = ""
    points: list[list[float]] = field(default_factory=list)
    reason: str = ""
    marked: dict[str, list[float]] = field(default_factory=dict)
    run: str = ""
    date: str = ""


def findings(records: Iterable[Record]) -> list[Record]:
    """One record for each spec × verdict × kind × cause that fails or is known to: against NumPy where there is one,
    and with the simplest input.

    What the suite itself is at fault for is not among them.
    """
    some = [r for r in records if r.verdict in ("known", "mismatch") and not r.against.startswith(CLAIM)]
    simple = of_texts(record.example for record in some)
    best: dict[tuple[str, ...], tuple[Any, Record]] = {}
    for record in some:
        ties = record.dtype != "float32", *(getattr(record, name) for name in TIES)
        rank = (record.against != "numpy", simple[record.example], ties)
        key = (record.suite, record.spec, record.verdict, record.kind, record.known_reason)
        if key not in best or rank < best[key][0]:
            best[key] = rank, record
    return [record for _, record in best.values()]


def discrepancy(record: Record, case: Case, device: Device) -> Discrepancy:
    """What a record's script is to show on its device; of a sweep, the one input that stands for the rest."""
    shown = record.example_index or record.worst_index
    index = _numbers(shown) if shown else None
    inputs: tuple[np.ndarray, ...]
    if record.recipe in SWEEPS and index and index[0] < 256 ** np.dtype(record.dtype).itemsize:
        bits = np.array(index, f"u{np.dtype(record.dtype).itemsize}")
        inputs, index = (np.repeat(bits.view(np.dtype(record.dtype)), LANES),), (0,)
    else:
        inputs = case.inputs()
    return Discrepancy(
        case,
        Plan(device, record.mode),
        record.quantity,
        record.against,
        record.kind,
        inputs,
        record.budget,
        index,
        sentence(record),
    )


def write(found: Discrepancy, tf: str, folder: Path) -> Path:
    """Writes the script of a discrepancy, and returns where it is.

    Raises:
      Unwritable: there can be none.
    """
    try:
        made = text(found, tf)
    except (ReferenceFault, ValueError, IndexError, TypeError) as error:  # of inputs that the reference does not take
        raise Unwritable(f"its reference failed: {error}") from error
    words = [found.case.id, str(found.plan), found.quantity, found.kind]
    words += [found.against] if found.against not in ("numpy", str(found.plan)) else []
    name = re.sub(r"[^A-Za-z0-9_.=,+-]", "_", "-".join(words))
    path = folder / f"{name}.py"
    path.write_text(made)
    return path


def _execute(_: Channel, path: Path, sees_gpus: bool) -> None:
    """Runs a script as a program; its exit status is this process's."""
    if not sees_gpus:  # before CUDA starts, as in its device server
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    status: Any = 0
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as end:
        status = end.code
    except BaseException:  # noqa: BLE001  not the script's verdict: how it failed
        traceback.print_exc()
        status = _BROKEN
    sys.stdout.flush()
    os._exit(status if isinstance(status, int) else _BROKEN)


def run(scripts: Mapping[Path, Device], *, timeout: float = 60.0, at_once: int = 2) -> Iterator[tuple[Path, str, str]]:
    """Runs scripts, each in a process of its own that finds TensorFlow imported: (path, how it ended, what it said).

    `scripts` names the device of each: those of the CPU see no GPU, and have a share of the machine's memory.
    How it ended: `EXIT n`, the name of a signal, `TIMEOUT` after so many seconds, or `NO_PROCESS`.
    """
    todo = list(scripts)
    busy: dict[Path, tuple[Child, float]] = {}
    if todo:
        start_fork_server(todo[0].parent / "fork-server.log")
    try:
        while todo or busy:
            while todo and len(busy) < at_once:
                path = todo.pop(0)
                try:
                    with uninterrupted():
                        busy[path] = _started(path, scripts[path], at_once), time.monotonic() + timeout
                except (EOFError, OSError) as why:
                    yield path, "NO_PROCESS", f"no process can be started: {why}"
            left = min((end for _, end in busy.values()), default=0.0) - time.monotonic()
            wait([child.end for child, _ in busy.values()], timeout=max(0.0, left))
            for path, (child, end) in list(busy.items()):
                if child.ended or time.monotonic() >= end:
                    how = child.kill() or "TIMEOUT"
                    del busy[path]
                    yield path, how, _said(path)
    finally:
        for child, _ in busy.values():
            child.kill()


def _started(path: Path, device: Device, at_once: int) -> Child:
    """The process of a script, which runs beside so many others."""
    memory = memory_limit(device, at_once)
    settings = variant.environment(device.variants)
    log = path.with_suffix(".log")
    return Child(_execute, path, device.type != "cpu", log=log, memory=memory, settings=settings)


def _said(path: Path) -> str:
    """The end of what a script wrote, less what TensorFlow logs on its own account."""
    log = path.with_suffix(".log")
    try:
        return _LOG_LINE.sub("", log.read_text(errors="replace"))[-_KEPT:]
    except FileNotFoundError:
        return ""
    finally:
        log.unlink(missing_ok=True)


def status(how: str, record: Record) -> str:
    """What the end of a script says of a record: a crash has to be the same one, a hang to take as long."""
    if record.kind in ("crash", "hang"):
        return "reproduced" if how in record.got else "not reproduced"
    return {"EXIT 1": "reproduced", "EXIT 0": "not reproduced"}.get(how, "failed")


def _plot(whole: Discrepancy, record: Record, got: np.ndarray | None) -> Plot:
    """What `harness.judge.error_points.points` makes of a record, its simplest and its worst element marked."""
    if got is None or not whole.inputs or whole.kind in AGAIN:
        return [], {}
    marks = {"simplest": record.example_index, "worst": record.worst_index}
    flat = {name: place for name, at in marks.items() if (place := _place(at, got.shape)) is not None}
    try:
        return points(whole.inputs[0], got, promised(whole).wants.get(whole.quantity), flat)
    except ReferenceFault:
        return [], {}


def _numbers(index: str) -> tuple[int, ...]:
    """An index as a record has it: `[3, 4]`."""
    return tuple(map(int, re.findall(r"\d{1,18}", index)))


def _place(index: str, shape: tuple[int, ...]) -> int | None:
    """The place in the flat order of an array of this shape; None where the index is none of it."""
    at = _numbers(index) if index else (-1,)
    inside = len(at) == len(shape) and all(0 <= i < n for i, n in zip(at, shape, strict=True))
    return int(np.arange(math.prod(shape)).reshape(shape)[at]) if inside else None


#: What a run observed of a record's quantity: its array, if it is one.
Observed = Callable[[Record], "np.ndarray | None"]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Where the programs of findings come from, are written and run.

    `tf` is the version of TensorFlow that showed the findings. A program that takes longer than `timeout` s hangs.
    `elsewhere` has the devices of other machines, by their names: their programs are written, and not run. Programs
    that reproduced in earlier runs are in `store`; they run `again`, or else are not run. A run's own arrays, for the
    plots, come from `observed`.
    """

    catalog: Catalog
    tf: str
    folder: Path
    timeout: float = 60.0
    observed: Observed = lambda record: None
    elsewhere: Mapping[str, Device] = field(default_factory=dict)
    store: Store | None = None
    again: bool = True

    def whole(self, record: Record) -> Discrepancy:
        """The discrepancy of a record's whole case.

        Raises:
          Unwritable: the suites have no such case.
        """
        spec = self.catalog.specs.get(record.spec)
        if spec is None:
            raise Unwritable(f"the suites have no spec {record.spec!r}")
        case_exists = record.recipe in (*spec.recipes, *SWEEPS) and record.attrs in spec.labels
        if record.dtype not in spec.dtypes or not case_exists:
            raise Unwritable(f"the spec has no case {record.case!r}")
        device = self.elsewhere.get(record.device) or Device.parse(record.device)
        return discrepancy(record, Case(spec, record.dtype, record.recipe, record.attrs), device)

    def earlier(self, whole: Discrepancy, record: Record) -> tuple[Path, Shown] | None:
        """The program that showed the discrepancy in an earlier run, and need not run again; of one element first."""
        if self.store is None or self.again or record.device in self.elsewhere:
            return None
        for shown in filter(None, (smaller(whole), whole)):
            with contextlib.suppress(Unwritable):
                path = write(shown, self.tf, self.folder)
                before = self.store.find(path.read_text(), record.device)
                if before and status(before.how, record) == "reproduced":
                    return path, before
        return None


@dataclass
class _Finding:
    """A record that is worked on: its plot, once that is drawn, and what became of its program so far."""

    record: Record
    plot: Plot | None = None
    outcome: Outcome = field(init=False)
    ended: bool = False

    def end(self, status: str, path: Path | None = None, output: str = "", **before: Any) -> None:
        """Notes what became of the program at a path; `before` is the `run` and the `date` of an earlier run."""
        names = ("suite", "spec", "verdict", "kind", "case", "device", "mode", "against", "quantity")
        place: dict[str, Any] = {name: getattr(self.record, name) for name in names}
        points, marked = self.plot or ([], {})
        self.ended = status in ENDED
        self.outcome = Outcome(
            **place,
            reason=self.record.known_reason,
            status=status,
            script=f"{path.parent.name}/{path.name}" if path else "",
            output=output,
            points=points,
            marked=marked,
            **before,
        )

    def program(self, setting: Setting, *, alone: bool) -> Path | None:
        """Writes the program about one element alone, or about the whole case; None where there is none to run.

        Raises:
          Unwritable: there can be none.
        """
        whole = setting.whole(self.record)
        if self.plot is None:
            self.plot = _plot(whole, self.record, setting.observed(self.record))
        if alone and (earlier := setting.earlier(whole, self.record)):
            path, before = earlier
            self.end("reproduced earlier", path, before.output, run=before.run, date=before.date)
            return None
        shown = smaller(whole) if alone else whole
        if shown is None:
            return None
        if self.record.device not in setting.elsewhere:
            return write(shown, setting.tf, setting.folder)
        if not alone:
            self.end("elsewhere", write(shown, self.record.tf, setting.folder))
        return None


def reproduce(chosen: Sequence[Record], setting: Setting, progress: Progress | None = None) -> list[Outcome]:
    """Writes and runs the program of each of these records: one about the worst element alone where that shows the
    discrepancy, else one about the whole case.
    """
    todo = [_Finding(record) for record in chosen]
    if todo:
        setting.folder.mkdir(exist_ok=True)
    for alone in (True, False):
        programs: dict[Path, _Finding] = {}
        for finding in todo:
            if finding.ended:
                continue
            try:
                path = finding.program(setting, alone=alone)
            except Unwritable as why:
                if not alone:
                    finding.end("no script", output=str(why))
            else:
                programs.update({path: finding} if path else {})
        if progress:
            name = "programs of findings, " + ("an element each" if alone else "whole cases")
            progress.begin(name, {str(path): 1.0 for path in programs})
        for path in _ended(programs, setting):
            if progress:
                progress.done(str(path))
    return [finding.outcome for finding in todo]


def _ended(programs: Mapping[Path, _Finding], setting: Setting) -> Iterator[Path]:
    """Runs the programs of findings, and notes what became of each as it ends; those that reproduce are stored."""
    scripts = {path: Device.parse(finding.record.device) for path, finding in programs.items()}
    for path, how, said in run(scripts, timeout=setting.timeout):
        finding, output = programs[path], f"{said.strip()}\n[{how}]"
        finding.end(status(how, finding.record), path, output)
        if setting.store and finding.outcome.status == "reproduced":
            setting.store.add(path.read_text(), finding.record.device, how, output)
        yield path
