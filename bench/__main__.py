"""Runs all benchmarks or the named ones; writes the tables to docs/explanations/bench.md. Nothing passes or fails.

`python -m bench kernel-faults` and `python -m bench discover` are checks in place of benchmarks: see their modules.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from datetime import UTC, datetime
from importlib import import_module, metadata
from pathlib import Path

from tf_opdiff.harness.paths import ROOT

NAMES = (
    "overhead",
    "profile",
    "second",
    "garbage",
    "errors",
    "gradient",
    "sweep",
    "growth",
    "reports",
    "model",
    "plants",
)

#: Name → module of the checks that take options of their own and write no table.
CHECKS = {"discover": "bench.discover", "kernel-faults": "bench.kernel_faults"}


def table(rows: list[dict[str, object]]) -> str:
    """Rows of equal keys as a Markdown table; floats with three significant digits."""

    def text(value: object) -> str:
        return f"{value:.3g}" if isinstance(value, float) else str(value)

    heads = list(rows[0])
    lines = [heads, ["---"] * len(heads), *([text(row[h]) for h in heads] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def section(name: str) -> str:
    """One benchmark, run: its module's docstring and its table."""
    module = import_module(f"bench.measurements.{name}")
    about = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    packages = ", ".join(f"{p} {metadata.version(p)}" for p in ("tensorflow", "numpy"))
    day = datetime.now(UTC).date().isoformat()
    return f"## {name}\n\n{module.__doc__}\n{table(module.rows())}\n\n{about}, {packages}; {day}.\n"


def main() -> None:
    """Runs what the command line names."""
    if sys.argv[1:2] and sys.argv[1] in CHECKS:
        sys.exit(import_module(CHECKS[sys.argv[1]]).main(sys.argv[2:]))
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="*", help=f"{', '.join(NAMES)}; default: all")
    names = parser.parse_args().name or list(NAMES)
    for name in names:
        if name not in NAMES:
            parser.error(f"no benchmark {name!r}; there is {', '.join(NAMES)}")
    path = Path(ROOT, "docs", "explanations", "bench.md")
    there = path.read_text() if path.exists() else ""
    kept = {part.splitlines()[0]: f"## {part}" for part in there.split("\n## ")[1:]}
    for name in names:
        kept[name] = section(name)
        print(kept[name], flush=True)
        path.parent.mkdir(exist_ok=True)
        head = "# Benchmarks\n\nWritten by `make bench`. Compare ratios within one run: rates depend on the machine.\n"
        path.write_text("\n".join([head, *(kept[n].rstrip() + "\n" for n in NAMES if n in kept)]))


if __name__ == "__main__":
    main()
