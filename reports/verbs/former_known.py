"""Former known: prints known failures of the former format, `[[cause]]` and `[[entry]]` tables, in that of today.

`python -m tf_opdiff.reports.verbs.former_known PATH > known.toml`, of a file or of a folder of such files. Comments
are lost.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_opdiff.harness.judge.known_failures import known_files
from tf_opdiff.harness.system.terminal import safe
from tf_opdiff.harness.system.text_file import read_toml
from tf_opdiff.reports.analysis.known_failures import known_line
from tf_opdiff.reports.data.run_data import files


def converted(tables: Sequence[Mapping[str, Any]]) -> str:
    """The text of a file of known failures.

    Args:
      tables: the contents of the former files.

    Raises:
      ValueError: a cause has no id, or an entry names no cause of these files.
    """
    causes = {cause.get("id", ""): {**cause, "entries": []} for table in tables for cause in table.get("cause", [])}
    for table in tables:
        for number, entry in enumerate(table.get("entry", []), 1):
            cause = entry.get("cause", "")
            if not cause or cause not in causes:
                raise ValueError(f"entry {number}: expected the id of a cause in these files, got {cause!r}")
            causes[cause]["entries"].append({name: value for name, value in entry.items() if name != "cause"})
    return "\n\n".join(_cause(id, fields) for id, fields in sorted(causes.items())) + "\n"


def _cause(id: str, fields: Mapping[str, Any]) -> str:
    head = id if re.fullmatch(r"[\w-]+", id, re.ASCII) else known_line.toml(id)
    joined = {name: value for name, value in fields.items() if name not in ("id", "entries", "severity_reason")}
    if "severity_reason" in fields:
        joined["severity"] = f"{fields.get('severity', '')}: {fields['severity_reason']}"
    own = [f"{name} = {known_line.toml(v)}" for name, v in joined.items()]
    return "\n".join([f"[cause.{head}]", *own, known_line.entries(map(known_line.entry, fields["entries"]))])


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the known failures; returns the exit status: 0, or 4 if a file is malformed."""
    parser = argparse.ArgumentParser(prog="python -m tf_opdiff.reports.verbs.former_known", description=__doc__)
    parser.add_argument("path", type=Path, metavar="PATH", help="a file of the former format, or a folder of them")
    options = parser.parse_args(arguments)
    try:
        text = converted([read_toml(path, name) for name, path in known_files.files(options.path).items()])
    except (ValueError, OSError) as error:
        print(f"{parser.prog}: {safe(str(error))}", file=sys.stderr)
        return 4
    files.show(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
