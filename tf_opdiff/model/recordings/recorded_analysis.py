"""Recorded analysis: compares the ops of a program here with a recording that another TensorFlow or machine wrote."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.model.analysis import BASE, Analysis
from tf_opdiff.model.answers import tolerance
from tf_opdiff.model.answers.answer import Answer
from tf_opdiff.model.recordings.recording_file import About, read_recording


@dataclass
class RecordedAnalysis(Analysis):
    """An analysis of a recording; use it in a `with` statement. The program itself does not run.

    Attributes:
      source: the file of the recording.
    """

    source: Path = field(kw_only=True)

    def __enter__(self) -> Self:
        """Reads the recording.

        Raises:
          ValueError: it is damaged, or of another format, program or inputs.
        """
        recording, self.about = read_recording(self.source, self.request, self.folder / "ops.values")
        self.recordings = {0: recording}
        return self

    def answer(self, plan: Plan) -> Answer:
        """Replays each recorded op under a plan; names the first whose own error exceeds its budget."""
        reports = tuple(self.replayed(plan))
        alone = [r.number for r in reports if r.failure or any(map(tolerance.serious, r.comparisons))]
        same = not any(
            r.local or any(comparison.kind for comparison in r.comparisons) for r in reports if r.comparisons
        )
        return Answer(
            plan=str(plan),
            against=_name(self.about),
            kind="alone" if alone else "same" if same else "rounding",
            ops=tuple(alone[:1]),
            reports=reports,
            detail=f"{len(alone) - 1} later ops differ alone as well" if len(alone) > 1 else "",
        )


def _name(about: About) -> str:
    """The plan of a recording, with its TensorFlow and its machine."""
    return f"{BASE} of TensorFlow {about.tf} on {about.machine}"
