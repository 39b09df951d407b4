"""Group: differences of one signature, with the smallest program that shows them, and what is known of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from tf_opdiff.discover.programs.program import Program
from tf_opdiff.discover.programs.shrinking import Draw, Example
from tf_opdiff.discover.signature import Signature

#: What a group can be: explained by known causes; like a known cause, and maybe it; explained by none; rejected by a
#: person; not there in a fresh process.
KNOWN, ALIKE, NEW, REJECTED, UNSTABLE = "known", "alike", "new", "rejected", "unstable"
#: An array as JSON-able data.
Stored = tuple[str, tuple[int, ...], tuple[Any, ...]]


@dataclass(frozen=True, kw_only=True)
class AnyGroup:
    """What groups of programs and groups of calls have in common.

    Attributes:
      id: its name.
      kind: the kind of difference.
      mode: the mode that differs.
      seed: of the first program or call that showed it.
      state: one of the five above.
      causes: the ids of known causes that fit, or that are alike.
      setting: the setting by which it vanishes, in the words of `tf-opdiff model`; empty if none was tried.
      reason: why it was rejected, or what the fresh process showed instead.
    """

    id: str
    kind: str
    mode: str
    seed: int
    state: str = NEW
    causes: tuple[str, ...] = ()
    setting: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Group(AnyGroup):
    """Differences of programs from eager mode with the same ops, kind and mode.

    Attributes:
      types: the types of the ops.
      program: the smallest program, as data.
      draw: its inputs; see `data_of`.
      got, want: the results.
    """

    types: tuple[str, ...]
    program: Mapping[str, Any]
    draw: tuple[Stored, ...]
    got: str
    want: str

    @property
    def title(self) -> str:
        """The difference in a line."""
        program = self.example.program
        where = "Under XLA" if self.mode == "xla" else "In tf.function"
        return f"{where}, {'the gradient of ' if program.gradient else ''}{program.root} is not what eager mode gives"

    @property
    def result(self) -> str:
        """The results in a line."""
        return f"{self.got} in place of {self.want}"

    @property
    def example(self) -> Example:
        """The program with its inputs."""
        arrays = tuple(np.array(values).astype(np.dtype(dtype)).reshape(shape) for dtype, shape, values in self.draw)
        return Example(Program.of(self.program), arrays)

    @cached_property
    def texts(self) -> Counter[str]:
        """The texts of the program's ops."""
        return Counter(op.text for op in Program.of(self.program).ops)

    def explains(self, program: Program, kind: str, mode: str) -> bool:
        """Whether a difference of a program is probably this one: the program has its ops, and it differs alike."""
        own = Program.of(self.program)
        forms = own.form in ("plain", program.form)
        return (kind, mode) == (self.kind, self.mode) and forms and self.texts <= Counter(op.text for op in program.ops)

    @classmethod
    def ended(cls, example: Example, mode: str, seed: int, how: str) -> Self:
        """The group of a program that ended its process, with the reason why it ended: `SIGABRT: …`."""
        kind = how.partition(":")[0]
        program, draw = example.program.data(), data_of(example.draw)
        got = " ".join(how.split())[:200]
        id = f"{mode}-{kind}-seed-{seed}"
        return cls(
            id=id, kind=kind, mode=mode, types=(), program=program, draw=draw, got=got, want="a result", seed=seed
        )

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """Reads the data of `vars`, as JSON gives it."""
        lists = {name: tuple(map(_tuple, data[name])) for name in ("types", "draw", "causes")}
        return cls(**{**data, **lists})


@dataclass(frozen=True, kw_only=True)
class CallGroup(AnyGroup):
    """Calls of a spec that fail in the same mode, quantity and kind, with the smallest one that shows it.

    Attributes:
      spec, quantity: those of the record that fails.
      dtype: that of the first call.
      call: the call in words: a case, and the elements that were replaced in its inputs.
      result: the detail of the record that fails.
    """

    spec: str
    quantity: str
    dtype: str
    call: str
    result: str

    @property
    def title(self) -> str:
        """The call in a line."""
        return f"A call of {self.call}"


def _tuple(value: Any) -> Any:
    """The value with tuples in place of lists."""
    return tuple(map(_tuple, value)) if isinstance(value, list) else value


def data_of(draw: Draw) -> tuple[Stored, ...]:
    """The inputs as JSON-able data: dtype, shape and elements of each."""
    return tuple((x.dtype.name, x.shape, tuple(numbers_of(x))) for x in draw)


def numbers_of(x: np.ndarray) -> list[Any]:
    """The elements as numbers of Python, in one list."""
    wide = x.astype(np.float64) if x.dtype.kind in "fV" else x
    return list(wide.ravel().tolist())


def name_of(signature: Signature, program: Program) -> str:
    """The id of the group of a signature; a program without a trace gives its functions in place of types."""
    family = ("gradient",) if signature.family == "grad" else ()
    functions = (re.sub(r"\W+", "", op.text.replace("tf.", "")) for op in program.ops)
    types = sorted(t.lower() for t in signature.types or functions)
    return "-".join([signature.mode, signature.kind, *family, *types])[:120]
