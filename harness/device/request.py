"""Request: one case under one plan, as a device server receives it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from tf_opdiff.harness.device.observation import raw
from tf_opdiff.harness.spec.inputs.attrs import Keywords
from tf_opdiff.harness.spec.inputs.pickled import SUFFIX, read_specs
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.harness.spec.spec import Spec

#: Bytes: the alignment of Eigen, with the widest vectors that TensorFlow is built for.
ALIGNMENT = 64


def find_spec(module: str, name: str) -> Spec:
    """The spec of that name in a suite module's `SPECS`; `module` may be the path of a file of specs instead.

    Raises:
      LookupError: the module or the file has none of that name.
    """
    specs: Iterable[Spec] = read_specs(module) if module.endswith(SUFFIX) else import_module(module).SPECS
    for spec in specs:
        if spec.name == name:
            return spec
    raise LookupError(f"{module} has no spec {name!r}")


def aligned(size: int, dtype: np.dtype) -> np.ndarray:
    """A new array, not filled, with the alignment of a vector register: TensorFlow takes it without a copy."""
    raw = np.empty(size * dtype.itemsize + ALIGNMENT, np.uint8)
    begin = -raw.ctypes.data % ALIGNMENT
    return raw[begin : begin + size * dtype.itemsize].view(dtype)


def lent_copy(array: np.ndarray) -> np.ndarray:
    """A copy that a session reads where it is, so that a change of the input shows; it copies what is not aligned."""
    if array.dtype == object:  # TensorFlow has strings of its own
        return array
    lent = aligned(array.size, array.dtype).reshape(array.shape)
    lent[...] = array
    return lent


@lru_cache(maxsize=4)
def _counted(size: int, dtype: str) -> np.ndarray:
    """0, 1, 2, …; read-only, because it is cached."""
    numbers = np.arange(size, dtype=dtype)
    numbers.flags.writeable = False
    return numbers


@dataclass(frozen=True)
class Bits:
    """An input described by its range: each `step`-th bit pattern from `lo` up to `hi` (not included), as the dtype."""

    dtype: str
    lo: int
    hi: int
    step: int = 1

    @property
    def size(self) -> int:
        """The number of values."""
        return len(range(self.lo, self.hi, self.step))

    def array(self) -> np.ndarray:
        """The values, in order, of shape (size,)."""
        dtype = np.dtype(self.dtype)
        unsigned = np.dtype(f"u{dtype.itemsize}")
        bits = aligned(self.size, unsigned)
        numbers = _counted(bits.size, unsigned.name)
        np.add(numbers if self.step == 1 else numbers * unsigned.type(self.step), unsigned.type(self.lo), out=bits)
        return bits.view(dtype)


@dataclass(frozen=True)
class Cycle:
    """An input described by its pattern: the values repeated, from number `start` (modulo their count) on."""

    dtype: str
    values: tuple[float, ...]
    start: int
    size: int

    def array(self) -> np.ndarray:
        """The values, of shape (size,)."""
        begin = self.start % len(self.values)
        return _repeated(self.dtype, self.values[begin:] + self.values[:begin], self.size)


@lru_cache(maxsize=4)
def _repeated(dtype: str, values: tuple[float, ...], size: int) -> np.ndarray:
    """The values repeated. Do not write to it: it is cached, and TensorFlow takes no read-only memory."""
    repeated = aligned(size, np.dtype(dtype))
    repeated[:] = np.tile(np.array(values, dtype), size // len(values) + 1)[:size]
    return repeated


#: An input that the server generates from its description.
Generated = Bits | Cycle


@dataclass(frozen=True)
class Arguments:
    """The arguments of one run of a program.

    Attributes:
      inputs: one an input.
      upstreams: one an output, None for an output without a gradient; None if no gradient is requested.
      tangents: one an input; None if neither forward mode nor second order is requested.

    Each is an array, a placeholder or a tensor.
    """

    inputs: Sequence[Any]
    upstreams: Sequence[Any] | None = None
    tangents: Sequence[Any] | None = None

    def map(self, change: Callable[[Any], Any]) -> Arguments:
        """A copy with each argument changed by a function."""

        def each(values: Sequence[Any] | None) -> Any:
            return None if values is None else [None if v is None else change(v) for v in values]

        return Arguments(each(self.inputs), each(self.upstreams), each(self.tangents))

    @property
    def arrays(self) -> list[Any]:
        """All arguments that are not None, in a row."""
        return [a for part in (self.inputs, self.upstreams, self.tangents) for a in part or () if a is not None]

    @property
    def signature(self) -> tuple[Any, ...]:
        """The shape and dtype of every argument: a program is built once for each signature."""
        return self._types(lambda a: a.shape)

    @property
    def ranks(self) -> tuple[Any, ...]:
        """The rank and dtype of every argument: a program with unknown sizes is built once for each."""
        return self._types(lambda a: a.ndim)

    def _types(self, form: Callable[[Any], Any]) -> tuple[Any, ...]:
        types = self.map(lambda a: (form(a), a.dtype.name))
        return tuple(part if part is None else tuple(part) for part in (types.inputs, types.upstreams, types.tangents))

    def requests(self, quantity: str, spec: Spec) -> bool:
        """Whether a run of a spec with these arguments gives a quantity."""
        family = family_of(quantity)
        if family in ("jvp", "hvp"):
            return self.tangents is not None and bool(getattr(spec.derivatives, family))
        return family == "output" or self.upstreams is not None


def attempts(spec: Spec, arguments: Arguments) -> Iterator[tuple[Spec, Arguments]]:
    """The spec and its arguments, then less and less to run: TensorFlow may refuse one quantity and give another.

    First without forward mode, then without second order, without both, and without any gradient.
    """
    yield spec, arguments
    if arguments.tangents is not None:
        if spec.derivatives.jvp and spec.derivatives.hvp:
            yield spec.but(jvp=None), arguments
            yield spec.but(hvp=None), arguments
        yield spec, Arguments(arguments.inputs, arguments.upstreams)
    if arguments.upstreams is not None:
        yield spec, Arguments(arguments.inputs)


@dataclass(frozen=True)
class Request:
    """One case under one plan.

    Attributes:
      inputs: one an input; those that can be described briefly are not sent, but generated by the server.
      upstreams: one an output, None for an output without a gradient; None if no gradient is requested.
      quantities: the names of the expected quantities.
      state: names of states whose final values follow the outputs.
      tangents: one an input; None if neither forward mode nor second order is requested.
      again: the self-checks to run; see `harness.device.repeat`.
      segment: the address of the shared memory for the arrays of the observation; if empty, the pipe returns them.
      attrs: the keyword arguments of the program.
      last: whether the server must run nothing after it: the op is known to damage the memory of its process.
    """

    module: str
    spec: str
    case: str
    dtype: str
    mode: str
    inputs: tuple[np.ndarray | Generated, ...]
    upstreams: tuple[np.ndarray | Generated | None, ...] | None
    quantities: tuple[str, ...]
    state: tuple[str, ...] = ()
    tangents: tuple[np.ndarray, ...] | None = None
    again: tuple[str, ...] = ()
    segment: str = ""
    attrs: Keywords = field(default_factory=dict)
    last: bool = False

    def with_arrays(self) -> Request:
        """A copy of the request with every input as an array."""
        upstreams = None if self.upstreams is None else tuple(map(_array, self.upstreams))
        return replace(self, inputs=self.arrays, upstreams=upstreams)

    @property
    def digest(self) -> str:
        """A hash of the request, the same on every machine: an observation belongs to the request with this digest."""
        digest = hashlib.blake2b(digest_size=8)
        reruns = self.again if len(self.again) > 1 else ()  # a look at the inputs after the run is no further run
        about: tuple[Any, ...] = (self.spec, self.dtype, self.quantities, self.state, reruns)
        digest.update(repr((*about, sorted(self.attrs.items())) if self.attrs else about).encode())
        for part in (self.inputs, self.upstreams, self.tangents):
            for argument in part or ():
                array = _array(argument)
                digest.update(repr(None if array is None else array.shape).encode())
                for piece in () if array is None else raw(array):
                    digest.update(piece.encode() if isinstance(piece, str) else piece)
        return digest.hexdigest()

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The inputs, as arrays."""
        return tuple(map(_array, self.inputs))


def _array(argument: Any) -> Any:
    return argument.array() if isinstance(argument, Generated) else argument
