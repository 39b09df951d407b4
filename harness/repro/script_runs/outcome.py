"""Outcome: the outcome of a finding's script."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tf_opdiff.harness.spec.kinds import KIND, NO_ANSWER
from tf_opdiff.harness.store.records.record import Record

#: `reproduced`: the script showed the discrepancy. `reproduced earlier`: it did so in an earlier run, and did not run
#: again. `not reproduced`: it ran and showed none. `no script`: none can be written. `failed`: it ended in another way.
#: `elsewhere`: it did not run, because the device is not on this machine.
STATUSES = ("reproduced", "reproduced earlier", "not reproduced", "no script", "failed", "elsewhere")
#: Statuses after which no other script of the finding is tried.
FINAL = ("reproduced", "reproduced earlier", "no script", "elsewhere")


@dataclass(frozen=True)
class Outcome:
    """The outcome of a finding's script.

    Attributes:
      status: one of `STATUSES`.
      script: the path of the script in the run directory.
      output: the script's output, shortened.
      points: inputs and errors of the elements of the whole case; see `harness.judge.differences.error_points`.
      marked: the points of the simplest and of the worst element.
      why: why no program shows the finding; empty if one does, or did not run.
      run, date: the earlier run that showed the discrepancy, and when; empty unless the status is `reproduced earlier`.
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
    why: str = ""


#: How a process ended → the words for it; other ends have no better words than their names.
_ENDS = {
    "EXIT 70": "an exception that the program does not expect",
    "SIGABRT": "SIGABRT: TensorFlow aborted the process, as after a failed CHECK",
    "SIGFPE": "SIGFPE: the process crashed by an integer division",
    "SIGILL": "SIGILL: the process crashed by an instruction that the processor lacks",
    "SIGKILL": "SIGKILL: the process was killed, as for lack of memory",
    "SIGSEGV": "SIGSEGV: the process crashed by a wrong memory access",
    "TIMEOUT": "TIMEOUT: the process did not end in time",
}
#: The signal or the time-out that ended a process, at the end of a record's `got` or `want`.
_END = re.compile(r"(?:^|\s)(SIG[A-Z]+|TIMEOUT)$")
#: The first printed word of a script whose own plan has given a result.
GOT = "got "
#: The line of a script whose plan, or the one it is compared with, raised an error in place of a result.
_RAISED = re.compile(r"^(got|want) +[A-Za-z_]\w*: ", re.MULTILINE)


def end_words(exit_name: str) -> str:
    """How a process ended, in words, between brackets."""
    return f"[{_ENDS.get(exit_name, exit_name)}]"


def end_of_process(text: str) -> str:
    """The signal or time-out by which a plan ended its process, by the `got` or `want` of a record; empty for none."""
    match = _END.search(text)
    return match[1] if match else ""


def status_of(exit_name: str, record: Record, output: str = "") -> str:
    """The status of a script that ended so, after this output.

    A crash must be the same crash as that of the record, and a hang must time out. An error is not the discrepancy of
    two results: a program of one element may have refused it. Where the plan that the record is
    compared with ends the process, the script must end so too, after the record's own plan gave its result.
    """
    if record.kind in NO_ANSWER:
        return "reproduced" if exit_name in record.got else "not reproduced"
    if record.against != "numpy" and (end := end_of_process(record.want)):
        own = any(line.startswith(GOT) for line in output.splitlines())
        return "reproduced" if exit_name == end and own else "not reproduced"
    if exit_name == "EXIT 1" and record.kind in KIND and KIND[record.kind].of_results and _RAISED.search(output):
        return "not reproduced"
    return {"EXIT 1": "reproduced", "EXIT 0": "not reproduced"}.get(exit_name, "failed")
