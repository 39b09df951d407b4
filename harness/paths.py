"""Paths: where this repository stands, and its suites."""

import os
from pathlib import Path

_HERE = Path(__file__).resolve()
#: The top of the repository: the folder that holds `pyproject.toml`.
ROOT = next((folder for folder in _HERE.parents if (folder / "pyproject.toml").is_file()), _HERE.parents[1])
#: The package of the suites, and the folder of known failures relative to `ROOT`: names, which nothing here imports.
SUITES, KNOWN = "tf_opdiff.suites", "suites/known"
#: The folder with the raw ops that the suites are to cover, their families, and the ops that are left out.
RAW_OPS = ROOT / "suites" / "coverage"
#: The folder of the atlas, with the largest errors and the ceilings made from them.
ATLAS = ROOT / "recordings" / "atlas"


def cache_folder() -> Path:
    """The folder of all caches: `$TF_OPDIFF_CACHE`, or `tf-opdiff/` in `$XDG_CACHE_HOME`, or `.cache/` in `ROOT`."""
    shared = os.environ.get("XDG_CACHE_HOME")
    return Path(os.environ.get("TF_OPDIFF_CACHE") or (Path(shared, "tf-opdiff") if shared else ROOT / ".cache"))
