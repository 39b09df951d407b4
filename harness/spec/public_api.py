"""Public API: TensorFlow's public functions that compute, the specs that call them, and reasons, from data files.

`python -m tf_opdiff.harness.device.public_api` writes `public_api.txt`; a test compares it with the installed
TensorFlow.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tf_opdiff.harness.paths import RAW_OPS
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import MODES

#: The files in the folder of raw ops: all functions, and those that no spec has to call.
LIST, LEFT_OUT = "public_api.txt", "public_api_left_out.toml"


@dataclass(frozen=True)
class PublicFunction:
    """A function, or a class of Keras, of the module `tf`.

    name      its path, such as `math.tan`.
    object    the first name of the object; another one where the object has several names.
    specs     spec → modes in which a run of it proves that the object was called, by any of its names.
    left_out  mode → the reason why no spec has to call it there.
    """

    name: str
    object: str
    specs: Mapping[str, tuple[str, ...]]
    left_out: Mapping[str, str]

    @property
    def missing(self) -> tuple[str, ...]:
        """The modes in which no spec calls it, and for which no reason is given."""
        done = {mode for modes in self.specs.values() for mode in modes} | self.left_out.keys()
        return tuple(mode for mode in MODES if mode not in done)


def functions(catalog: Catalog, folder: Path = RAW_OPS) -> Iterator[PublicFunction]:
    """The functions, with the specs that call them: evidence `called:NAME` says which ones a run proves to be called.

    Raises:
      ValueError: a reason is given for an unknown function.
    """
    objects, reasons = names(folder), left_out(folder)
    if unknown := reasons.keys() - objects.keys():
        raise ValueError(f"{folder / LEFT_OUT}: expected functions of {LIST}, got {', '.join(sorted(unknown))}")
    specs: dict[str, dict[str, tuple[str, ...]]] = {}
    for path, spec, mode in _calls(catalog):
        if path in objects:
            of_object = specs.setdefault(objects[path], {})
            of_object[spec] = tuple(dict.fromkeys((*of_object.get(spec, ()), mode)))
    for name, own in objects.items():
        yield PublicFunction(name, own, specs.get(own, {}), reasons.get(own, reasons.get(name, {})))


def names(folder: Path = RAW_OPS) -> dict[str, str]:
    """The name of each function → the first name of the object; a line of the file is `NAME` or `NAME = FIRST`."""
    lines = (line.split(" = ") for line in (folder / LIST).read_text("utf-8").splitlines())
    return {name: first[0] if first else name for name, *first in lines}


def left_out(folder: Path = RAW_OPS) -> dict[str, dict[str, str]]:
    """Function → mode → the reason why no spec calls it in the mode; an entry without `modes` is about all modes."""
    reasons: dict[str, dict[str, str]] = {}
    for entry in tomllib.loads((folder / LEFT_OUT).read_text("utf-8")).get("left_out", []):
        for name in entry["functions"]:
            reasons.setdefault(name, {}).update(dict.fromkeys(entry.get("modes", MODES), entry["reason"]))
    return reasons


def _calls(catalog: Catalog) -> Iterator[tuple[str, str, str]]:
    """The function, the spec and the mode of each call that a run has to prove."""
    for spec in catalog.specs.values():
        for mode in spec.modes:
            for kind, name in spec.evidence_in(mode):
                if kind == "called":
                    yield name.partition("(")[0], spec.name, mode
