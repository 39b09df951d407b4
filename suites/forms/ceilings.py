"""Ceilings: the measured ceilings of unary ops, which `python -m harness atlas` writes from the atlas.

They are data of one device, one version of TensorFlow, and the instruction sets of the processors on which errors were
measured: the last digits of a result depend on these. On another machine the budgets and bounds of the declarations
hold alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tf_opdiff.harness.device.processes import server_python
from tf_opdiff.harness.paths import ATLAS
from tf_opdiff.harness.spec.tolerances.ceiling import Ceiling, Ceilings, Steps
from tf_opdiff.harness.system.processor import processor
from tf_opdiff.harness.system.text_file import read_toml


def of_this_machine(spec: str) -> Ceilings:
    """The ceilings of a spec that were measured with this TensorFlow on these instruction sets; empty if none were."""
    return _of_this_machine().get(spec, {})


@cache
def _of_this_machine() -> Mapping[str, Ceilings]:
    if server_python.other_python():  # in an emulator of another processor, for example
        return {}
    try:
        header, ceilings = load(ATLAS / f"cpu@{version('tensorflow')}.toml")
    except (FileNotFoundError, PackageNotFoundError):
        return {}
    return ceilings if processor()["instructions"] in header["instructions"] else {}


def load(path: Path) -> tuple[Mapping[str, Any], Mapping[str, Ceilings]]:
    """The header of a file, `tf` and the `instructions` of each processor, and the ceilings by name of the spec.

    Raises:
      ValueError: the file has another form.
    """
    table = read_toml(path)
    header = {"tf": table.pop("tf"), "instructions": tuple(table.pop("instructions"))}
    return header, {spec: _ceilings(entries) for spec, entries in table.items()}


def _ceilings(entries: Mapping[str, Any]) -> Ceilings:
    """The ceilings of a spec: quantity → dtype → family of modes → ceiling."""
    ceilings: dict[str, dict[str, dict[str, Ceiling]]] = {}
    for dtype, families in entries.items():
        for family, quantities in families.items():
            for quantity, signs in quantities.items():
                each = (Steps.parse(signs.get(sign, signs.get("both", ""))) for sign in ("negative", "positive"))
                ceilings.setdefault(f"{quantity}[0]", {}).setdefault(dtype, {})[family] = Ceiling(*each)
    return ceilings
