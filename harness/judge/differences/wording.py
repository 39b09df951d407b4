"""Wording: numbers, distances and kinds of differences in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.harness.spec.kinds import KIND
from tf_opdiff.harness.store.records.element_index import index_text
from tf_opdiff.harness.store.records.record import Record

#: The largest distance that is written in ULPs; a larger one is written as a relative error.
MANY = 10_000


def pair(got: Any, rounded: Any, want: Any) -> tuple[str, str]:
    """An observed and a promised number as texts; different numbers have different texts.

    Args:
      got: a NumPy scalar.
      rounded: the promise in the dtype of `got`.
      want: the promise before rounding, which may be wider.
    """
    texts, exact = (str(got), str(rounded)), np.asarray(want)
    if texts[0] == texts[1] and exact.dtype != np.asarray(got).dtype and exact != got:
        texts = str(np.asarray(got).astype(exact.dtype)[()]), str(want)
    if texts[0] == texts[1] and _bits(got) != _bits(rounded):
        texts = f"{got} ({_bits(got)})", f"{rounded} ({_bits(rounded)})"
    return texts


def _bits(number: Any) -> str:
    return f"0x{np.asarray(number).tobytes()[::-1].hex()}"


def number(value: float) -> str:
    """A number as people read it: four digits, commas up to a million, `inf` as a word, a dash for NaN."""
    if math.isnan(value):
        return "–"
    if math.isinf(value) or (value == int(value) and abs(value) < 1e6) or 1e3 <= abs(value) < 1e6:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def distance(got: Any, want: Any, ulps: float, allowed: float) -> str:
    """The distance between a number and a promised one, both finite, in words.

    `ulps` is the distance in ULPs. If it exceeds `MANY`, the text has the relative error instead. `allowed` is the
    largest allowed distance in ULPs; NaN if it is unknown.
    """
    if ulps <= MANY:
        return f"{number(ulps)} ULP" + ("" if math.isnan(allowed) else f", {number(allowed)} allowed")
    came, promised = float(got), float(want)
    if not promised:
        return f"an absolute error of {abs(came):.3g}"
    if came and (came < 0) != (promised < 0):
        return "the wrong sign"
    ratio = came / promised
    if not ratio or 0.5 <= ratio <= 2:
        return f"a relative error of {abs(ratio - 1):.2g}"
    return f"{ratio:.3g} times the expected number"


def ulps_in(distance: str) -> float:
    """The ULPs in a text of `distance`; NaN if it has another measure."""
    ulps, unit, _ = distance.partition(" ULP")
    return float(ulps.replace(",", "")) if unit else math.nan


def left_out(count: int, distance: str) -> str:
    """The sentence about elements at the edge of the normal numbers that a comparison does not show."""
    differ = "1 more element differs" if count == 1 else f"{count} more elements differ"
    return f"{differ} next to the smallest normal number, by {distance} at worst."


def numbers(kind: str, given: str, got: str, want: str) -> str:
    """The numbers of one element: `input -0.5, got -0.0, want -1.0`; empty ones are left out."""
    words = KIND.get(kind, KIND["value"])
    came, promised = words.got.format(got) if got else "", words.want.format(want) if want else ""
    texts = (f"input {given}" if given else "", came, promised)
    return ", ".join(filter(None, texts))


def others(comparison: Comparison) -> str:
    """The kinds that occur besides the shown one, each with its simplest element, or else its worst."""
    texts = []
    for one in comparison.others:
        easy = one.simplest
        shown = (easy.index, easy.got, easy.want) if easy else (one.index, one.got, one.want)
        at = "" if shown[0] is None else f" at {index_text(shown[0])}"
        off = f" ({one.distance} at worst)" if one.distance else ""
        texts.append(f"Also {one.kind} in {one.count} of {one.size}{at}: {numbers(one.kind, '', *shown[1:])}{off}.")
    return " ".join(texts)


def values(row: Mapping[str, Any]) -> str:
    """The simplest element of a record; and the worst one, if it is another element and has a distance.

    `row` has the columns of a record. The text is empty if the record shows no value.
    """
    worst, off = numbers(*(row[name] for name in ("kind", "input", "got", "want"))), row["distance"]
    worst = _at(row["worst_index"], worst) + (f" ({off})" if off else "")
    if not row["example"] or row["example_index"] == row["worst_index"]:
        return worst
    simplest = _at(row["example_index"], row["example"])
    return f"{simplest}; worst {worst}" if off else simplest


def _at(index: str, text: str) -> str:
    return f"at {index}: {text}" if text and index else text


def kinds(shown: str, every: str) -> str:
    """The kinds of a record's elements, the shown one first: `nan, value`; `every` are all of them, `;`-joined."""
    return ", ".join(dict.fromkeys(filter(None, (shown, *every.split(";")))))


def against_itself(row: Mapping[str, Any]) -> str:
    """The difference in a record of a self-check, in words; empty for other records."""
    of_itself = row["kind"] in KIND and row["against"] == f"{row['device']}/{row['mode']}"
    return KIND[row["kind"]].itself if of_itself else ""


def sentence(record: Record) -> str:
    """A record in one line: its kind, its place, k of n, the simplest and the worst element with their numbers."""
    row, itself = vars(record), against_itself(vars(record))
    against = "" if itself else f" against {record.against}"
    parts = [f"{record.verdict}: {record.case} on {record.plan}{against},"]
    parts.append(f"{record.quantity}: {itself or kinds(record.kind, record.kinds) or 'no difference'}")
    if record.mismatched:
        parts.append(f"in {record.mismatched} of {record.size}")
    shown = values(row)
    if shown:
        parts[-1] += "" if shown.startswith("at [") else ":"
        parts.append(shown)
    return " ".join(parts) + (f". {record.detail[:300]}" if record.detail else "")
