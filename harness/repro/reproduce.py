"""Reproduce: a script for each finding, written and run."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.repro.discrepancy import Discrepancy, discrepancy_of
from tf_opdiff.harness.repro.earlier_programs import Shown, Store
from tf_opdiff.harness.repro.error_plot import Plot, plot_of
from tf_opdiff.harness.repro.forms import WHOLE, Form, forms_of
from tf_opdiff.harness.repro.program_text.function_source import Unwritable
from tf_opdiff.harness.repro.program_text.program_digest import hashed
from tf_opdiff.harness.repro.script import script_of
from tf_opdiff.harness.repro.script_runs.outcome import FINAL, Outcome, end_words
from tf_opdiff.harness.repro.script_runs.run_scripts import ScriptRuns
from tf_opdiff.harness.repro.script_runs.shown import judged
from tf_opdiff.harness.repro.short_programs.short_program import short_program
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import Device, PlanName
from tf_opdiff.harness.spec.spec import BY_PATTERNS, Case
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.system.progress import Progress


def write(discrepancy: Discrepancy, tf: str, folder: Path) -> Path:
    """Writes the script of a discrepancy; returns its path.

    Raises:
      Unwritable: there can be no script.
    """
    try:
        script = short_program(discrepancy, tf) if discrepancy.short else script_of(discrepancy, tf)
    except (ReferenceFault, ValueError, IndexError, TypeError) as error:  # the reference does not take these inputs
        raise Unwritable(f"its reference failed: {error}") from error
    words = [discrepancy.case.id, str(discrepancy.plan), discrepancy.quantity, discrepancy.kind]
    words += [discrepancy.against] if discrepancy.against not in ("numpy", str(discrepancy.plan)) else []
    words += discrepancy.settings
    name = re.sub(r"[^A-Za-z0-9_.=,+-]", "_", "-".join(words))
    path = folder / f"{name}.py"
    path.write_text(script)
    return path


#: Record → the observed array of its quantity; None if the observation is no array.
Observed = Callable[[Record], "np.ndarray | None"]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The settings for the scripts of findings.

    Attributes:
      catalog: the cases of the findings.
      tf: the version of TensorFlow that showed the findings.
      folder: the folder for the scripts.
      timeout: seconds after which a script counts as hung.
      observed: gives the arrays for plots.
      elsewhere: devices of other machines, by name: their scripts are written, and do not run.
      store: scripts that reproduced in earlier runs.
      again: whether scripts in `store` run again.
    """

    catalog: Catalog
    tf: str
    folder: Path
    timeout: float = 60.0
    observed: Observed = lambda record: None
    elsewhere: Mapping[str, Device] = field(default_factory=dict)
    store: Store | None = None
    again: bool = True

    def discrepancy(self, record: Record) -> Discrepancy:
        """The discrepancy of a record, with the whole case as input.

        Raises:
          Unwritable: the suites have no such case, or the oracle is a device of another machine.
        """
        spec = self.catalog.specs.get(record.spec)
        if spec is None:
            raise Unwritable(f"the suites have no spec {record.spec!r}")
        case_exists = record.recipe in (*spec.recipes, *BY_PATTERNS) and record.attrs in spec.labels
        if record.dtype not in spec.dtypes or not case_exists:
            raise Unwritable(f"the spec has no case {record.case!r}")
        oracle = PlanName.parse(record.against)
        if oracle and oracle.device != record.device and {oracle.device, record.device} & self.elsewhere.keys():
            raise Unwritable(f"its oracle {oracle} is not on the same machine")
        device = self.elsewhere.get(record.device) or Device.parse(record.device)
        return discrepancy_of(record, Case(spec, record.dtype, record.recipe, record.attrs), device)

    def earlier(self, forms: Sequence[Form], record: Record) -> tuple[Path, Shown] | None:
        """The script that showed the discrepancy in an earlier run, if it is the same today, and need not run again."""
        if self.store is None or self.again or record.device in self.elsewhere:
            return None
        shown = self.store.find(_identity(record), record.device)
        discrepancy = forms[shown.form]() if shown and shown.form < len(forms) else None
        if shown and discrepancy:
            with contextlib.suppress(Unwritable):
                path = write(discrepancy, self.tf, self.folder)
                alike = shown.program == hashed(path.read_text())
                if alike and judged(shown.how, record, shown.output)[0] == "reproduced":
                    return path, shown
        return None


def _identity(record: Record) -> tuple[str, ...]:
    """What identifies the finding of a record in all runs."""
    return record.case, record.mode, record.quantity, record.against, record.kind


@dataclass
class _Finding:
    """A record whose scripts are tried: the forms of its discrepancy, its plot, and the outcome so far.

    `tried` counts the forms that were tried.
    """

    record: Record
    forms: tuple[Form, ...] = ()
    tried: int = 0
    plot: Plot = ([], {})
    outcome: Outcome = field(init=False)
    ended: bool = False

    def end(self, status: str, path: Path | None = None, output: str = "", **more: Any) -> None:
        """Sets the outcome of the script at a path; `more` are other fields of `Outcome`."""
        names = ("suite", "spec", "verdict", "kind", "case", "device", "mode", "against", "quantity")
        about: dict[str, Any] = {name: getattr(self.record, name) for name in names}
        points, marked = self.plot
        self.ended = status in FINAL
        self.outcome = Outcome(
            **about,
            reason=self.record.known_reason,
            status=status,
            script=f"{path.parent.name}/{path.name}" if path else "",
            output=output,
            points=points,
            marked=marked,
            **more,
        )

    @np.errstate(all="ignore")
    def begin(self, setting: Setting) -> None:
        """Finds the forms; ends the finding if no script needs to run, or none can be written."""
        try:
            whole = setting.discrepancy(self.record)
            self.plot = plot_of(whole, self.record, setting.observed(self.record))
            self.forms = forms_of(whole)
            if earlier := setting.earlier(self.forms, self.record):
                path, shown = earlier
                self.end("reproduced earlier", path, shown.output, run=shown.run, date=shown.date)
            elif self.record.device in setting.elsewhere:
                self.end("elsewhere", write(whole, self.record.tf, setting.folder))
        except Unwritable as why:
            self.end("no script", output=str(why), why=str(why))

    @np.errstate(all="ignore")
    def next_script(self, setting: Setting) -> Path | None:
        """Writes the script of the next form; None if the finding has ended, or no form is left."""
        while not self.ended and self.tried < len(self.forms):
            form, self.tried = self.tried, self.tried + 1
            try:
                if discrepancy := self.forms[form]():
                    return write(discrepancy, setting.tf, setting.folder)
            except Unwritable as why:
                if form == WHOLE:
                    self.end("no script", output=str(why), why=str(why))
        return None


def reproduce(records: Sequence[Record], setting: Setting, progress: Progress | None = None) -> list[Outcome]:
    """Writes and runs a script for each of these records; returns their outcomes, in order.

    Scripts run while the next ones are written. If a script does not show the discrepancy, that of the next form runs.
    """
    findings = [_Finding(record) for record in records]
    if findings:
        setting.folder.mkdir(exist_ok=True)
    with ScriptRuns(timeout=setting.timeout) as runs:
        reproduction = _Reproduction(setting, runs, progress, findings)
        for finding in findings:
            finding.begin(setting)
            reproduction.advance(finding)
            reproduction.collect()
        while runs:
            reproduction.collect(wait_for_one=True)
    return [finding.outcome for finding in findings]


@dataclass
class _Reproduction:
    """Findings whose scripts run; `scripts` has the finding of each script."""

    setting: Setting
    runs: ScriptRuns
    progress: Progress | None
    findings: Sequence[_Finding]
    scripts: dict[Path, _Finding] = field(default_factory=dict)
    begun: bool = False

    def advance(self, finding: _Finding) -> None:
        """Adds the next script of a finding to those that run; marks the finding as done if there is none."""
        path = finding.next_script(self.setting)
        if path:
            if self.progress and not self.begun:
                self.progress.begin("programs of findings", {str(id(f)): 1.0 for f in self.findings if not f.ended})
                self.begun = True
            self.scripts[path] = finding
            self.runs.add(path, Device.parse(finding.record.device))
        elif self.progress:
            self.progress.done(str(id(finding)))

    def collect(self, *, wait_for_one: bool = False) -> None:
        """Sets the outcomes of scripts that have ended; stores those that reproduced, and advances the others."""
        for path, exit_name, printed in self.runs.ended(wait_for_one=wait_for_one):
            finding, output = self.scripts.pop(path), f"{printed.strip()}\n{end_words(exit_name)}"
            status, why = judged(exit_name, finding.record, output)
            finding.end(status, path, output, why=why)
            if self.setting.store and status == "reproduced":
                identity, device = _identity(finding.record), finding.record.device
                self.setting.store.add(identity, device, path.read_text(), finding.tried - 1, exit_name, output)
            self.advance(finding)
