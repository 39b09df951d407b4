"""Public API: TensorFlow's public functions that compute, and those that no spec calls, from data files.

`python -m tf_opdiff.harness.device.public_api` writes `public_api.txt`; a test compares it with the installed
TensorFlow.
"""

from __future__ import annotations

from pathlib import Path

from tf_opdiff.harness.paths import RAW_OPS
from tf_opdiff.harness.spec.catalog import Catalog

#: The files in the folder of raw ops: all functions, and those that no spec calls yet.
LIST, TO_DO = "public_api.txt", "public_api_to_do.txt"


def functions(folder: Path = RAW_OPS) -> list[str]:
    """The paths of the functions and of the classes of Keras in the module `tf`, such as `math.tan`."""
    return (folder / LIST).read_text("utf-8").split()


def uncalled(catalog: Catalog, folder: Path = RAW_OPS) -> list[str]:
    """The functions that no spec has to call: evidence `called:NAME` says which ones a run proves to be called."""
    called = {
        name.partition("(")[0]
        for spec in catalog.specs.values()
        for mode in spec.modes
        for kind, name in spec.evidence_in(mode)
        if kind == "called"
    }
    return [name for name in functions(folder) if name not in called]


def to_do(folder: Path = RAW_OPS) -> list[str]:
    """The functions that no spec calls yet; `python -m harness coverage --api` writes the file."""
    return (folder / TO_DO).read_text("utf-8").split()
