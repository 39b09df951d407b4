"""Read lines: the reader of shards that may be untrusted.

A cut or damaged line is skipped and counted, and so is a line whose arrays do not have their stated size, or whose
error profiles can't be read. An undamaged line of another type is an error that names the field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from tf_opdiff.harness.device.observation import unpack
from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.store.records.accuracy import Accuracy
from tf_opdiff.harness.store.records.error_profile import ErrorProfile
from tf_opdiff.harness.store.shards import whole_lines
from tf_opdiff.harness.store.shards.line_types import SCHEMAS, Observed


class _Kind(msgspec.Struct):
    line: str


def read(path: Path) -> Iterator[dict[str, Any] | None]:
    """The lines of a shard of the kinds in `SCHEMAS`, in order; None for each cut or damaged line.

    Raises:
      OSError: the shard can't be opened.
      ValueError: the shard is a link or not a file, or an undamaged line has another type.
    """
    for where, data in whole_lines.texts(path):
        line = None
        if data is not None:
            kind = untrusted.decode(data, _Kind, where).line
            if kind not in SCHEMAS:
                continue
            line = untrusted.decode(data, SCHEMAS[kind], where)
        yield line if line is not None and sound(line.get("observation", {})) and profiled(line) else None


def sound(observation: Observed) -> bool:
    """Whether every array of an observation can be unpacked and has its stated size."""
    try:
        for results in (observation.get("quantities", {}), *observation.get("again", {}).values()):
            for result in results.values():
                unpack(result.get("value"))
                unpack(result.get("indices"))
    except ValueError:
        return False
    return True


def profiled(line: Mapping[str, Any]) -> bool:
    """Whether every error profile and every accuracy of a line can be read."""
    try:
        for row in (*line.get("errors", {}).values(), *(row for *_, row in line.get("profiles", ()))):
            ErrorProfile.from_json(row)
        for row in line.get("accuracies", {}).values():
            Accuracy.from_json(row)
    except ValueError:
        return False
    return True
