"""Paths: where this repository stands."""

from pathlib import Path

_HERE = Path(__file__).resolve()
#: The top of the repository: the folder that holds `pyproject.toml`.
ROOT = next((folder for folder in _HERE.parents if (folder / "pyproject.toml").is_file()), _HERE.parents[1])
