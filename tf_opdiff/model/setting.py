"""Setting: the setting of TensorFlow on which a difference of recorded ops depends, by replays with and without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tf_opdiff.harness.repro.attribution import NONE
from tf_opdiff.harness.repro.setting_trials import GONE, SHOWN, SINGLE, SettingTrials, variants
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.variant import VARIANTS, check, split
from tf_opdiff.model import tolerance
from tf_opdiff.model.analysis import Analysis
from tf_opdiff.model.answer import Answer
from tf_opdiff.model.worker import RequestFailed, WorkerEnded
from tf_opdiff.reports.text import switch_words

#: Before a variant of the plan's own device: the trial runs on the device without it.
_WITHOUT = "without "
#: The status of a trial that ended in another way than the discrepancy does.
_FAILED = "failed"


def with_setting(analysis: Analysis, plan: Plan, answer: Answer) -> Answer:
    """The answer with the setting on which the difference of the ops that it names depends."""
    if answer.kind not in ("alone", "together"):
        return answer
    analysis.progress(f"{plan}: {len(answer.ops)} ops with and without settings")
    trials = trials_of(plan, lambda under: _status(analysis, under, answer))
    return replace(answer, switch=trials.switch, setting=_words(trials, plan))


def trials_of(plan: Plan, status: Callable[[Plan], str]) -> SettingTrials:
    """The trials of a difference, by a function that gives its status under a plan.

    At the end, the difference is tried once more on the device as it is: one that comes and goes depends on no setting.
    """
    trials = SettingTrials()

    def run(name: str) -> None:
        trials.tried[name] = status(Plan(under(plan.device, name), plan.mode))

    run("")
    if trials.shown:
        for name in _names(plan):
            run(name)
        for kind, name in ((kind, name) for kind, names in SINGLE.items() for name in names):
            if kind in trials.unresolved:
                run(name)
        run("")
    return trials


def _words(trials: SettingTrials, plan: Plan) -> str:
    """The setting in a line; empty if it is not known."""
    switch = trials.switch
    if switch == NONE:
        return f"none of the {len(trials.tried) - 1} that were tried: a kernel or a lowering causes the difference"
    if not switch:
        return ""
    name = switch.removeprefix(_WITHOUT)
    about = switch_words.short(switch) if name == switch else VARIANTS[split(name)[0]].about
    return f"{about}: the difference is there on {plan.device}, and not on {under(plan.device, switch)}"


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


def _status(analysis: Analysis, plan: Plan, answer: Answer) -> str:
    """Whether the ops of an answer differ under a plan."""
    number = answer.ops[0]
    failed_before = bool(answer.reports[number].failure)
    try:
        with analysis.replayer(plan) as worker:
            if answer.kind == "together":
                comparisons = [comparison for _, comparison in worker.ask("together", answer.ops)]
                failure = ""
            else:
                report = worker.ask("replay", number)
                comparisons, failure = report.comparisons, report.failure
    except (RequestFailed, WorkerEnded) as how:
        comparisons, failure = [], str(how)
    except RuntimeError:  # the device has no such setting
        return _FAILED
    if failure:
        return SHOWN if failed_before else _FAILED
    return SHOWN if any(map(tolerance.serious, comparisons)) else GONE
