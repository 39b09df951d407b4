"""Coverage: the verb that prints the ops, dtypes, modes and cases of every spec."""

from __future__ import annotations

import argparse

from tf_opdiff.harness.paths import SUITES
from tf_opdiff.harness.spec.catalog import Catalog


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds none."""


def main(options: argparse.Namespace) -> int:
    """Prints a line for each spec and for each of its attributes, and their number; 0."""
    catalog = Catalog.load(SUITES)
    families = {item.spec.name: item.suite for item in catalog.items}
    for name, spec in catalog.specs.items():
        ops = sorted({op for mode in spec.modes for op in spec.ops_in(mode)})
        print(f"{families[name]:14} {name:34} {';'.join(ops) or '-':30} {len(spec.dtypes):2} dtypes", end=" ")
        print(f"{len(spec.cases()):4} cases  {' '.join(spec.modes)}{'  with gradient' if spec.vjp else ''}")
        for label, keywords in spec.attrs.items():
            written = ", ".join(f"{name}={value!r}" for name, value in keywords.items())
            print(f"{'':14} {'':34} attrs {label}: {written or 'no keyword arguments'}")
    print(f"{len(catalog.specs)} specs, {len(catalog.items)} items, {len(catalog.cases)} cases")
    return 0
