"""Report: the groups of a search, as lines and as a file, with an issue and a draft of a known failure for each new."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version

from tf_opdiff.discover.group import ALIKE, KNOWN, NEW, REJECTED, UNSTABLE, CallGroup, Group
from tf_opdiff.discover.settling import script_of
from tf_opdiff.discover.state import State

_ISSUE = """# {title}

```python
{script}```

It printed:

```
{output}
```

Expected: both lines are equal, up to rounding. Setting by which the difference vanishes: {setting}.
TensorFlow {tf}.
"""
_DRAFT = """# A draft. Judge it as CONTRIBUTING.md says; write the reason; add its program to a spec:
#   {seed}
[cause.{id}]
title = "{title}"
severity = ""
reason = ""
measured = ""
defaults = {{dtype = "{dtype}", device = "", mode = "{mode}", kind = "{kind}", tf = "{tf}"}}
entries = [
    {{spec = "", quantity = "", where = ""}},
]
"""
_ABOUT = {
    NEW: "no known cause fits",
    ALIKE: "a known cause of similar programs may be theirs",
    KNOWN: "known causes fit",
    REJECTED: "rejected in rejected.toml",
    UNSTABLE: "a fresh process does not show them",
}


def lines(state: State, *, known: bool = False) -> Iterator[str]:
    """The summary and the groups; those that known causes explain only if `known`."""
    counts = state.counts
    yield (
        f"{counts['programs']} programs and {counts['calls']} calls in {state.seconds:.0f} s,"
        f" {counts['refused']} refused by eager mode, {counts['ended']} processes ended,"
        f" {counts['failed']} can't be judged;"
        f" {len(state.behaviours)} behaviours (op, dtype, class of values, form)"
    )
    for name, about in _ABOUT.items():
        groups = _of(state, name)
        yield f"{len(groups)} groups {name}: {about}"
        for group in groups if known or name in (NEW, ALIKE) else ():
            yield f"  {group.id} ({counts[group.id]} times)"
            yield f"    {group.title}: {group.result}"
            if group.setting:
                yield f"    setting: {group.setting}"
            if group.causes or group.reason:
                yield f"    {group.reason or ', '.join(group.causes[:3])}"


def _of(state: State, name: str) -> Sequence[Group | CallGroup]:
    groups = [group for group in state.groups.values() if group.state == name]
    return sorted(groups, key=lambda group: (-state.counts[group.id], group.id))


def write_report(state: State) -> None:
    """Writes `report.md`; for each group that is new, `issue.md` and `known.toml` in a folder of its own."""
    parts = ["# Discovered differences\n", *(f"{line}  " for line in lines(state))]
    for group in (*_of(state, NEW), *_of(state, ALIKE)):
        if not isinstance(group, Group):
            continue
        folder = state.folder / group.id
        folder.mkdir(exist_ok=True)
        output = folder / "program.txt"
        shown = output.read_text("utf-8").partition("\n")[2].strip() if output.exists() else "not run"
        title, script, tf = group.title, script_of(group), version("tensorflow")
        setting = group.setting or "none was tried"
        issue = _ISSUE.format(title=title, script=script, output=shown, setting=setting, tf=tf)
        (folder / "issue.md").write_text(issue, "utf-8")
        (folder / "known.toml").write_text(_draft(group, title, tf), "utf-8")
        parts += [f"\n## {group.id}\n", f"{title}: {group.result}.\n", f"```python\n{script}```"]
    (state.folder / "report.md").write_text("\n".join(parts) + "\n", "utf-8")


def _draft(group: Group, title: str, tf: str) -> str:
    """A known failure to complete."""
    program = group.example.program
    seed = f"grad(lambda x: {program.root}, x)" if program.gradient else str(program.root)
    title = title.replace("\\", "\\\\").replace('"', '\\"')
    major, minor, *_ = tf.split(".")
    versions = f">={major}.{minor},<{major}.{int(minor) + 1}"
    dtype = program.dtypes[0]
    return _DRAFT.format(
        seed=seed, id=group.id, title=title, dtype=dtype, mode=group.mode, kind=group.kind, tf=versions
    )
