"""Code archive: this project's code as a zip file, for a Python that has not got it."""

from __future__ import annotations

import base64
import functools
import io
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from tf_opdiff.harness.paths import ATLAS, ROOT
from tf_opdiff.harness.remote import bootstrap
from tf_opdiff.harness.store.run_directories.code_digest import folder_of

#: Folders of the suites that a device server does not read, and tests, which it reads if suites are in them.
_LEFT_OUT, _TESTS = {"__pycache__", "known"}, "tests"


@functools.cache
def archive(suites: str) -> bytes:
    """A zip file with the package `tf_opdiff`, as an installed one, and with the top-level packages of the suites.

    `suites` are the modules or packages of the suites, with spaces between them.
    """
    tests = any(_TESTS in name.split(".") for name in suites.split())
    ours = [ROOT / "harness", ROOT / "suites", *sorted(ATLAS.glob("*.toml"))]
    files = {f"tf_opdiff/{path.relative_to(ROOT)}": path for path in _files(ours, tests=tests)}
    package = ROOT / "tf_opdiff" / "__init__.py"
    files["tf_opdiff/__init__.py"] = package if package.is_file() else ROOT / package.name  # a checkout, or installed
    for name in {name.partition(".")[0] for name in suites.split()} - {"tf_opdiff"}:
        top = folder_of(name)
        files |= {str(path.relative_to(top.parent)): path for path in _files([top], tests=True)}
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as target:
        for name, path in sorted(files.items()):
            target.writestr(name, path.read_bytes())
    return data.getvalue()


def _files(places: list[Path], *, tests: bool) -> Iterator[Path]:
    """The files in some folders, or the files that these places are themselves."""
    for place in places:
        if place.is_file():
            yield place
        for folder, folders, names in os.walk(place):
            folders[:] = [f for f in folders if f not in _LEFT_OUT and (tests or f != _TESTS)]
            yield from (Path(folder, name) for name in names)


def first_line() -> bytes:
    """The program of `bootstrap` as one line for an interactive Python."""
    text = base64.b64encode(zlib.compress(Path(bootstrap.__file__).read_bytes())).decode()
    program = f'import base64, zlib; names = {{}}; exec(zlib.decompress(base64.b64decode("{text}")), names)'
    return f'{program}; names["main"]()\n'.encode()
