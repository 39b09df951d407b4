"""Tested: the sentences about what a run tested, what it did not test, and whether it is sound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from tf_opdiff.harness.judge.differences.detail import NOT_SEEN, PROBABLE
from tf_opdiff.harness.spec.plan import MODES, type_of
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.data.run_data import run_environment
from tf_opdiff.reports.text.counted import many
from tf_opdiff.reports.text.sentences import sentence

#: Verdicts of records in which nothing of TensorFlow was compared.
_NOT_COMPARED = ("unavailable", "error")


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: `eager, function and xla`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def place(info: RunInfo) -> str:
    """The version of TensorFlow and the devices of a run: `TensorFlow 2.21.0 on the CPU`."""
    devices = {name: about for name, about in info.devices.items() if run_environment.requested(about)}
    names = [name + _other_version(about, info) for name, about in devices.items()]
    where = listed(["the CPU" if name == "cpu" else name for name in names])
    return f"TensorFlow {info.tf or 'of unknown version'}" + (f" on {where}" if where else "")


def _other_version(about: Mapping[str, object], info: RunInfo) -> str:
    """The version of TensorFlow of a remote device, in brackets, if it is another one than that of the run."""
    version = about.get("tensorflow", info.tf) if "server" in about else info.tf
    return "" if version == info.tf else f" (TensorFlow {version})"


def tested(records: pd.DataFrame, info: RunInfo) -> str:
    """The ops, specs, cases, devices and modes that a run tested, in one sentence."""
    ran = records.loc[~records["verdict"].isin(_NOT_COMPARED), ["raw_op", "spec", "case", "mode"]]
    if not len(ran):
        return "Nothing was compared."
    ops = set(";".join(ran["raw_op"].astype(str).unique()).split(";")) - {""}
    amounts = f"{many(len(ops), 'op')} of TensorFlow, by {many(ran['spec'].nunique(), 'spec')}"
    modes = [mode for mode in info.modes if (ran["mode"].astype(str) == mode).any()]
    in_modes = f", in {len(modes)} {'mode' if len(modes) == 1 else 'modes'} ({', '.join(modes)})" if modes else ""
    cases, comparisons = many(ran["case"].nunique(), "case"), many(len(ran), "comparison")
    return f"Tested: {amounts} with {cases}, with {place(info)}{in_modes}: {comparisons}."


def untested(records: pd.DataFrame, info: RunInfo) -> list[str]:
    """What a run did not test, one phrase each; empty if it left nothing out that this machine has."""
    phrases = [] if _has_gpu(info) else ["no GPU, because this machine has none that TensorFlow lists"]
    idle = [name for name, about in info.devices.items() if not run_environment.requested(about)]
    phrases += [f"{listed(idle)}, which {'was' if len(idle) == 1 else 'were'} not requested"] if idle else []
    ran = set(records.loc[records["verdict"] != "unavailable", "device"].astype(str))
    requested = [name for name, about in info.devices.items() if run_environment.requested(about)]
    phrases += [f"{name}, which was requested but gave no result" for name in requested if name not in ran]
    modes = [mode for mode in MODES if mode not in info.modes]
    phrases += [f"the {'mode' if len(modes) == 1 else 'modes'} {listed(modes)}"] if modes and info.modes else []
    if items := len(info.deselected):
        phrases.append(f"{many(items, 'item')} that this selection (tier {info.tier}) leaves out")
    if lost := len(info.not_run):
        phrases.append(f"{many(lost, 'planned cell')} without a result")
    if impossible := int((records["verdict"] == "unavailable").sum()):
        phrases.append(
            f"{many(impossible, 'comparison')} for which TensorFlow has no kernel on that device in that dtype"
        )
    return phrases


def soundness(info: RunInfo, counts: Mapping[str, int]) -> str:
    """Whether the run can be trusted, in one sentence; if not, why."""
    faults = sentence.shortfalls(info)
    faults += [f"the suite itself is at fault in {many(n, 'record')}"] if (n := counts["error"]) else []
    faults += [f"{many(n, 'record')} no longer fail as a known failure says"] if (n := counts["stale"]) else []
    if faults:
        return f"The run is not sound: {'; '.join(faults)}."
    if not sum(counts.values()):
        return "There are no records."
    return (
        f"The run is sound: all {info.planned:,} planned cells have a result, the tests themselves made no error, each "
        "known failure that was tested still fails as recorded (none is stale), and no file is damaged."
    )


def hidden(records: pd.DataFrame) -> str:
    """How many faults that the run planted besides known failures it would not have noticed; empty without plants."""
    planted = int(records["planted"].sum()) if "planted" in records else 0
    if not planted:
        return ""
    names = records["unseen"].astype(str)
    unseen = int(names[names != ""].str.count(";").add(1).sum())
    outcome = "all of them would be noticed"
    if unseen:
        outcome = f"{unseen:,} of them ({100 * unseen / planted:.1f} %) would not be noticed"
    return f"The run planted {many(planted, 'fault')} in results that are known to fail: {outcome}."


def other_processor(records: pd.DataFrame) -> str:
    """How the known failures held on a processor that nobody measured; empty on one that was measured."""
    details = records["detail"].astype(str)
    absent, probable = (details.str.contains(words, regex=False) for words in (NOT_SEEN, PROBABLE))
    devices = ", ".join(sorted({str(device) for device in records["device"][absent | probable]}))
    if not devices:
        return ""
    return (
        f"Nobody has measured the known failures on a processor with the traits of {devices}. "
        f"Records that fail on the measured ones and match here: {int(absent.sum()):,}. "
        f"Records that fail in the region of a known cause, which is probably theirs: {int(probable.sum()):,}."
    )


def _has_gpu(info: RunInfo) -> bool:
    """Whether the machine of a run has a GPU; a recorded one counts."""
    return any(type_of(str(about.get("device") or name)) == "gpu" for name, about in info.devices.items())
