"""Op types: the dtypes that OpDefs allow and that the kernels of a CPU take, read from a file in this folder.

`python -m tf_opdiff.harness.device.installation.op_types tf_opdiff.suites.ops $(cat suites/derived/without_twins.txt)`
writes the file; a test compares it with the installed TensorFlow. The OpDefs of `without_twins.txt` have no twins of
their own about the dtypes that they refuse, because a valid call of them needs more than numbers of some shape: most
take handles, references or lists of tensors. Programs about all of them show these dtypes: see `refused_calls`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_suffix(".json")
#: The OpDefs that have no twins of their own.
WITHOUT_TWINS: tuple[str, ...] = tuple(FILE.with_name("without_twins.txt").read_text("utf-8").split())
_TABLES = json.loads(FILE.read_text("utf-8"))
#: The names of TensorFlow's dtypes whose tensors hold values.
DTYPES: tuple[str, ...] = tuple(_TABLES["dtypes"])
#: The OpDefs that were removed from GraphDef: they are an error for every dtype.
REMOVED: tuple[str, ...] = tuple(_TABLES["removed"])


@dataclass(frozen=True, kw_only=True)
class OpTypes:
    """The inputs and the dtypes of an OpDef.

    inputs      the dtype of each input, or the attribute that gives it, with `*` behind it if the input is a list.
    allowed     the dtypes that the OpDef allows, by attribute; all, for an attribute without an entry.
    outputs     the attributes that no input decides and that have no default.
    kernels     the dtypes that some kernel takes, by attribute and device type; all, where there is no entry.
    required    the attributes that a call must give, with a value of each, of an OpDef without twins.
    reference   whether it takes or returns a reference to a variable.
    """

    name: str
    inputs: Mapping[str, str]
    allowed: Mapping[str, Collection[str]] = field(default_factory=dict)
    outputs: Collection[str] = ()
    kernels: Mapping[str, Mapping[str, Collection[str]]] = field(default_factory=dict)
    required: Mapping[str, Any] = field(default_factory=dict)
    reference: bool = False

    @property
    def compiled(self) -> bool:
        """Whether XLA for a CPU has a kernel of the OpDef in some dtype."""
        return any(kernels.get("XLA_CPU_JIT", DTYPES) for kernels in self.kernels.values())

    @property
    def attrs(self) -> tuple[str, ...]:
        """The attributes by which inputs get their dtypes, in order."""
        return tuple(self.kernels)

    def disallowed(self, attr: str) -> tuple[str, ...]:
        """The dtypes that the OpDef does not allow for an attribute."""
        allowed = self.allowed.get(attr, DTYPES)
        return tuple(dtype for dtype in DTYPES if dtype not in allowed)

    def without_kernel(self, attr: str, *, xla: bool = False) -> tuple[str, ...]:
        """The allowed dtypes of an attribute for which a CPU, or XLA for a CPU, has no kernel."""
        taken = self.kernels[attr].get("XLA_CPU_JIT" if xla else "CPU", DTYPES)
        refused = self.disallowed(attr)
        return tuple(dtype for dtype in DTYPES if dtype not in refused and dtype not in taken)


def inputs_of(name: str) -> tuple[str, ...]:
    """The names of the inputs of an OpDef, in order; `x` and `y` if the file does not have it."""
    return tuple(_TABLES["ops"].get(name, {"inputs": "xy"})["inputs"])


def taken_by_cpu(name: str, dtypes: Collection[str]) -> tuple[str, ...]:
    """The dtypes for which a CPU has a kernel of an OpDef with one attribute; all for an unknown OpDef."""
    if name not in _TABLES["ops"]:
        return tuple(dtypes)
    op = OpTypes(name=name, **_TABLES["ops"][name])
    (attr, *_) = op.attrs
    refused = (*op.disallowed(attr), *op.without_kernel(attr))
    return tuple(dtype for dtype in dtypes if dtype not in refused)


def every_op() -> Iterator[OpTypes]:
    """The OpDefs of the file that have twins, by name."""
    for name, types in _TABLES["ops"].items():
        yield OpTypes(name=name, **types)


def without_twins() -> Iterator[OpTypes]:
    """The OpDefs of the file that have none, by name."""
    for name, types in _TABLES["others"].items():
        yield OpTypes(name=name, **types)
