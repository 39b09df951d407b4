"""Item sweeps: the sweeps of an item within a run: every bit pattern of its dtype, if the dtype has 16 bits."""

from __future__ import annotations

from collections.abc import Collection

from tf_opdiff.harness.cases.case_runner import CaseRunner
from tf_opdiff.harness.cases.planned_cells import planned
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.store.shards.cell_lines import CellWriter
from tf_opdiff.harness.store.shards.shard import Shard
from tf_opdiff.harness.sweep import workers
from tf_opdiff.harness.sweep.measurements import tally_rows
from tf_opdiff.harness.sweep.measurements.pieces import patterns
from tf_opdiff.harness.sweep.sweep import Sweep


def run(cases: CaseRunner, item: Item, shard: Shard, writer: CellWriter) -> None:
    """Runs the sweeps of an item, if it has any, on the devices and for the cases of `cases`.

    Gives their lines to `writer`; the lines of their blocks go to the shard.
    """
    judge = cases.judge(item)
    for case, plan in planned(item, cases.plans, cases.only, sweeps=True):
        if case in item.sweeps and plan.device in cases.stored:
            for line in cases.restored(judge, case, plan):
                writer.add(line)
    attrs = {case.id: case.attrs for case in item.sweeps if not cases.only or case.id in cases.only}
    plans = [plan for plan in cases.plans if plan.device not in cases.stored]
    for label in dict.fromkeys(attrs.values()) if plans else ():
        _sweep(cases, Sweep(item, plans, 0, patterns(item.dtype), attrs=label), attrs, shard, writer)


def _sweep(cases: CaseRunner, sweep: Sweep, case_ids: Collection[str], shard: Shard, writer: CellWriter) -> None:
    """Runs a sweep; gives the lines of the cases with these ids to `writer`."""
    context = cases.context
    try:
        workers.run(sweep, [cases.servers], shard, lambda _: None)
        records = [r for cell in tally_rows.cells(sweep) for r in tally_rows.records(sweep, context, *cell)]
        errors = tally_rows.profiles(sweep)
    except ReferenceFault as error:
        records, errors = tally_rows.faulty(sweep, context, str(error)), {}
    records = [record for record in records if record.case in case_ids]
    tally_rows.write(records, writer, cases.program(sweep.item), errors)
