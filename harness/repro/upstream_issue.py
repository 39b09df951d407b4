"""Upstream issue: the text of an issue that a maintainer of TensorFlow can act on, in the fields of their form."""

from __future__ import annotations

import contextlib
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.repro.discrepancy import Discrepancy
from tf_opdiff.harness.repro.program_text.function_source import Unwritable
from tf_opdiff.harness.repro.program_text.minimal import minimal_of
from tf_opdiff.harness.repro.script_runs.run_scripts import run_scripts
from tf_opdiff.harness.repro.script_runs.shown import results_of
from tf_opdiff.harness.repro.short_programs.cuts import of_one_element
from tf_opdiff.harness.repro.trials.attribution import NONE
from tf_opdiff.harness.repro.trials.own_tests import noticed
from tf_opdiff.harness.spec.modes import MODE
from tf_opdiff.harness.spec.settings.program_settings import program
from tf_opdiff.harness.spec.settings.variant import ONEDNN
from tf_opdiff.harness.store.records.record import Record


@dataclass(frozen=True)
class UpstreamIssue:
    """A discrepancy as an issue shows it.

    Attributes:
      record: the record that stands for it.
      program: the program that shows it.
      output: what the program printed here.
      cause: the known cause; None if nobody has explained it.
      switch: the variant with which it vanishes, `none`, or an empty text; see `harness.repro.trials.attribution`.
    """

    record: Record
    program: str
    output: str
    cause: Cause | None = None
    switch: str = ""

    def text(self, machine: Mapping[str, Any]) -> str:
        """The issue in Markdown: the title first. `machine` is what `harness.device.installation.probe.probe` gives."""
        lines = [f"# {self._title}", "", "### Issue type, versions and platform", "", f"Bug. {_platform(machine)}", ""]
        lines += ["### Current behavior?", "", *self._behavior, ""]
        lines += ["### Standalone code to reproduce the issue", "", "```python", *self.program.splitlines(), "```", ""]
        lines += ["### Relevant log output", "", "```", *self.output.splitlines(), "```"]
        return "\n".join(lines) + "\n"

    @property
    def _title(self) -> str:
        record = self.record
        if self.cause and self.cause.title:
            return self.cause.title.rstrip(".")
        what = "gradient" if record.quantity.startswith("grad") else "result"
        return f"{MODE[record.mode].phrase}, the {what} of {record.raw_op.replace(';', ', ')} is wrong"

    @property
    def _behavior(self) -> list[str]:
        """The error, its reason, the setting that decides it, and whether TensorFlow's own tests would notice."""
        values = f"got {self.record.got}, expected {self.record.want}"
        example = self.record.example or f"input {self.record.input}, {values}"
        lines = [f"{example[0].upper()}{example[1:]}."]
        if self.cause:
            reason = self.cause.reason.rstrip(".")
            lines.append(f"{reason[0].upper()}{reason[1:]}. {self.cause.link or self.cause.source}".rstrip())
        if self.switch == NONE:
            lines.append("No setting that was tried makes it vanish, so a kernel or a lowering causes it.")
        elif self.switch:
            settings = program((self.switch,))
            how = [f"{k}={v}" for k, v in settings.environment.items()] + settings.lines
            lines.append(f"It vanishes with `{'; '.join(how)}`.")
        return [*lines, *filter(None, [noticed(self.record)])]


#: The labels of the results that a minimal program prints.
_LABELS = re.compile(r"^(?:eager|tf\.function|jit_compile=True|expected):", re.MULTILINE)


def _platform(machine: Mapping[str, Any]) -> str:
    """Versions, and the machine, in a line."""
    names = {"tensorflow": "TensorFlow", "numpy": "NumPy", "python": "Python"}
    facts = [f"{title} {machine['versions'][name]}" for name, title in names.items()]
    facts += [platform.platform(), f"oneDNN {machine['devices']['cpu'][ONEDNN]}", f"CUDA {machine['cuda'] or 'none'}"]
    gpus = [name for name in machine["devices"] if name != "cpu"]
    return f"{', '.join([*facts, *(gpus or ['no GPU'])])}; from pip, no custom code."


def shortest(discrepancy: Discrepancy, record: Record, folder: Path) -> tuple[str, str] | None:
    """The minimal program of a discrepancy, of one element if that shows it, and its output; None if none shows it.

    Programs are written to the folder and run there. One shows the discrepancy if it prints the record's result, and
    that is not the expected one.
    """
    for form in filter(None, (of_one_element(discrepancy), discrepancy)):
        try:
            text = minimal_of(form)
        except Unwritable:
            continue
        path = folder / "minimal.py"
        path.write_text(text)
        for _, exit_name, output in run_scripts({path: form.plan.device}):
            if exit_name == "EXIT 0" and _shows(output, record):
                return text, output.strip()
    return None


def _shows(output: str, record: Record) -> bool:
    """Whether the last result before the expected one is another one, and has the number of the record."""
    _, *parts = _LABELS.split(output)
    if len(parts) < 2 or parts[-2].strip() == parts[-1].strip():
        return False
    numbers = _numbers(parts[-2])
    return not numbers or any(number in numbers for got in results_of(record) for number in _numbers(got))


def _numbers(text: str) -> set[str]:
    """The real numbers in a text; NaN equals itself, and 0 and -0 are two."""
    numbers = set()
    for word in re.split(r"[\s,\[\]]+", text):
        with contextlib.suppress(ValueError):
            numbers.add(repr(float(word)))
    return numbers
