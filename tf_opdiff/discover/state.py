"""State: the folder of a search, which a later search goes on with.

`events.jsonl` has a line for each new or changed group, and for each checkpoint. `rejected.toml`, which people write,
has the groups that are no finding, each with the reason.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from tf_opdiff.discover.group import REJECTED, CallGroup, Group

_Any = TypeVar("_Any", Group, CallGroup)
_EVENTS, _REJECTED = "events.jsonl", "rejected.toml"
_HEAD = """# Groups that are no finding. A search never shows them again. The id of a group stands in the report.
# [rejected]
# "xla-value-ops" = "the reason"
"""


@dataclass
class State:
    """What a search knows.

    Attributes:
      folder: where it is kept.
      groups: id → group.
      counts: id of a group → how many programs or calls showed it; and `programs`, `refused`,
        `calls`, `ended`, `failed`.
      behaviours: (op, dtype, class of values, form) that were run.
      pairs: (op, operand) → how often they were drawn.
      seed: of the next program.
      seconds: how long the search took so far.
    """

    folder: Path
    groups: dict[str, Group | CallGroup] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    behaviours: set[tuple[str, ...]] = field(default_factory=set)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    seed: int = 0
    seconds: float = 0.0

    @classmethod
    def load(cls, folder: Path) -> State:
        """The state in a folder, which is made if it does not exist.

        Raises:
          ValueError: a file in it is damaged.
        """
        folder.mkdir(parents=True, exist_ok=True)
        state = cls(folder)
        for event in _lines(folder / _EVENTS):
            if "group" in event or "call" in event:
                group = Group.of(event["group"]) if "group" in event else CallGroup(**event["call"])
                state.groups[group.id] = group
            else:
                state._restore(event["checkpoint"])
        for id, reason in _rejected(folder / _REJECTED).items():
            if id in state.groups:
                state.groups[id] = replace(state.groups[id], state=REJECTED, reason=reason)
        return state

    def _restore(self, data: Mapping[str, Any]) -> None:
        self.seed, self.seconds, self.counts = data["seed"], data["seconds"], Counter(data["counts"])
        self.behaviours |= {tuple(one) for one in data["behaviours"]}
        self.pairs.update({(above, below): count for above, below, count in data["pairs"]})

    @property
    def programs(self) -> Iterator[Group]:
        """The groups of programs."""
        return (group for group in self.groups.values() if isinstance(group, Group))

    def add(self, group: _Any) -> _Any:
        """Keeps a new or changed group; one that a person has rejected stays so. Returns it."""
        if reason := _rejected(self.folder / _REJECTED).get(group.id):
            group = replace(group, state=REJECTED, reason=reason)
        self.groups[group.id] = group
        data = {name: value for name, value in vars(group).items() if name != "texts"}
        self._write({"group" if isinstance(group, Group) else "call": data})
        return group

    def checkpoint(self, behaviours: set[tuple[str, ...]], pairs: Counter[tuple[str, str]]) -> None:
        """Keeps what was counted; the arguments are the new behaviours and pairs since the last checkpoint."""
        self.behaviours |= behaviours
        self.pairs.update(pairs)
        data = {"seed": self.seed, "seconds": self.seconds, "counts": dict(self.counts)}
        rows = [[*pair, count] for pair, count in pairs.items()]
        self._write({"checkpoint": {**data, "behaviours": sorted(behaviours), "pairs": rows}})

    def _write(self, event: Mapping[str, Any]) -> None:
        with (self.folder / _EVENTS).open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(event)}\n")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The events of a file; a last line that was not written to its end is left out."""
    if not path.exists():
        return
    for number, line in enumerate(lines := path.read_text("utf-8").splitlines(), 1):
        try:
            yield json.loads(line)
        except ValueError as why:
            if number < len(lines):
                raise ValueError(f"{path}: line {number}: {why}") from why


def _rejected(path: Path) -> dict[str, str]:
    """The ids of rejected groups, and the reasons; makes the file if it does not exist.

    Raises:
      ValueError: a group has no reason.
    """
    if not path.exists():
        path.write_text(_HEAD, "utf-8")
    try:
        table = tomllib.loads(path.read_text("utf-8")).get("rejected", {})
    except tomllib.TOMLDecodeError as why:
        raise ValueError(f"{path}: {why}") from why
    if empty := [id for id, reason in table.items() if not (isinstance(reason, str) and reason.strip())]:
        raise ValueError(f"{path}: {empty[0]}: expected a reason")
    return table
