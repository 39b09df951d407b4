"""Overview: a night's groups of runs in a table, as Markdown and as a page, and how the night ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tf_opdiff.reports.ci.matrix import Job
from tf_opdiff.reports.text.markdown import code, escape, table

#: What `cells` gives of a group.
HEADS = ("runs", "TensorFlow", "devices", "state", "since last night", "how it stands")


@dataclass
class Group:
    """Runs that are merged: of one TensorFlow, on machines that the matrix puts together.

    `run` is the merged run's directory within the group's own; `status` its exit status, 3 where a job left no run;
    `faults` says what went wrong. `worse` is None where there was nothing to compare with.
    """

    name: str
    jobs: list[Job]
    faults: list[str] = field(default_factory=list)
    run: str = ""
    status: int = 3
    worse: bool | None = None
    says: str = "there is no run"
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
    """How the night ends: 3 with a fault, 1 with discrepancies or where something got worse, else 0.

    Groups that are allowed to fail don't count.
    """
    bound = [group for group in groups if not group.may_fail]
    if faults or any(group.state == "fault" for group in bound):
        return 3
    return int(any(group.status or group.worse for group in bound))


def markdown(groups: Sequence[Group], faults: Sequence[str], out: Path) -> str:
    """The night in Markdown: a line a group, what is at fault, and what changed in each since last night."""
    lines = ["# tf-opdiff: the night", "", *(f"- **Fault**: {escape(text)}" for text in faults), ""]
    lines += [*table(list(HEADS), [[escape(cell) for cell in cells(group)] for group in groups]), ""]
    for group in groups:
        changes = out / group.name / "diff.md"
        lines += [f"- {code(group.name)}: **fault**: {escape(text, 500)}" for text in group.faults]
        if changes.exists() and group.worse:
            lines += ["", f"## {escape(group.name)}", "", changes.read_text().replace("\n#", "\n###").lstrip("# ")]
    return "\n".join(lines) + "\n"


def cells(group: Group) -> list[str]:
    """A group's line: its name, TensorFlow, devices, state, change, and how its run stands."""
    changed = {None: "nothing to compare with", True: "worse", False: "nothing got worse"}[group.worse]
    state = f"{group.state}{', allowed to fail' if group.may_fail else ''}"
    return [group.name, group.tf, " ".join(group.devices), state, changed, group.says]


def html(groups: Sequence[Group], faults: Sequence[str], run: str, out: Path) -> str:
    """The page of the night, which links the groups' own; no script runs in it."""
    from tf_opdiff.reports.pages import run_page

    links = {}
    for group in groups:
        of = {"report": f"{group.run}/index.html", "changes": "diff.html", "history": "history.html"}
        links[group.name] = {n: f"{group.name}/{path}" for n, path in of.items() if (out / group.name / path).exists()}
    ends = status(groups, faults)
    failing = sum(bool(group.status or group.worse) for group in groups)
    text = f"{failing} of {len(groups)} runs differ, got worse or are at fault." if failing else "All clean."
    text = "The night itself is at fault." if faults and not failing else text
    return (
        run_page.environment()
        .get_template("night.html")
        .render(
            says={"text": text, "failing": ends == 1, "partial": ends == 3},
            heads=HEADS,
            groups=groups,
            cells=cells,
            links=links,
            faults=faults,
            run=run,
            style=run_page.style(),
            policy=run_page.POLICY,
        )
    )
