"""Progress: how much of a run is done and how long the rest will take, as lines of text."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

#: Seconds between two lines: in a log, and on a terminal.
IN_LOG, ON_TERMINAL = 60.0, 15.0


def duration(seconds: float) -> str:
    """Seconds in words, rounded as an estimate should be: `40 s`, `6 min`, `1 h 20 min`."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


class Stage:
    """A stage of a run: a number of tasks, each with a weight in proportion to its duration.

    The estimate assumes that remaining tasks take as long as finished ones did, by weight. Until a task has finished,
    `rate` (seconds per unit of weight) is used, if it is not 0.
    """

    def __init__(
        self, name: str, weights: Mapping[str, float], rate: float = 0.0, clock: Callable[[], float] = time.monotonic
    ):
        self.name, self.failed, self._rate, self._clock = name, 0, rate, clock
        self._left = dict(weights)
        self._total, self._weight = len(self._left), sum(self._left.values())
        self._began = clock()

    def done(self, name: str, failed: bool = False) -> None:
        """Marks a task as done; an unknown name, or one that is done already, changes nothing."""
        if self._left.pop(name, None) is not None:
            self.failed += failed

    @property
    def left(self) -> float:
        """Estimated seconds until the end; 0.0 without an estimate."""
        weight = sum(self._left.values())
        past = self._weight - weight
        return weight * ((self._clock() - self._began) / past if past else self._rate)

    def line(self) -> str:
        """The state of the stage: `items: 120 of 3,055, 4 failed, about 12 min left`."""
        parts = [f"{self.name}: {self._total - len(self._left):,} of {self._total:,}"]
        parts += [f"{self.failed:,} failed"] if self.failed else []
        parts += [f"about {duration(self.left)} left"] if self.left else []
        return ", ".join(parts)


class Progress:
    """Reports the state of a run at the begin and end of each stage, and at regular intervals between them."""

    def __init__(self, tell: Callable[[str], None], every: float = IN_LOG, clock: Callable[[], float] = time.monotonic):
        """`tell` takes a line; `every` is in seconds."""
        self._tell, self._every, self._clock = tell, every, clock
        self._stage: Stage | None = None
        self._last = clock()

    def begin(self, name: str, weights: Mapping[str, float], rate: float = 0.0) -> None:
        """Begins a stage, unless it has no tasks."""
        self._stage = Stage(name, weights, rate, self._clock) if weights else None
        self._say()

    def done(self, name: str, failed: bool = False) -> None:
        """Marks a task of the stage as done, and reports the state when it is due."""
        if self._stage is None:
            return
        self._stage.done(name, failed)
        if self._clock() - self._last >= self._every:
            self._say()

    def say(self, text: str) -> None:
        """Reports another line."""
        self._tell(text)
        self._last = self._clock()

    def _say(self) -> None:
        if self._stage is not None:
            self.say(self._stage.line())


def weights(names: Iterable[str], durations: Mapping[str, float]) -> dict[str, float]:
    """Expected seconds for each item: the duration in `durations`, or the average of the others."""
    chosen = list(names)
    known = [durations[name] for name in chosen if name in durations] or list(durations.values()) or [1.0]
    usual = sum(known) / len(known)
    return {name: durations.get(name, usual) for name in chosen}
