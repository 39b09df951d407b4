"""Sharding: the part of a selection that one of several machines runs."""

from __future__ import annotations

import csv
import hashlib
import heapq
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.catalog import Item

#: More shards than there are items in any suites.
MOST = 100_000
#: How long each item took, in seconds: what `python -m harness record RUN --durations` writes.
DURATIONS = ROOT / "recordings" / "durations.csv"


def parse(text: str) -> tuple[int, int]:
    """Reads `I/N`: the I-th of N shards, counted from 1; N is `MOST` at most.

    Raises:
      ValueError: the text has another form.
    """
    found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]) <= MOST:
        raise ValueError(f"shard {text!r}: expected I/N with I from 1 to N, N up to {MOST:,}, such as 3/16")
    return int(found[1]), int(found[2])


def shard(items: Sequence[Item], which: tuple[int, int], durations: Mapping[str, float]) -> tuple[Item, ...]:
    """The items of one shard, in order.

    Items whose duration is known are dealt out, the longest first, each to the shard that has least to do so far;
    others go by a hash of their id. So an item that is added moves no other one.
    """
    number, count = which
    load = [(0.0, n) for n in range(count)]
    of: dict[str, int] = {}
    timed = [item.id for item in items if item.id in durations]
    for name in sorted(timed, key=lambda name: (-durations[name], name)):
        seconds, least = heapq.heappop(load)
        of[name] = least
        heapq.heappush(load, (seconds + durations[name], least))
    for item in items:
        if item.id not in of:
            of[item.id] = int.from_bytes(hashlib.blake2b(item.id.encode(), digest_size=8).digest(), "big") % count
    return tuple(item for item in items if of[item.id] == number - 1)


def read(path: Path = DURATIONS) -> dict[str, float]:
    """The durations that are known; nothing where there is no such file.

    Raises:
      ValueError: the file has another form.
    """
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        try:
            return {row["item"]: float(row["seconds"]) for row in csv.DictReader(file)}
        except (KeyError, TypeError, ValueError) as why:
            raise ValueError(f"{path}: expected the columns item and seconds ({why})") from why


def write(durations: Mapping[str, float], path: Path) -> None:
    """Replaces the file of durations."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["item", "seconds"])
        rows.writerows([name, f"{seconds:.2f}"] for name, seconds in sorted(durations.items()))
