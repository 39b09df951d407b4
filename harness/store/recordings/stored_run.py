"""Stored run: the observations that a run directory has of a device, to judge them again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.shards.merged import Cell


class StoredDevice:
    """The observations of a device in the result lines of a run, as a `harness.store.recordings.recording.Recording`
    has them.

    A cell whose program or inputs are not today's has no observation, and an observation says so.
    """

    def __init__(self, device: str, lines: Mapping[Cell, Mapping[str, Any]]) -> None:
        """`lines` are the result lines of a run: `Merged.results`."""
        self._device, self._lines = device, lines

    def observation(self, request: Request, program: str) -> Observation:
        """The stored observation for a request and the digest of a program, or an observation with the reason."""
        line = self._lines.get((request.case, self._device, request.mode), {})
        if why := _refused(line, request.case, request.mode, program, request.digest):
            return Observation.of_all(request.quantities, Result("error", code="Unavailable", message=why), lacking=why)
        return Observation.from_json(line["observation"])

    def without_arrays(self, case: str, mode: str) -> bool:
        """Whether a cell has records in place of an observation: a sweep, or a reference that failed."""
        line = self._lines.get((case, self._device, mode))
        return line is not None and not line["observation"]

    def records(self, case: str, mode: str, program: str, asked: str = "") -> tuple[list[Record], str]:
        """The records of a cell without an observation, and the reason if it has none."""
        line = self._lines.get((case, self._device, mode), {})
        why = _refused(line, case, mode, program, asked)
        return ([] if why else line["records"]), why


def _refused(line: Mapping[str, Any], case: str, mode: str, program: str, asked: str) -> str:
    """Why a result line can't be judged today; empty if it can."""
    if not line:
        return f"the run has no {case} under {mode}"
    if "program" not in line:
        return f"the reference of {case} failed in the run: run it again"
    for what, name, now in (("another program", "program", program), ("other inputs", "asked", asked)):
        if line.get(name, "") != now:
            return f"the run has {case} with {what} than it has here: run it again"
    return ""
