"""Remembered results: those of the recipe of a case and of the functions of its spec, in order, for a later run.

The code that makes a case's promises out of these results always runs; only the results themselves are read back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import msgspec

from tf_opdiff.harness.store.formats.plain_values import Unreadable, Unwritable, decode, encode

_T = TypeVar("_T")
_current: ContextVar[RememberedResults | None] = ContextVar("transcript", default=None)
_PAIRS = msgspec.msgpack.Decoder(list[tuple[str, bytes]])


class RememberedResults:
    """The results, as pairs (name of the call, bytes of its result); `recorded` and then `replayed`."""

    def __init__(self, data: bytes | None = None) -> None:
        """A transcript to record; with the bytes of one, a transcript to replay.

        Raises:
          Unreadable: the bytes are not those of a transcript.
        """
        self._pairs: list[tuple[str, bytes]] = []
        self._replays, self._next, self._unwritable = data is not None, 0, False
        if data is not None:
            try:
                self._pairs = _PAIRS.decode(data)
            except msgspec.MsgspecError as why:
                raise Unreadable(str(why)) from why

    @property
    def data(self) -> bytes | None:
        """The bytes of the transcript; None if they cannot stand for one of its results."""
        return None if self._unwritable else msgspec.msgpack.encode(self._pairs)

    @contextmanager
    def used(self) -> Iterator[None]:
        """Inside this context, `remembered` records its results, or replays them.

        Raises:
          Unreadable: at the end, not all results have been replayed.
        """
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)
        if self._replays and self._next < len(self._pairs):
            raise Unreadable(f"{len(self._pairs)} calls: expected {self._next}")

    def result(self, name: str, call: Callable[[], _T]) -> _T:
        """The result of a call of this name: the recorded one, or that of `call`, which is then recorded."""
        if not self._replays:
            value = call()
            try:
                self._pairs.append((name, encode(value)))
            except Unwritable:
                self._unwritable = True
            return value
        if self._next == len(self._pairs) or self._pairs[self._next][0] != name:
            raise Unreadable(f"call {self._next}: expected {name}")
        result: _T = decode(self._pairs[self._next][1])
        self._next += 1
        return result


def remembered(name: str, call: Callable[[], Any]) -> Any:
    """The result of a call, recorded in or replayed from the transcript in use; without one, simply the result."""
    transcript = _current.get()
    return call() if transcript is None else transcript.result(name, call)
