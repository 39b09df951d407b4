"""Options: the values of attributes that the specs of raw ops show, and why some are left out, from data files.

An option is a value of an attribute that has few: a boolean, a listed text, or a dtype of an op with several.
`python -m tf_opdiff.harness.device.installation.option_values tf_opdiff.suites` writes `options.json`; a test compares
it with what the programs of the specs do.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from tf_opdiff.harness.paths import RAW_OPS
from tf_opdiff.harness.spec.lists.raw_ops import RawOp, RawOps

#: The files in the folder of raw ops.
SHOWN, LEFT_OUT = "options.json", "options_left_out.toml"


@dataclass(frozen=True)
class Options:
    """The options of ops, by op, attribute and value.

    shown       the names of some specs whose programs give the op this value.
    left_out    the reason why no spec has to.
    """

    shown: Mapping[str, Mapping[str, Mapping[str, Collection[str]]]]
    left_out: Mapping[str, Mapping[str, Mapping[str, str]]]

    @classmethod
    def load(cls, folder: Path = RAW_OPS) -> Options:
        """Reads the files of a folder.

        Raises:
          ValueError: options are left out without a reason, or two times.
        """
        return cls(json.loads((folder / SHOWN).read_text("utf-8")), _left_out(folder / LEFT_OUT))

    def missing(self, op: RawOp, specs: Collection[str] | None = None, without: str = "") -> list[str]:
        """The options `ATTRIBUTE=VALUE` of an op that need a spec, and that none of these specs shows.

        Args:
          op: the op.
          specs: the names of the specs; None for all.
          without: an attribute that is left out.
        """
        return [
            f"{attr}={value}"
            for attr, values in op.options.items()
            for value in values
            if attr != without and not self.specs(op, attr, value, specs) and not self.reason(op, attr, value)
        ]

    def specs(self, op: RawOp, attr: str, value: str, among: Collection[str] | None = None) -> list[str]:
        """The named specs that show an option, or those among some specs."""
        names = self.shown.get(op.name, {}).get(attr, {}).get(value, ())
        return [name for name in names if among is None or name in among]

    def reason(self, op: RawOp, attr: str, value: str) -> str:
        """Why no spec has to show an option; empty if one has to."""
        return self.left_out.get(op.name, {}).get(attr, {}).get(value, "")

    def spent(self, raw_ops: RawOps) -> list[str]:
        """The options `OP.ATTRIBUTE=VALUE` that are left out although a spec shows them, or that no op has."""
        return [
            f"{name}.{attr}={value}"
            for name, attributes in self.left_out.items()
            for attr, values in attributes.items()
            for value in values
            if name not in raw_ops.ops
            or value not in raw_ops.ops[name].options.get(attr, ())
            or self.specs(raw_ops.ops[name], attr, value)
        ]


def _left_out(path: Path) -> dict[str, dict[str, dict[str, str]]]:
    """Op → attribute → value → the reason, of a file whose entries list texts `OP.ATTRIBUTE=VALUE`."""
    table: dict[str, dict[str, dict[str, str]]] = {}
    for entry in tomllib.loads(path.read_text("utf-8")).get("left_out", []):
        for text in entry["options"]:
            op, _, rest = text.partition(".")
            attr, _, value = rest.partition("=")
            values = table.setdefault(op, {}).setdefault(attr, {})
            if value in values or not entry["reason"].strip():
                raise ValueError(f"{path.name}: {text}: expected one reason")
            values[value] = entry["reason"].strip()
    return table
