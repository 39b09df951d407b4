"""Verbs: the verbs of the command line, and who needs them."""

from __future__ import annotations

from typing import NamedTuple


class Verb(NamedTuple):
    """A verb: its help, and the module with its `add_options(parser)` and `main(options)`, imported when it is used."""

    help: str
    module: str


VERBS = {
    "check": Verb(
        "Runs a callable of one's own on every device and in every mode, and compares the results.",
        "tf_opdiff.checking.command",
    ),
    "coverage": Verb(
        "Prints which raw ops with kernels for a CPU, and a GPU or XLA, a run has covered, and what the others lack.",
        "tf_opdiff.reports.verbs.coverage",
    ),
    "completion": Verb("Prints a script by which a shell completes verbs and options.", "tf_opdiff.completion"),
    "devices": Verb("Prints the devices that TensorFlow lists on this machine.", "tf_opdiff.harness.run.list_devices"),
    "discover": Verb(
        "Searches for programs that differ between modes, shrinks them, and says which are known.",
        "tf_opdiff.discover.command",
    ),
    "rejudge": Verb(
        "Judges the observations of a run again, by the known failures and budgets of today.",
        "tf_opdiff.harness.run.rejudge",
    ),
    "repro": Verb(
        "Runs one case; prints its inputs, the expected results and what came.", "tf_opdiff.harness.run.one_case"
    ),
    "score": Verb(
        "Prints killed/possible mutants for every spec; fails where one is alive.",
        "tf_opdiff.harness.judge.planted_faults.mutation",
    ),
    "sweep": Verb("Runs a spec on every bit pattern.", "tf_opdiff.harness.sweep.command"),
    "atlas": Verb(
        "Adds finished sweeps to the atlas; writes its document and the ceilings.", "tf_opdiff.reports.verbs.atlas"
    ),
    "campaign": Verb(
        "Runs items on many machines with Ray; takes the options of pytest, exits as a run does.",
        "tf_opdiff.harness.run.campaigns.campaign_command",
    ),
    "node": Verb(
        "Starts Ray on this machine, as the head of a cluster or as one of its nodes.",
        "tf_opdiff.harness.run.campaigns.node",
    ),
    "record": Verb(
        "Stores what a run observed on its devices, to compare other devices with: --device NAME@TENSORFLOW.",
        "tf_opdiff.harness.store.recordings.record_devices",
    ),
    "rebase": Verb(
        "Writes recordings again, with the same contents: whole, or without what another recording has as well.",
        "tf_opdiff.harness.store.recordings.rebase",
    ),
    "merge": Verb(
        "Merges several runs into one and compares their devices; exits as a run does.",
        "tf_opdiff.harness.run.merge_runs",
    ),
    "claims": Verb("Prints the verdicts of a run on claims.", "tf_opdiff.reports.verbs.claims"),
    "table": Verb(
        "Prints or writes a table of a run's records: by op, plan, kind, and more.", "tf_opdiff.reports.verbs.table"
    ),
    "diff": Verb("Prints the changes between two runs.", "tf_opdiff.reports.verbs.diff"),
    "history": Verb(
        "Shows the verdicts of a folder of runs over time: what changed, what is flaky.",
        "tf_opdiff.reports.verbs.history",
    ),
    "issues": Verb(
        "Opens, updates and closes an issue on GitHub for each cause of failures in runs.",
        "tf_opdiff.reports.verbs.issues",
    ),
    "matrix": Verb("Prints the jobs of a night as JSON, or runs one.", "tf_opdiff.reports.verbs.matrix"),
    "model": Verb(
        "Finds the first op of a function, a Keras model or a SavedModel that differs between modes or devices.",
        "tf_opdiff.model.command",
    ),
    "night": Verb(
        "Merges the runs of a night's jobs, compares them with last night's, and writes the pages.", "tf_opdiff.night"
    ),
    "switches": Verb(
        "Finds the setting of TensorFlow on which each discrepancy of a run depends, or that none does.",
        "tf_opdiff.reports.verbs.switches",
    ),
    "suggest": Verb(
        "Writes known failures for failures of a run, and finds entries that are spent.",
        "tf_opdiff.reports.verbs.suggest",
    ),
}


#: The verbs by who needs them, for the help.
GROUPS = {
    "for everyone": (
        "check",
        "model",
        "discover",
        "repro",
        "table",
        "diff",
        "history",
        "claims",
        "coverage",
        "devices",
        "completion",
    ),
    "for vendors of devices and runtimes": (
        *("record", "merge", "rebase", "rejudge", "suggest", "switches", "score", "sweep"),
    ),
    "for maintainers of a fleet or of this project": ("atlas", "campaign", "issues", "matrix", "night", "node"),
}
