"""Progress: how far a run is, and how long it will take yet: lines from its start to its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

#: Seconds between two lines: in a log, and on a terminal.
IN_LOG, ON_TERMINAL = 60.0, 15.0


def duration(seconds: float) -> str:
    """Seconds in words, in steps that an estimate deserves: `40 s`, `6 min`, `1 h 20 min`."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


class Stage:
    """A part of a run: so many things, each of a weight that is in proportion to how long it takes.

    What is left takes as long as what is done took, by weight; before anything is done, `rate` (seconds a unit of
    weight) stands in, if there is one.
    """

    def __init__(
        self, name: str, weights: Mapping[str, float], rate: float = 0.0, clock: Callable[[], float] = time.monotonic
    ):
        self.name, self.failed, self._rate, self._clock = name, 0, rate, clock
        self._left = dict(weights)
        self._total, self._weight = len(self._left), sum(self._left.values())
        self._began = clock()

    def done(self, name: str, failed: bool = False) -> None:
        """One of them is done; a name that is unknown, or done already, changes nothing."""
        if self._left.pop(name, None) is not None:
            self.failed += failed

    @property
    def left(self) -> float:
        """Seconds until the end; 0.0 where nothing says how many."""
        weight = sum(self._left.values())
        past = self._weight - weight
        return weight * ((self._clock() - self._began) / past if past else self._rate)

    def line(self) -> str:
        """How the stage stands: `items: 120 of 3,055, 4 failed, about 12 min left`."""
        parts = [f"{self.name}: {self._total - len(self._left):,} of {self._total:,}"]
        parts += [f"{self.failed:,} failed"] if self.failed else []
        parts += [f"about {duration(self.left)} left"] if self.left else []
        return ", ".join(parts)


class Progress:
    """Tells how a run stands: at the begin of each stage, at its end, and between them every so many seconds."""

    def __init__(self, tell: Callable[[str], None], every: float = IN_LOG, clock: Callable[[], float] = time.monotonic):
        """`tell` takes a line; `every` is in seconds."""
        self._tell, self._every, self._clock = tell, every, clock
        self._stage: Stage | None = None
        self._last = clock()

    def begin(self, name: str, weights: Mapping[str, float], rate: float = 0.0) -> None:
        """Begins a stage, unless there is nothing to do in it."""
        self._stage = Stage(name, weights, rate, self._clock) if weights else None
        self._say()

    def done(self, name: str, failed: bool = False) -> None:
        """One thing of the stage is done; says so when it is time, or when it was the last."""
        if self._stage is None:
            return
        self._stage.done(name, failed)
        if self._clock() - self._last >= self._every:
            self._say()

    def say(self, text: str) -> None:
        """A line of its own."""
        self._tell(text)
        self._last = self._clock()

    def _say(self) -> None:
        if self._stage is not None:
            self.say(self._stage.line())


def weights(names: Iterable[str], durations: Mapping[str, float]) -> dict[str, float]:
    """How long each item takes, in seconds: as long as it once took or, where that is unknown, as others on average."""
    chosen = list(names)
    known = [durations[name] for name in chosen if name in durations] or list(durations.values()) or [1.0]
    usual = sum(known) / len(known)
    return {name: durations.get(name, usual) for name in chosen}
