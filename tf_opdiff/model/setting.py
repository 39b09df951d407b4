"""Setting: the setting of TensorFlow on which a difference depends, by trials with and without it, on both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from tf_opdiff.harness.repro.trials.attribution import NONE
from tf_opdiff.harness.repro.trials.setting_trials import GONE, SHOWN, SINGLE, SettingTrials, variants
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.settings.variant import VARIANTS, check, split
from tf_opdiff.model.analysis import BASE, Analysis
from tf_opdiff.model.answers import tolerance
from tf_opdiff.model.answers.answer import Answer
from tf_opdiff.model.worker import RequestFailed, WorkerEnded
from tf_opdiff.reports.text.sentences import switch_words

#: Before a variant of the plan's own device: the trial runs on the device without it.
_WITHOUT = "without "
#: The status of a trial that ended in another way than the discrepancy does begins with this.
_FAILED = "failed"


@dataclass
class BothSides:
    """The trials of one difference: those of the plan, and those of the base plan, if none of the former matters.

    Attributes:
      plan: the trials with another setting under the plan.
      base: variant of the base plan's device → status of the trial.
    """

    plan: SettingTrials
    base: dict[str, str] = field(default_factory=dict)

    @property
    def switch(self) -> str:
        """The variant that the difference depends on; one of the base plan has the name of that plan with it."""
        return str(_changed(BASE, self.gone)) if self.gone else self.plan.switch

    @property
    def gone(self) -> str:
        """The variant of the base plan's device under which the difference is gone; empty if there is none."""
        return next((name for name, status in self.base.items() if status == GONE), "")

    @property
    def failed(self) -> dict[str, str]:
        """Variant → why its trial failed."""
        every = {**self.plan.tried, **{f"{name} in {BASE}": status for name, status in self.base.items()}}
        return {name: status.partition(": ")[2] for name, status in every.items() if status.startswith(_FAILED)}


def with_setting(analysis: Analysis, plan: Plan, answer: Answer) -> Answer:
    """The answer with the setting on which the difference depends."""
    if not answer.differs:
        return answer
    if answer.in_trace:
        words = "none: the trace has the difference, before any rewriter, pass or kernel of the plan"
        return replace(answer, switch=NONE, setting=words)
    analysis.progress(f"{plan}: with and without settings")

    def status(under: Plan, base: Plan) -> str:
        analysis.progress(f"{under} against {base}")
        return _status(analysis, (under, base), answer)

    if answer.against == str(BASE):
        trials = both_sides(plan, status)
    else:  # nothing of a recording can be varied
        trials = BothSides(trials_of(plan, lambda under: status(under, BASE)))
    return replace(answer, switch=trials.switch, setting=_words(trials, plan))


def both_sides(plan: Plan, status: Callable[[Plan, Plan], str]) -> BothSides:
    """The trials of a difference, by a function that gives its status between two plans."""
    trials = BothSides(trials_of(plan, lambda under: status(under, BASE)))
    if trials.plan.shown and not trials.plan.gone_under:
        for name in variants(BASE):
            trials.base[name] = status(plan, _changed(BASE, name))
    return trials


def trials_of(plan: Plan, status: Callable[[Plan], str]) -> SettingTrials:
    """The trials of a difference under a plan, by a function that gives its status.

    At the end, the difference is tried once more on the device as it is: one that comes and goes depends on no setting.
    """
    trials = SettingTrials()

    def run(name: str) -> None:
        trials.tried[name] = status(_changed(plan, name))

    run("")
    if trials.shown:
        for name in _names(plan):
            run(name)
        for kind, name in ((kind, name) for kind, names in SINGLE.items() for name in names):
            if kind in trials.unresolved:
                run(name)
        run("")
    return trials


def _words(trials: BothSides, plan: Plan) -> str:
    """The setting in a line; what is known if it is not known."""
    switch = trials.switch
    failed = "".join(f"; the trial with {name} failed: {why}" for name, why in trials.failed.items())
    if switch == NONE:
        count = len(trials.plan.tried) - 1 + len(trials.base)
        return f"none of the {count} that were tried: a kernel or a lowering causes the difference{failed}"
    if not switch:
        if not trials.plan.shown:
            return "not known: the difference does not show again" + failed
        return f"not known: none of those that could be tried{failed}"
    name = switch.removeprefix(_WITHOUT)
    if gone := trials.gone:
        return f"{_about(gone)}: the difference is there against {BASE}, and not against {_changed(BASE, gone)}{failed}"
    about = _about(switch) if name == switch else VARIANTS[split(name)[0]].about
    return f"{about}: the difference is there on {plan.device}, and not on {under(plan.device, switch)}{failed}"


def _about(variant: str) -> str:
    return str(switch_words.short(variant))


def _changed(plan: Plan, name: str) -> Plan:
    return Plan(under(plan.device, name), plan.mode)


def under(device: Device, name: str) -> Device:
    """The device with a further variant, or without one of its own; the device as it is for an empty name."""
    if name.startswith(_WITHOUT):
        return replace(device, variants=tuple(v for v in device.variants if v != name.removeprefix(_WITHOUT)))
    return replace(device, variants=tuple(sorted(filter(None, (*device.variants, name)))))


def _names(plan: Plan) -> Iterator[str]:
    """The names of trials: without each variant of the device, then with each that can matter in the mode."""
    yield from (f"{_WITHOUT}{variant}" for variant in plan.device.variants)
    for name in variants(plan):
        try:
            check(under(plan.device, name).variants, plan.device.type)
        except ValueError:  # it contradicts a variant of the device
            continue
        yield name


def _status(analysis: Analysis, plans: tuple[Plan, Plan], answer: Answer) -> str:
    """Whether the difference of an answer is there between two plans: that of its ops, or that of the program."""
    try:
        if answer.kind in ("alone", "together"):
            return _of_ops(analysis, plans, answer)
        significant = any(result.significant for result in analysis.results(*plans))
    except (RequestFailed, WorkerEnded) as why:
        fails_as_before = answer.kind == "fails" and not analysis.recording.failure
        return SHOWN if fails_as_before else f"{_FAILED}: {_short(why)}"
    except RuntimeError as why:  # the device has no such setting
        return f"{_FAILED}: {_short(why)}"
    if answer.kind == "fails":  # eager mode fails, and the plan gives a value
        return SHOWN if analysis.recording.failure else GONE
    return SHOWN if significant else GONE


def _of_ops(analysis: Analysis, plans: tuple[Plan, Plan], answer: Answer) -> str:
    """Whether the ops of an answer differ between two plans.

    Raises:
      RequestFailed, WorkerEnded: a process ended.
      RuntimeError: a device has no such setting.
    """
    plan, base = plans
    number, others = answer.ops[0], {}
    if base != BASE:
        with analysis.replayer(base, answer.step) as worker:
            others = worker.ask("values", answer.ops)
    failed_before = bool(answer.reports[number].failure)
    with analysis.replayer(plan, answer.step) as worker:
        if answer.kind == "together":
            comparisons = [comparison for _, comparison in worker.ask("together", answer.ops, others)]
        else:
            try:
                report = worker.ask("replay", number, others)
            except WorkerEnded as how:
                return SHOWN if failed_before else f"{_FAILED}: {_short(how)}"
            if report.failure:
                return SHOWN if failed_before else f"{_FAILED}: {_short(report.failure)}"
            comparisons = report.comparisons
    return SHOWN if any(map(tolerance.serious, comparisons)) else GONE


def _short(why: object) -> str:
    return " ".join(str(why).split())[:120]
