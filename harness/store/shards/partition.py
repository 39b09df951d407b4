"""Partition: splits a selection into shards for several machines."""

from __future__ import annotations

import csv
import hashlib
import heapq
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tf_opdiff.harness.paths import ROOT

if TYPE_CHECKING:  # a wrong option is answered without it
    from tf_opdiff.harness.spec.catalog import Item

#: The largest number of shards, more than the items of any suites.
MOST = 100_000
#: The seconds of each item, as written by `python -m harness record RUN --durations`.
DURATIONS = ROOT / "recordings" / "durations.csv"


def parse(text: str) -> tuple[int, int]:
    """Reads `I/N`: the I-th of N shards, counted from 1; N is `MOST` at most.

    Raises:
      ValueError: the text has another form.
    """
    match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]) <= MOST:
        raise ValueError(f"shard {text!r}: expected I/N with I from 1 to N, N up to {MOST:,}, such as 3/16")
    return int(match[1]), int(match[2])


def shard(items: Sequence[Item], which: tuple[int, int], durations: Mapping[str, float]) -> tuple[Item, ...]:
    """The items of one shard, in order.

    Items with a known duration are assigned first, the longest first, each to the shard with the least time so far. A
    hash of its id assigns every other item. Adding an item never moves another item to a different shard.
    """
    number, count = which
    of = _assigned(items, count, durations)
    return tuple(item for item in items if of[item.id] == number - 1)


def filled(items: Sequence[Item], count: int, durations: Mapping[str, float]) -> list[str]:
    """The names `I/N` of the shards that have items; a shard without items runs nothing and leaves no run."""
    return [f"{n + 1}/{count}" for n in sorted(set(_assigned(items, count, durations).values()))]


def _assigned(items: Sequence[Item], count: int, durations: Mapping[str, float]) -> dict[str, int]:
    """The shard of each item, counted from 0, by the item's id."""
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
    return of


def division(items: Iterable[Item], durations: Mapping[str, float]) -> str:
    """A hash of the items and durations that decide the shards; equal hashes mean shards of one run."""
    lines = sorted(f"{item.id} {durations.get(item.id, '')}\n" for item in items)
    return hashlib.blake2b("".join(lines).encode(), digest_size=8).hexdigest()


def read(path: Path = DURATIONS) -> dict[str, float]:
    """Reads the known durations; empty if the file does not exist.

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
