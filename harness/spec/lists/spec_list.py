"""Spec list: the ops, dtypes, modes and cases of every spec, as text."""

from __future__ import annotations

from collections.abc import Iterator

from tf_opdiff.harness.spec.catalog import Catalog


def lines(catalog: Catalog) -> Iterator[str]:
    """A line for each spec and for each of its attributes, then their number."""
    families = {item.spec.name: item.suite for item in catalog.items}
    for name, spec in catalog.specs.items():
        ops = ";".join(sorted(spec.every_op)) or "-"
        gradient = "  with gradient" if spec.derivatives.vjp else ""
        yield (
            f"{families[name]:14} {name:34} {ops:30} {len(spec.dtypes):2} dtypes {len(spec.cases()):4} cases  "
            f"{' '.join(spec.modes)}{gradient}"
        )
        for label, keywords in spec.attrs.items():
            written = ", ".join(f"{name}={value!r}" for name, value in keywords.items())
            yield f"{'':14} {'':34} attrs {label}: {written or 'no keyword arguments'}"
    yield f"{len(catalog.specs)} specs, {len(catalog.items)} items, {len(catalog.cases)} cases"
