"""Attribute: find the setting of TensorFlow on which a discrepancy depends, by its program with and without it.

The program of the discrepancy runs once as it is, then under each setting; see `setting_trials`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tf_opdiff.harness.repro.discrepancy import Discrepancy
from tf_opdiff.harness.repro.program_text.function_source import Unwritable
from tf_opdiff.harness.repro.reproduce import Setting, write
from tf_opdiff.harness.repro.script_runs.outcome import status_of
from tf_opdiff.harness.repro.script_runs.run_scripts import run_scripts
from tf_opdiff.harness.repro.short_programs.cuts import of_one_element
from tf_opdiff.harness.repro.trials.attribution import Attribution
from tf_opdiff.harness.repro.trials.setting_trials import GONE, SINGLE, SettingTrials, variants
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.spec.settings.variant import split
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.system.progress import Progress

#: The variants that a program applies by itself; others set variables that TensorFlow reads when it is imported.
_BY_PROGRAM = ("nohlo", "noexcess", "nofma", "norewriter", "deterministic")


@dataclass
class _Subject(SettingTrials):
    """A discrepancy's id and record, the form of it that its program shows, and the trials so far."""

    id: str = ""
    record: Record = field(default_factory=Record)
    form: Discrepancy | None = None

    def attribution(self) -> Attribution:
        """The attribution as far as it is known."""
        about = {name: getattr(self.record, name) for name in ("case", "device", "mode", "against", "quantity")}
        return Attribution(id=self.id, **about, switch=self.switch, tried=dict(self.tried))


def attribute(records: Mapping[str, Record], setting: Setting, progress: Progress | None = None) -> list[Attribution]:
    """The attributions of discrepancies, in order; their programs are written to the folder of the setting, and run.

    Args:
      records: id of a discrepancy → the record that stands for it.
      setting: the catalog, the folder, and the seconds that a program has.
      progress: gets a stage for each round of programs.
    """
    subjects = [_Subject(id=name, record=record) for name, record in records.items()]
    setting.folder.mkdir(parents=True, exist_ok=True)
    for alone in (True, False):
        forms = {i: _form(subject, setting, alone=alone) for i, subject in enumerate(subjects)}
        _run(subjects, {(i, ""): form for i, form in forms.items() if form}, setting, progress)
    kinds = {(i, name): form for i, form in _shown(subjects) for name in variants(form.plan)}
    _run(subjects, kinds, setting, progress)
    for place in range(max(map(len, SINGLE.values()))):  # one after the other: the first ones explain most
        single = {
            (i, SINGLE[name][place]): form
            for i, form in _shown(subjects)
            for name in subjects[i].unresolved
            if place < len(SINGLE[name])
        }
        _run(subjects, single, setting, progress)
    return [subject.attribution() for subject in subjects]


def _form(subject: _Subject, setting: Setting, *, alone: bool) -> Discrepancy | None:
    """The discrepancy of one element alone, or of the whole case; None where that has been shown, or has no program."""
    if subject.shown:
        return None
    try:
        whole = setting.discrepancy(subject.record)
    except Unwritable:
        return None
    return of_one_element(whole) if alone else whole


def _shown(subjects: Sequence[_Subject]) -> list[tuple[int, Discrepancy]]:
    """The numbers of the subjects whose program shows the discrepancy, and its form."""
    return [(i, s.form) for i, s in enumerate(subjects) if s.form is not None and s.shown]


def _run(
    subjects: Sequence[_Subject],
    forms: Mapping[tuple[int, str], Discrepancy],
    setting: Setting,
    progress: Progress | None,
) -> None:
    """Runs the programs of forms of subjects, by number and variant, and notes their statuses."""
    scripts = {}
    for (number, name), form in forms.items():
        subject, settings = subjects[number], (name,) if name else ()
        subject.form = form
        try:
            path = write(replace(form, settings=settings), setting.tf, setting.folder)
        except Unwritable:
            subject.tried[name] = "no script"
        else:
            scripts[path] = number, name
    if progress and scripts:
        progress.begin("programs with and without settings", {str(path): 1.0 for path in scripts})
    devices = {path: _with(forms[key].plan.device, key[1]) for path, key in scripts.items()}
    for path, exit_name, output in run_scripts(devices, timeout=setting.timeout):
        number, name = scripts[path]
        status = status_of(exit_name, subjects[number].record, output)
        # a program that raises under a setting, or ends in another way, does not show that the discrepancy vanishes
        subjects[number].tried[name] = "failed" if status == GONE and exit_name != "EXIT 0" else status
        if progress:
            progress.done(str(path))


def _with(device: Device, name: str) -> Device:
    """The device whose environment variables the program needs at its start, under a further variant.

    XLA reads its flags when it first compiles, so that the program sets them in time by itself.
    """
    return device if not name or split(name)[0] in _BY_PROGRAM else replace(device, variants=(*device.variants, name))
