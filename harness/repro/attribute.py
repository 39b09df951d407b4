"""Attribute: find the setting of TensorFlow on which a discrepancy depends, by its program with and without it.

A setting is a variant of the device. The program of the discrepancy runs once as it is, and must show it; then under
each variant that can matter in its mode. Where a variant that turns off all passes of a kind makes it vanish, the
passes are turned off one after the other, until it vanishes again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tf_opdiff.harness.repro.attribution import NONE, Attribution
from tf_opdiff.harness.repro.discrepancy import Discrepancy, of_one_element
from tf_opdiff.harness.repro.function_source import Unwritable
from tf_opdiff.harness.repro.outcome import status_of
from tf_opdiff.harness.repro.reproduce import Setting, write
from tf_opdiff.harness.repro.run_scripts import run_scripts
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.rewrites import ALL, HLO_PASSES, REWRITERS
from tf_opdiff.harness.spec.variant import VARIANTS, split
from tf_opdiff.harness.store.record import Record
from tf_opdiff.harness.system.progress import Progress

_REWRITERS, _PASSES = f"norewriter={ALL}", f"nohlo={ALL}"
#: A variant that turns off all passes of a kind → the variants that turn off one.
_SINGLE = {
    _REWRITERS: tuple(f"norewriter={name}" for name in REWRITERS),
    _PASSES: tuple(f"nohlo={name}" for name in HLO_PASSES),
}
#: Mode → the variants that can matter there. XLA compiles what Grappler would rewrite as it is.
_BY_MODE = {
    "eager": ("noonednn", "deterministic"),
    "function": ("noonednn", "deterministic", _REWRITERS),
    "graph": ("noonednn", "deterministic", _REWRITERS),
    "xla": (_PASSES, "noexcess", "nofma"),
}
#: The variants that a program applies by itself; others set variables that TensorFlow reads when it is imported.
_BY_PROGRAM = ("nohlo", "noexcess", "nofma", "norewriter", "deterministic")
#: The statuses of a program by which a discrepancy is there, or not.
_SHOWN, _GONE = "reproduced", "not reproduced"


def variants(plan: Plan) -> tuple[str, ...]:
    """The variants to try for a plan, those that turn off all passes of a kind first."""
    names = [name for name in _BY_MODE[plan.mode] if name not in plan.device.variants]
    types = {name: VARIANTS[split(name)[0]].types for name in names}
    return tuple(name for name in names if plan.device.type in types[name] or not types[name])


@dataclass
class _Subject:
    """A discrepancy's id and record, the form of it that its program shows, and the statuses so far."""

    id: str
    record: Record
    form: Discrepancy | None = None
    tried: dict[str, str] = field(default_factory=dict)

    @property
    def gone_under(self) -> list[str]:
        """The variants with which the discrepancy vanishes."""
        return [name for name, status in self.tried.items() if status == _GONE and name]

    @property
    def unresolved(self) -> list[str]:
        """The variants that turn off all passes of a kind, and make it vanish, where no single one is known to."""
        gone = self.gone_under
        return [name for name in gone if name in _SINGLE and not {*_SINGLE[name]} & {*gone}]

    @property
    def switch(self) -> str:
        """The variant that the discrepancy depends on, as in `Attribution`; one pass before all of them."""
        if self.tried.get("") != _SHOWN:
            return ""
        if gone := self.gone_under:
            return next((name for name in gone if name not in _SINGLE), gone[0])
        return NONE if len(self.tried) > 1 and {*self.tried.values()} == {_SHOWN} else ""

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
    subjects = [_Subject(*pair) for pair in records.items()]
    setting.folder.mkdir(parents=True, exist_ok=True)
    for alone in (True, False):
        forms = {i: _form(subject, setting, alone=alone) for i, subject in enumerate(subjects)}
        _run(subjects, {(i, ""): form for i, form in forms.items() if form}, setting, progress)
    kinds = {(i, name): form for i, form in _shown(subjects) for name in variants(form.plan)}
    _run(subjects, kinds, setting, progress)
    for place in range(max(map(len, _SINGLE.values()))):  # one after the other: the first ones explain most
        single = {
            (i, _SINGLE[name][place]): form
            for i, form in _shown(subjects)
            for name in subjects[i].unresolved
            if place < len(_SINGLE[name])
        }
        _run(subjects, single, setting, progress)
    return [subject.attribution() for subject in subjects]


def _form(subject: _Subject, setting: Setting, *, alone: bool) -> Discrepancy | None:
    """The discrepancy of one element alone, or of the whole case; None where that has been shown, or has no program."""
    if subject.tried.get("") == _SHOWN:
        return None
    try:
        whole = setting.discrepancy(subject.record)
    except Unwritable:
        return None
    return of_one_element(whole) if alone else whole


def _shown(subjects: Sequence[_Subject]) -> list[tuple[int, Discrepancy]]:
    """The numbers of the subjects whose program shows the discrepancy, and its form."""
    return [(i, s.form) for i, s in enumerate(subjects) if s.form is not None and s.tried.get("") == _SHOWN]


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
        subjects[number].tried[name] = "failed" if status == _GONE and exit_name != "EXIT 0" else status
        if progress:
            progress.done(str(path))


def _with(device: Device, name: str) -> Device:
    """The device whose environment variables the program needs at its start, under a further variant.

    XLA reads its flags when it first compiles, so that the program sets them in time by itself.
    """
    return device if not name or split(name)[0] in _BY_PROGRAM else replace(device, variants=(*device.variants, name))
