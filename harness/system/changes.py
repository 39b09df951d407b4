"""Changes: what became different in this process between two moments, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

#: The most characters of a value, and names of a list, in words.
_SHOWN, _LISTED = 60, 4
_GONE = object()


class Names:
    """The objects that the names of a namespace stand for when this is made; names that are added later don't count."""

    def __init__(
        self,
        about: str,
        namespace: Callable[[], Mapping[str, Any]],
        objects: Callable[[Mapping[str, Any]], list[Any]] = lambda namespace: list(namespace.values()),
        meant: Callable[[Any], bool] = lambda _: False,
    ) -> None:
        """The names of `namespace()`, which messages call `about`, and the objects that `objects` makes of its values.

        An object of which `meant` is true may replace any.
        """
        self._about, self._namespace, self._read, self._meant = about, namespace, objects, meant
        self._objects = objects(namespace())
        self._first = dict(zip(namespace(), self._objects, strict=True))

    def _replaced(self) -> dict[str, Any]:
        """The names that stand for another object now, or for none, with their first objects."""
        namespace = self._namespace()
        objects = self._read(namespace)
        # A namespace grows at its end. The comparison of lists takes 10 ns for each object that is the same.
        if _equal(self._objects, objects[: len(self._objects)]):
            return {}
        now = dict(zip(namespace, objects, strict=True))
        others = {name: first for name, first in self._first.items() if now.get(name, _GONE) is not first}
        replaced = {name: first for name, first in others.items() if not self._meant(now.get(name))}
        if not replaced:
            self._objects = objects[: len(self._objects)]
        return replaced

    def changes(self) -> list[str]:
        """A text with the replaced names; none if there are none."""
        replaced = self._replaced()
        return [f"{self._about}: {_listed(replaced)}"] if replaced else []

    def restore(self) -> None:
        """Lets every name stand for its first object again, in a namespace that is the real one."""
        namespace: Any = self._namespace()
        namespace.update(self._replaced())


def _equal(some: list[Any], others: list[Any]) -> bool:
    try:
        return some == others
    except Exception:  # noqa: BLE001  objects that refuse the comparison, such as arrays, are not the same
        return False


class Values:
    """Values that can be read at any time, and those of the last `mark`."""

    def __init__(self, read: Mapping[str, Callable[[], Any]]) -> None:
        """Marks the values that these functions return, by name."""
        self._names, self._read = tuple(read), tuple(read.values())
        self.mark()

    def mark(self) -> None:
        """Keeps the present values, with which `changes` compares."""
        self.marked = self._now()

    def _now(self) -> list[Any]:
        return [read() for read in self._read]

    def changed(self) -> dict[str, tuple[Any, Any]]:
        """The names of the values that are others now, each with its marked and its present value."""
        now = self._now()
        if now == self.marked:
            return {}
        pairs = zip(self._names, self.marked, now, strict=True)
        return {name: (before, after) for name, before, after in pairs if before != after}

    def changes(self) -> list[str]:
        """A text for each value that is another one now."""
        return [_in_words(name, *pair) for name, pair in self.changed().items()]


def _in_words(name: str, before: Any, after: Any) -> str:
    """A difference; of mappings, only the keys that differ: their values may be long, or secret."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = [key for key in {**before, **after} if before.get(key, _GONE) != after.get(key, _GONE)]
        return f"{name}: {_listed([k.decode('utf-8', 'replace') if isinstance(k, bytes) else str(k) for k in keys])}"
    return f"{name}: was {_short(before)}, is {_short(after)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _listed(names: Sequence[str] | Mapping[str, Any]) -> str:
    some = list(names)
    more = f", … ({len(some)})" if len(some) > _LISTED else ""
    return ", ".join(some[:_LISTED]) + more
