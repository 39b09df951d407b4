"""Program address: where a page links to for the program of a finding, or for a record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from tf_opdiff.harness.repro.archive import NAME

#: The columns that make the key of a record in the fragment of a run's page.
_KEY = ("case", "device", "mode", "quantity", "against")


def program_address(outcome: Mapping[str, Any], path: str) -> str:
    """The address of a program, relative to the folder of its run.

    A program in an archive is shown by the run's page, at the record that it reproduces.

    Args:
      outcome: that of the finding.
      path: the path of the program, as `reports.text.sentences.sentence.of_repro` gives it; empty if there is none.
    """
    if f"/{NAME}/" not in path:
        return quote(path)
    return record_address(outcome)


def record_address(record: Mapping[str, Any]) -> str:
    """The address of a record in the page of its run, relative to the run's folder."""
    return "index.html#" + urlencode({"record": "|".join(str(record[name]) for name in _KEY)})
