"""Raw ops: those that have a kernel for a CPU, and one for a GPU or for XLA, with their families, from data files.

`python -m tf_opdiff.harness.device.installation.op_registry` writes `raw_ops.json`; a test compares it with the
installed TensorFlow.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tf_opdiff.harness.paths import RAW_OPS
from tf_opdiff.harness.spec.catalog import Catalog

#: The files in the folder of raw ops.
REGISTRY, FAMILIES, EXCLUDED, TO_DO = "raw_ops.json", "families.toml", "excluded.toml", "to_do.txt"
GAPS = "gaps.toml"
#: The shapes that a family can need; `broadcast` is by op.
SHAPES = ("empty", "one", "odd", "broadcast", "batch")
#: Type attributes of the shape that an op is given; some are declared for dtypes that no shape can have.
SHAPE_DTYPES = ("shape_dtype",)
#: TensorFlow's names of dtypes that have another name in specs.
_NAMES = {"string": "bytes"}
_TENSORFLOW = {own: name for name, own in _NAMES.items()}
#: TensorFlow's names of quantised dtypes begin so; NumPy has no such arrays, so no case can have them.
_QUANTIZED = ("qint", "quint")


@dataclass(frozen=True, kw_only=True)
class RawOp:
    """A raw op as the registry of kernels has it.

    name        the OpDef.
    family      the id of its family.
    devices     `CPU`, and `GPU` or `XLA` or both: those for which it has kernels.
    dtypes      by type attribute and device, the dtypes that some kernel takes, by their names in specs; without the
                quantised dtypes.
    gradient    `function`, `none` (registered as having no gradient) or `absent`.
    operands    the names of the inputs that may be floating or complex.
    attributes  the allowed values of the other attributes, or the type of their values.
    defaults    the values that a call may leave out, of dtypes and of attributes with allowed values.
    typed       the names of the inputs of each type attribute, if there are several.
    integers    the names of the inputs that can only be integers, with the dtypes that the OpDef allows.
    onednn      whether oneDNN has a kernel for it.
    shapes      the shapes that apply: some of `SHAPES`.
    excluded    the reason why no spec has to cover it; empty if one has to.
    gaps        the first words of a line that says what records lack → why no spec can show it.
    """

    name: str
    family: str
    devices: tuple[str, ...]
    dtypes: Mapping[str, Mapping[str, tuple[str, ...]]]
    gradient: str
    operands: tuple[str, ...]
    attributes: Mapping[str, Collection[Any] | str]
    onednn: bool
    shapes: tuple[str, ...]
    excluded: str = ""
    gaps: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    typed: Mapping[str, Collection[str]] = field(default_factory=dict)
    integers: Mapping[str, Collection[str]] = field(default_factory=dict)

    def both(self, attr: str) -> tuple[str, ...]:
        """The dtypes of a type attribute for which a CPU and a GPU have a kernel; XLA, if the op has none for GPUs."""
        first, second, *_ = (self.dtypes[attr][device] for device in self.devices)
        return tuple(dtype for dtype in first if dtype in second)

    def compiled(self, attr: str) -> tuple[str, ...]:
        """The dtypes of `both` for which XLA has a kernel too; all, without such an attribute."""
        return tuple(dtype for dtype in self.both(attr) if dtype in self.dtypes[attr].get("XLA", ()))

    @property
    def data(self) -> str:
        """The type attribute of the op's data: the one with the most dtypes; empty if it has no type attribute."""
        return max(self.dtypes, key=lambda attr: len(self.both(attr)), default="")

    @property
    def options(self) -> dict[str, tuple[str, ...]]:
        """The values of each attribute that has few, as texts: booleans, listed texts, dtypes of an op with several."""
        listed = {name: tuple(map(str, values)) for name, values in self.attributes.items() if type(values) is list}
        types = {a: self.both(a) for a in self.dtypes if len(self.dtypes) > 1 and a not in SHAPE_DTYPES}
        return listed | {attr: tuple(_TENSORFLOW.get(name, name) for name in names) for attr, names in types.items()}


@dataclass(frozen=True)
class RawOps:
    """The raw ops by name, the titles of the families by id, and the version of TensorFlow that registers them."""

    tensorflow: str
    ops: Mapping[str, RawOp]
    titles: Mapping[str, str]

    @classmethod
    @cache
    def load(cls, folder: Path = RAW_OPS) -> RawOps:
        """Reads the files of a folder; a process reads them once.

        Raises:
          ValueError: a family or an exclusion names an unknown op, an op has no family or two, a family needs an
            unknown shape, or an exclusion or a gap has no reason.
        """
        registry = json.loads((folder / REGISTRY).read_text("utf-8"))
        families = tomllib.loads((folder / FAMILIES).read_text("utf-8"))
        excluded = tomllib.loads((folder / EXCLUDED).read_text("utf-8")).get("excluded", [])
        reasons = {op: entry["reason"].strip() for entry in excluded for op in entry["ops"]}
        gaps = _gaps(folder / GAPS)
        family_of: dict[str, str] = {}
        for family, entry in families["family"].items():
            _check_family(family, entry, family_of)
            family_of |= dict.fromkeys(entry["ops"], family)
        never = {shape: set(names) for shape, names in families["never"].items()}
        if unknown := sorted(set(never) - set(SHAPES)):
            raise ValueError(f"never: shape {unknown[0]!r} is none of {', '.join(SHAPES)}")
        lists = {"family": family_of, "exclusion": reasons, "gap": gaps, "broadcast": families["broadcast"], **never}
        for kind, names in lists.items():
            if unknown := sorted(set(names) - set(registry["ops"])):
                raise ValueError(f"{kind}: {unknown[0]!r} is no op of {REGISTRY}")
        if missing := sorted(set(registry["ops"]) - set(family_of)):
            raise ValueError(f"{FAMILIES}: {missing[0]!r} has no family")
        if unexplained := sorted(op for op, reason in reasons.items() if not reason):
            raise ValueError(f"{EXCLUDED}: {unexplained[0]!r} has no reason")
        ops = {}
        for name, entry in registry["ops"].items():
            family = families["family"][family_of[name]]
            shapes = {*family["shapes"], *(["broadcast"] if name in families["broadcast"] else [])}
            shapes -= {shape for shape, names in never.items() if name in names}
            ops[name] = RawOp(
                name=name,
                family=family_of[name],
                devices=tuple(entry["devices"]),
                dtypes={attr: {d: _named(types) for d, types in by.items()} for attr, by in entry["dtypes"].items()},
                gradient=entry["gradient"],
                operands=tuple(entry["operands"]),
                attributes=entry["attributes"],
                onednn=entry["onednn"],
                shapes=tuple(shape for shape in SHAPES if shape in shapes),
                excluded=reasons.get(name, ""),
                gaps=gaps.get(name, {}),
                defaults=entry["defaults"],
                typed=entry["typed"],
                integers=entry["integers"],
            )
        return cls(registry["tensorflow"], ops, {id: family["title"] for id, family in families["family"].items()})

    def unnamed(self, catalog: Catalog) -> list[str]:
        """The ops that no spec names in `ops`, and that are not excluded."""
        named = {op for spec in catalog.specs.values() for op in spec.every_op}
        return [name for name, op in self.ops.items() if name not in named and not op.excluded]


def _gaps(path: Path) -> dict[str, dict[str, str]]:
    """The field `gaps` of each op that has any.

    Raises:
      ValueError: a gap has no reason.
    """
    gaps: dict[str, dict[str, str]] = {}
    for entry in tomllib.loads(path.read_text("utf-8")).get("gap", []):
        if not entry["reason"].strip():
            raise ValueError(f"{path.name}: {entry['ops'][0]!r} has no reason")
        for op in entry["ops"]:
            gaps.setdefault(op, {})[entry["lacks"]] = entry["reason"].strip()
    return gaps


def _check_family(name: str, entry: Mapping[str, Any], family_of: Mapping[str, str]) -> None:
    """Refuses a family with an unknown shape, and an op that stands in a family already."""
    if unknown := sorted(set(entry["shapes"]) - set(SHAPES)):
        raise ValueError(f"family {name}: shape {unknown[0]!r} is none of {', '.join(SHAPES)}")
    if twice := [op for op in entry["ops"] if op in family_of]:
        raise ValueError(f"family {name}: {twice[0]!r} stands in {family_of[twice[0]]} too")


def _named(types: Collection[str]) -> tuple[str, ...]:
    return tuple(_NAMES.get(name, name) for name in types if not name.startswith(_QUANTIZED))


def to_do(folder: Path = RAW_OPS) -> list[str]:
    """The raw ops that no spec names yet; `python -m harness coverage --to-do` writes the file."""
    return (folder / TO_DO).read_text("utf-8").split()
