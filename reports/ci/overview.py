"""Overview: a night's groups of runs as a table in Markdown and on a page, and the night's exit status."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tf_opdiff.reports.ci.jobs import Job
from tf_opdiff.reports.pages.template import render
from tf_opdiff.reports.text.sentences.markdown import code, escape, table

#: The heads of the columns that `cells` fills.
HEADS = ("runs", "TensorFlow", "devices", "state", "since last night", "result")


@dataclass
class Group:
    """Runs that are merged: of one TensorFlow, on machines that the matrix merges.

    Attributes:
      name: the group's name.
      jobs: the jobs of its runs.
      faults: the errors of its jobs.
      run: the directory of the merged run, within the group's directory.
      status: the exit status of the merged run; 3 if a job has no run.
      worse: whether something got worse; None without a run to compare with.
      says: the state of the merged run in words.
      counts: how many records have each verdict.
      tf: the version of TensorFlow.
      devices: the devices of the merged run.
    """

    name: str
    jobs: list[Job]
    faults: list[str] = field(default_factory=list)
    run: str = ""
    status: int = 3
    worse: bool | None = None
    says: str = "no run"
    counts: dict[str, int] = field(default_factory=dict)
    tf: str = ""
    devices: list[str] = field(default_factory=list)

    @property
    def may_fail(self) -> bool:
        return all(job.may_fail for job in self.jobs)

    @property
    def state(self) -> str:
        """`clean`, `discrepancies` or `fault`."""
        return {0: "clean", 1: "discrepancies"}.get(self.status, "fault")


def status(groups: Iterable[Group], faults: Sequence[str]) -> int:
    """The night's exit status: 3 with a fault, 1 with discrepancies or if something got worse, else 0.

    Groups that are allowed to fail don't count.
    """
    counting = [group for group in groups if not group.may_fail]
    if faults or any(group.state == "fault" for group in counting):
        return 3
    return int(any(group.status or group.worse for group in counting))


def markdown(groups: Sequence[Group], faults: Sequence[str], out: Path) -> str:
    """The night in Markdown: a line for each group, the faults, and the changes since last night."""
    lines = ["# tf-opdiff: the night", "", *(f"- **Fault**: {escape(text)}" for text in faults), ""]
    lines += [*table(list(HEADS), [[escape(cell) for cell in cells(group)] for group in groups]), ""]
    for group in groups:
        changes = out / group.name / "diff.md"
        lines += [f"- {code(group.name)}: **fault**: {escape(text, 500)}" for text in group.faults]
        if changes.exists() and group.worse:
            lines += ["", f"## {escape(group.name)}", "", changes.read_text().replace("\n#", "\n###").lstrip("# ")]
    return "\n".join(lines) + "\n"


def cells(group: Group) -> list[str]:
    """A group's cells: its name, TensorFlow, devices, state, change, and the result of its run."""
    changed = {None: "nothing to compare with", True: "worse", False: "nothing got worse"}[group.worse]
    state = f"{group.state}{', allowed to fail' if group.may_fail else ''}"
    return [group.name, group.tf, " ".join(group.devices), state, changed, group.says]


def html(groups: Sequence[Group], faults: Sequence[str], run: str, out: Path) -> str:
    """The page of the night, without scripts; it links to the pages of the groups."""
    links = {}
    for group in groups:
        paths = {"report": f"{group.run}/index.html", "changes": "diff.html", "history": "history.html"}
        links[group.name] = {
            n: f"{group.name}/{path}" for n, path in paths.items() if (out / group.name / path).exists()
        }
    exit_status = status(groups, faults)
    failing = sum(bool(group.status or group.worse) for group in groups)
    text = f"{failing} of {len(groups)} runs differ, got worse or are at fault." if failing else "All clean."
    text = "The night itself is at fault." if faults and not failing else text
    return render(
        "night.html",
        state={"text": text, "failing": exit_status == 1, "partial": exit_status == 3},
        heads=HEADS,
        groups=groups,
        cells=cells,
        links=links,
        faults=faults,
        run=run,
    )
