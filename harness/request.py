"""Request: what a device server is asked to run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from harness.spec import Spec


def find_spec(module: str, name: str) -> Spec:
    """The spec of that name in a suite module's `SPECS`.

    Raises:
      LookupError: the module has none of that name.
    """
    specs: Iterable[Spec] = import_module(module).SPECS
    for spec in specs:
        if spec.name == name:
            return spec
    raise LookupError(f"{module} has no spec {name!r}")


@dataclass(frozen=True)
class Bits:
    """An input told by its range: the bit patterns from `lo` up to, not including, `hi`, read as the dtype."""

    dtype: str
    lo: int
    hi: int

    def array(self) -> np.ndarray:
        """The values, in order, of shape (hi - lo,)."""
        dtype = np.dtype(self.dtype)
        unsigned = np.dtype(f"u{dtype.itemsize}")
        bits = np.arange(self.hi - self.lo, dtype=unsigned)
        bits += unsigned.type(self.lo)
        return bits.view(dtype)


@dataclass(frozen=True)
class Cycle:
    """An input told by its pattern: the values repeated, beginning with number `start` (modulo their count)."""

    dtype: str
    values: tuple[float, ...]
    start: int
    size: int

    def array(self) -> np.ndarray:
        """The values, of shape (size,)."""
        begin = self.start % len(self.values)
        return _repeated(self.dtype, self.values, self.size)[begin : begin + self.size]


@lru_cache(maxsize=4)
def _repeated(dtype: str, values: tuple[float, ...], size: int) -> np.ndarray:
    """The values repeated, with room to begin anywhere among them; read-only, for it is kept."""
    made = np.tile(np.array(values, dtype), size // len(values) + 2)
    made.flags.writeable = False
    return made


Made = Bits | Cycle


@dataclass(frozen=True)
class Asked:
    """What a program is run with: inputs; upstreams, for gradients; tangents, for forward mode and second order.

    Each is an array, a placeholder, a tensor, or None for an output without a gradient.
    """

    xs: Sequence[Any]
    gs: Sequence[Any] | None = None
    ts: Sequence[Any] | None = None

    def map(self, change: Callable[[Any], Any]) -> Asked:
        """The same with each one changed."""

        def each(arrays: Sequence[Any] | None) -> Any:
            return None if arrays is None else [None if a is None else change(a) for a in arrays]

        return Asked(each(self.xs), each(self.gs), each(self.ts))

    @property
    def arrays(self) -> list[Any]:
        """All of them in a row."""
        return [a for part in (self.xs, self.gs, self.ts) for a in part or () if a is not None]

    @property
    def signature(self) -> tuple[Any, ...]:
        """What a program is built for: what is asked for, in which shapes and dtypes."""
        told = self.map(lambda a: (a.shape, a.dtype.name))
        return tuple(part if part is None else tuple(part) for part in (told.xs, told.gs, told.ts))

    def less(self) -> Iterator[Asked]:
        """The same, then without tangents, then without upstreams."""
        yield self
        if self.ts is not None:
            yield Asked(self.xs, self.gs)
        if self.gs is not None:
            yield Asked(self.xs)

    def gives(self, quantity: str) -> bool:
        """Whether a quantity is asked for."""
        needed: Any = {"output": self.xs, "grad": self.gs}.get(quantity.partition("[")[0], self.ts)
        return needed is not None


@dataclass(frozen=True)
class Request:
    """One case under one plan: its inputs, and an upstream gradient for each output.

    An upstream is None for an output that has no gradient; `upstreams` is None where no gradient is asked for, and
    `tangents`, one an input, where neither forward mode nor second order is. `again` names what the run is to be held
    against; see `harness.again`.
    `quantities` are those that are expected; final values of the named `state` follow the outputs.
    Arrays that are easily told are not sent: the server makes them. `segment` names the shared memory through which
    arrays come back; without one they come through the pipe.
    """

    module: str
    spec: str
    case: str
    dtype: str
    mode: str
    inputs: tuple[np.ndarray | Made, ...]
    upstreams: tuple[np.ndarray | Made | None, ...] | None
    quantities: tuple[str, ...]
    state: tuple[str, ...] = ()
    tangents: tuple[np.ndarray, ...] | None = None
    again: tuple[str, ...] = ()
    segment: str = ""

    def made(self) -> Request:
        """The same with every input an array."""
        upstreams = None if self.upstreams is None else tuple(map(_array, self.upstreams))
        return replace(self, inputs=self.arrays, upstreams=upstreams)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The inputs, as arrays."""
        return tuple(map(_array, self.inputs))


def _array(told: Any) -> Any:
    return told.array() if isinstance(told, Made) else told
