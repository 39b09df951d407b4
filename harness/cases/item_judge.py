"""Item judge: judges the observations of an item's cases; gives the lines of their cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from tf_opdiff.harness.cases.running_case import RunningCase
from tf_opdiff.harness.judge.differences.error_bins import profiles
from tf_opdiff.harness.judge.planted_faults.unseen import first_of_place, plant
from tf_opdiff.harness.judge.promises.allowed import budgeted
from tf_opdiff.harness.judge.promises.want import Want, unlisted
from tf_opdiff.harness.judge.verdicts.judgement import Judgement
from tf_opdiff.harness.judge.verdicts.verdict import Context, Judge, Trial
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.shards.cell_lines import CellLine


@dataclass
class ItemJudge:
    """Judges the observations of an item's cases under plans.

    Attributes:
      context: the fields that all records of a run share, and the known failures.
      program: the digest of the item's program, which result lines have.
    """

    context: Context
    item: Item
    program: str
    _places: set[tuple[str, ...]] = field(default_factory=set)

    @property
    def _judge(self) -> Judge:
        return Judge(self.context)

    def result(self, running: RunningCase, plan: Plan, asked: str) -> CellLine:
        """The result line of an observation: judged against its promise and against claims.

        Notes in `running` whether the observation differs, and where it is known to. `asked` is the digest of the
        request.
        """
        trial, wants = running.trial(plan), dict(running.expected[plan].wants)
        judged = self._judge.judgements(trial, wants)
        records = [judgement.record for judgement in judged.values()]
        if any(record.kind for record in records):
            running.differing.add(plan)
            known = {q: j for q, j in judged.items() if j.record.verdict in ("known", "mismatch")}
            running.known_wrong[plan] = {quantity: judgement.known_wrong for quantity, judgement in known.items()}
            records = [self._planted(trial, judgement, wants.get(q)) for q, judgement in judged.items()]
        records += self._judge.against_claims(trial, running.claims, wants)
        compared = {quantity: judgement.comparison for quantity, judgement in judged.items()}
        errors = {quantity: profile.to_json() for quantity, profile in profiles(trial, wants, compared).items()}
        more: dict[str, Any] = {"observation": trial.observation.to_json(), "asked": asked, "program": self.program}
        return _line("result", running.case, plan, records, **more, **({"errors": errors} if errors else {}))

    def _planted(self, trial: Trial, judgement: Judgement, want: Want | None) -> Record:
        """The record, with the outcome of planted faults if it is the first of its known failure in the item."""
        record = judgement.record
        if want is None or not first_of_place(record, self._places):
            return record
        return plant(self._judge, trial, record.quantity, want, judgement.comparison).noted(record)

    def compared(self, running: RunningCase) -> Iterator[CellLine]:
        """The compare line of each plan of a case that has run: judged against its base, and against itself."""
        for plan, base in running.bases():
            records, trial, wants = [], running.trial(plan), running.expected[plan].wants
            if base != plan:
                results = running.observations[base].quantities
                mine, theirs = (partial(_promised, running, each) for each in (plan, base))
                other = {q: mine(q).from_other(r, theirs(q)) for q, r in results.items()}
                records = self._judge.against_promises(trial, other, base, running.excused(plan, base))
            records += self._judge.against_itself(trial, wants)
            yield _line("compare", running.case, plan, records)

    def broken(self, case: Case, plans: Sequence[Plan], message: str) -> Iterator[CellLine]:
        """The lines of a case whose reference failed."""
        for plan in plans:
            record = self._judge.broken(Trial(self.item.suite, case, plan), message)
            yield _line("result", case, plan, [record], observation={})
            yield _line("compare", case, plan, [])

    def restored(
        self, case: Case, plan: Plan, recorded: Sequence[Record], reason: str, asked: str = ""
    ) -> Iterator[CellLine]:
        """The lines of a cell of which only records were stored, judged by today's known failures.

        `reason` says why the cell has none, if `recorded` is empty; `asked` is the digest of the request.
        """
        records = [replace(self._judge.restored(plan, record), suite=self.item.suite) for record in recorded]
        records = records or [self._judge.absent(Trial(self.item.suite, case, plan), reason)]
        yield _line("result", case, plan, records, observation={}, asked=asked, program=self.program)
        yield _line("compare", case, plan, [])


def _line(kind: str, case: Case, plan: Plan, records: Sequence[Record], **more: Any) -> CellLine:
    return CellLine(kind=kind, case=case.id, device=str(plan.device), mode=plan.mode, records=records, more=more)


def _promised(running: RunningCase, plan: Plan, quantity: str) -> Want:
    """The promise for a quantity under a plan; that of `unlisted`, with the budget of the spec, if there is none."""
    wants = running.expected[plan].wants
    return wants.get(quantity) or budgeted(running.case, quantity, unlisted(wants.values())).in_mode(plan.mode)
