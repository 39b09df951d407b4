"""A text of any length in a run makes no page of its length, and the files of the run have the whole text."""

from __future__ import annotations

import random
import string
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from tf_opdiff import reports
from tf_opdiff.reports.tests.planted import synthetic
from tf_opdiff.reports.text.bounded import MOST, bounded, bounded_records

#: Characters of a text; no page of a small run is nearly as long, compressed or not.
LONG = 3_000_000
FIELDS = ("detail", "input", "got", "want", "example", "reason", "ran_on", "attrs", "distance")


def pages(run: Path) -> list[Path]:
    return [*run.glob("*.html"), *run.glob("ops/*.html"), run / "summary.md"]


@pytest.mark.parametrize("verdict", ["mismatch", "known"])
def test_a_text_of_megabytes_makes_no_page_of_megabytes(tmp_path: Path, verdict: str) -> None:
    draw = random.Random(3)
    text = "".join(draw.choices(string.ascii_letters, k=LONG))
    (row, *_) = synthetic.records([("s", "op")], ["cpu"], ["edges"])
    row = replace(row, verdict=verdict, kind="value", against="numpy", **dict.fromkeys(FIELDS, text))
    short = replace(row, case="short", **dict.fromkeys(FIELDS, "short"))
    info = synthetic.write(
        tmp_path, [row, short], faults=[text],
        not_run=[{"case": "other", "device": "cpu", "mode": "xla", "why": text}],
    )  # fmt: skip
    reports.write(tmp_path, info)
    sizes = {page.name: page.stat().st_size for page in pages(tmp_path)}
    assert max(sizes.values()) < LONG / 2, sizes
    shown = (tmp_path / "index.html").read_text()
    assert f"{text[:MOST]} … {LONG - MOST:,} more characters; the record has the whole" in shown
    assert reports.load(tmp_path)["got"].astype(str).tolist().count(text) == 1


def test_a_short_text_stays() -> None:
    assert bounded("x" * MOST) == "x" * MOST
    assert bounded("x" * (MOST + 1)) == "x" * MOST + " … 1 more characters; the record has the whole"
    frame = pd.DataFrame({"detail": ["a", "b"], "seconds": [1.0, 2.0]})
    assert bounded_records(frame) is frame


def test_columns_keep_their_dtypes_and_orders() -> None:
    long = "b" * (MOST + 5)
    reasons = pd.Categorical(["a", long], dtype=pd.CategoricalDtype([long, "a"], ordered=True))
    frame = pd.DataFrame({"reason": reasons, "got": [long, "y"]})
    short = bounded_records(frame)
    assert short["reason"].cat.ordered and short["reason"].cat.categories.tolist() == [bounded(long), "a"]
    assert short["reason"].tolist() == ["a", bounded(long)]
    assert short["got"].tolist() == [bounded(long), "y"] and short["got"].dtype == frame["got"].dtype
    assert frame["got"].tolist() == [long, "y"]
