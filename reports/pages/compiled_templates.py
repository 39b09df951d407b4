"""Compiled templates: the code that Jinja makes, kept between processes; to make it takes a tenth of a small run."""

from __future__ import annotations

import hashlib
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket, BytecodeCache

from tf_opdiff.harness.paths import cache_folder
from tf_opdiff.harness.system.file_cache import FileCache

REPORTS = Path(__file__).parents[1]


class CompiledTemplates(BytecodeCache):
    """Files in the folder of all caches, by the template and by the code of the reports.

    Jinja compares the text of the template. It renders constants when it compiles, so code counts too.
    """

    def __init__(self) -> None:
        self._code = _code()
        self._files = FileCache(cache_folder() / "templates")

    def load_bytecode(self, bucket: Bucket) -> None:
        if (content := self._files.get(f"{self._code}-{bucket.key}")) is not None:
            bucket.bytecode_from_string(content)

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._files.put(f"{self._code}-{bucket.key}", bucket.bytecode_to_string())


def _code() -> str:
    """A digest of the version of Jinja, and of the names, times and sizes of the files of the reports."""
    paths = sorted(REPORTS.rglob("*.py"))
    stats = [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in paths if "tests" not in path.parts]
    return hashlib.sha256(repr((jinja2.__version__, stats)).encode()).hexdigest()[:16]
