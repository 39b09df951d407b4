"""Generated: the parts of tox.ini and of the documents that are written from the matrix."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tf_opdiff.reports.ci.matrix import Matrix, group_of
from tf_opdiff.reports.text.sentences.markdown import table

_BEGIN, _END = "matrix:begin {}", "matrix:end"


def parts(matrix: Matrix) -> dict[str, dict[str, str]]:
    """The generated texts: for each file of the repository the text of each part, by the part's name."""
    by_python: dict[tuple[str, ...], list[str]] = {}
    for tf in matrix.tensorflow:
        by_python.setdefault(tuple(tf.python), []).append(tf.name)
    envs = [f"    py{_braced([p.replace('.', '') for p in pys])}-{_braced(tfs)}" for pys, tfs in by_python.items()]
    deps = [f"    {tf.name}: {tf.requires}" for tf in matrix.tensorflow]
    cuda = [(tf.name, re.sub(r"^[\w.-]+", r"\g<0>[and-cuda]", tf.requires)) for tf in matrix.tensorflow]
    deps += [f"    {name}-cuda: {requires}" for name, requires in cuda]
    allowed = [f"    {tf.name}: true" for tf in matrix.tensorflow if tf.may_fail]
    versions, machines = [], []
    for tf in matrix.tensorflow:
        note = f"all on {tf.python[-1]}" + (", smoke on the others" if tf.python[1:] else "")
        note += "; allowed to fail" if tf.may_fail else ""
        versions.append([f"`{tf.requires}`", f"`{tf.name}`", ", ".join(tf.python), note])
    for m in matrix.machine:
        devices, when = ", ".join(f"`{d}`" for d in m.devices), "each night" if m.default else "on request"
        machines.append([m.name, f"`{', '.join(m.runs_on)}`", devices, str(m.shards), f"`TF-{group_of(m)}`", when])
    tables = {
        "versions": _table(["TensorFlow", "tox", "Pythons", "each night"], versions),
        "machines": _table(["machine", "runner", "devices", "shards", "merged into", "used"], machines),
    }
    tox = {"env_list": "\n".join(envs), "deps": "\n".join(deps), "ignore_outcome": "\n".join(allowed)}
    return {"tox.ini": tox, "docs/guides/nightly.md": tables}


def _braced(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else "{" + ",".join(words) + "}"


def _table(heads: list[str], rows: list[list[str]]) -> str:
    return "\n".join(["", *table(heads, rows), ""])


def written(text: str, wanted: dict[str, str]) -> str:
    """A file's text with its parts replaced; a part is between a line with `matrix:begin NAME` and `matrix:end`.

    Raises:
      ValueError: the file lacks these lines for a part, or has them more than once.
    """
    for name, part in wanted.items():
        begin = re.escape(_BEGIN.format(name))
        pattern = re.compile(rf"(^[^\n]*{begin}\b[^\n]*\n)(.*?)(^[^\n]*{_END}[^\n]*$)", re.MULTILINE | re.DOTALL)
        body = part + "\n" if part else ""
        text, n = pattern.subn(lambda m, body=body: m[1] + body + m[3], text)  # type: ignore[misc]
        if n != 1:
            raise ValueError(f"part {name}: expected one pair of lines {_BEGIN.format(name)} and {_END}, found {n}")
    return text
