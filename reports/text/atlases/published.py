"""Published: the figures of others about the same functions, and those of an atlas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tf_opdiff.harness.spec.modes import MODE_FAMILIES
from tf_opdiff.harness.system.text_file import read_toml
from tf_opdiff.reports.text.sentences.markdown import code, escape, table
from tf_opdiff.reports.text.sentences.sentence import number

#: The text of the largest error of each op's values in an atlas, by op, and by dtype and mode.
Errors = Mapping[str, Mapping[tuple[str, str], str]]
_DTYPES = ("float16", "bfloat16", "float32", "float64")
_STATED = ("function", "dtype", "library", "largest", "condition", "source")


def published(path: Path, atlases: Mapping[str, Errors]) -> list[str]:
    """The lines about the file `path`, which explains its own form; `atlases` has the errors of each atlas by name.

    Raises:
      ValueError: the file is not TOML.
    """
    figures = read_toml(path)
    libraries = figures.get("measured", {})
    lines = ["## Figures that others publish", ""]
    lines += ["Largest errors that others measured for the same functions, or that a standard allows, beside those of"]
    lines += ["the atlas. A ≥ marks a sample of the inputs.", ""]
    for dtype in _DTYPES:
        lines += _of_dtype(dtype, {name: one for name, one in libraries.items() if dtype in one}, atlases)
    lines += [line for one in libraries.values() for line in _source(one)]
    stated = [[escape(one.get(name, "")) for name in _STATED] for one in figures.get("stated", ())]
    if stated:
        heads = ["function", "dtype", "library", "largest error, ULP", "condition", "source"]
        lines += ["", "What the source code of a library says of its own functions:", "", *table(heads, stated)]
    return [*lines, ""]


def _of_dtype(dtype: str, libraries: Mapping[str, Any], atlases: Mapping[str, Errors]) -> Iterator[str]:
    """A table of a dtype, with a line for each function that one of the libraries has."""
    functions = sorted({function for one in libraries.values() for function in one[dtype]})
    if not functions:
        return
    places = [(name, mode) for name, errors in atlases.items() for mode in MODE_FAMILIES if _has(errors, dtype, mode)]
    heads = [
        *(f"{code(name)}, {mode}" for name, mode in places),
        *(escape(one["name"]) for one in libraries.values()),
    ]
    lines = [
        [
            function,
            *(atlases[name].get(function, {}).get((dtype, mode), "") for name, mode in places),
            *(_figure(one, dtype, function) for one in libraries.values()),
        ]
        for function in functions
    ]
    yield from (f"### {dtype}", "", *table(["function", *heads], lines), "")


def _has(errors: Errors, dtype: str, mode: str) -> bool:
    """Whether an atlas has errors of a dtype in a mode."""
    return any((dtype, mode) in one for one in errors.values())


def _figure(library: Mapping[str, Any], dtype: str, function: str) -> str:
    """The text of a library's figure; empty if it has none."""
    if function not in library[dtype]:
        return ""
    sampled = dtype in library.get("sampled", ()) and not library.get("required")
    return ("≥ " if sampled else "≤ " if library.get("required") else "") + number(float(library[dtype][function]))


def _source(library: Mapping[str, Any]) -> list[str]:
    """A line about the origin and the unit of a library's figures."""
    name, title, read, unit = (escape(library[key]) for key in ("name", "title", "read", "unit"))
    return [f"- {name}: [{title}]({library['link']}), {read}. Unit: {unit}."]
