"""Covered ops: the coverage of each raw op by the records of runs, and how many ops are covered."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.lists.options import Options
from tf_opdiff.harness.spec.lists.raw_ops import RawOps
from tf_opdiff.harness.spec.spec import SWEEPS
from tf_opdiff.reports.analysis.ops.op_coverage import STATES, OpCoverage
from tf_opdiff.reports.data.figures.counts import by_each_op
from tf_opdiff.reports.data.figures.tested_inputs import Shape, of_inputs, of_outputs

#: The dtypes of cases with strings; the registry has one name for both.
STRINGS = ("S", "object")


def coverages(
    raw_ops: RawOps,
    records: pd.DataFrame,
    catalog: Catalog,
    outputs: Mapping[str, Sequence[tuple[str, Shape]]],
    options: Options,
) -> list[OpCoverage]:
    """The coverage of each raw op, in the order of the registry.

    A spec is about the ops that it names in `ops`; its records count for them where the executed graph has the op.
    Records of specs that the catalog lacks do not count, nor do those that are `unavailable` or an `error`. Shapes are
    read from the first recorded case of each spec, recipe and set of attributes.

    Args:
      raw_ops: the registry.
      records: those of one run or of several, as `reports.load` gives them.
      catalog: the specs that made them.
      outputs: the dtypes and shapes of the outputs by case; see `reports.data.figures.tested_inputs`.
      options: the options that the programs of specs show.
    """
    by_op = {name: OpCoverage(op, options) for name, op in raw_ops.ops.items()}
    subjects = {(spec.name, mode): set(spec.ops_in(mode)) for spec in catalog.specs.values() for mode in spec.modes}
    cases: dict[tuple[str, str, str], tuple[str, str, set[str]]] = {}
    rows: Iterable[Any] = _compared(records, set(by_op), subjects).itertuples(index=False)
    for row in rows:
        coverage = by_op[row.raw_op]
        if row.raw_op not in subjects.get((row.spec, row.mode), ()):
            coverage.inside.add(row.spec)
            continue
        coverage.note_row(row)
        if row.recipe not in SWEEPS and row.lacking != "True":
            cases.setdefault((row.spec, row.recipe, row.attrs), (row.case, row.dtype, set()))[2].add(row.raw_op)
    _note_tensors([(case, dtype, [by_op[op] for op in ops]) for case, dtype, ops in cases.values()], catalog, outputs)
    return list(by_op.values())


def _note_tensors(
    cases: Sequence[tuple[str, str, Sequence[OpCoverage]]],
    catalog: Catalog,
    outputs: Mapping[str, Sequence[tuple[str, Shape]]],
) -> None:
    """Adds the shapes and the dtypes of cases to the ops that they are about.

    Inputs can take long to draw, so only those of ops are drawn whose outputs do not show everything.
    """
    known = catalog.cases
    for case, dtype, subjects in cases:
        for subject in subjects:
            subject.note(of_outputs(outputs.get(case, ()), dtype))
    for case, _, subjects in cases:
        if case in known and not all(subject.shows_all for subject in subjects):
            inputs = of_inputs(known[case])
            for subject in subjects:
                subject.note(inputs)


def _compared(
    records: pd.DataFrame, ops: Collection[str], subjects: Mapping[tuple[str, str], Collection[str]]
) -> pd.DataFrame:
    """One row for each op, spec, device, mode, dtype, quantity, recipe and set of attributes, with a case.

    `ran` says whether the op ran, `value` whether a value was promised, and `lacking` whether there was nothing to
    compare, for want of a kernel. `subjects` are the ops that each spec names, by spec and mode.
    """
    counted = (records["against"] == "numpy") & (records["verdict"] != "error")
    some = records.loc[counted & records["spec"].isin({spec for spec, _ in subjects})]
    keys = ["raw_op", "spec", "device", "mode", "dtype", "quantity", "recipe", "attrs", "ran", "value", "lacking"]
    ran = some["ran_on"] != ""
    gradient = some["quantity"].astype("str").str.startswith("grad")  # a promise of no gradient counts
    value = ran & (gradient | (some["size"] > 0)) | some["want"].astype("str").str.startswith("value")
    lacking = some["verdict"] == "unavailable"
    dtypes = some["dtype"].astype("str").replace(dict.fromkeys(STRINGS, "bytes"))
    some = some.assign(ran=ran, value=value, lacking=lacking, dtype=dtypes)
    rows = some[[*keys, "case"]].astype("str").drop_duplicates(keys)
    rows = by_each_op(rows)
    return rows[rows["raw_op"].isin(ops)].drop_duplicates(keys)


def totals(raw_ops: RawOps, coverages: Sequence[OpCoverage]) -> pd.DataFrame:
    """One row for each family, then one for all: `family`, `ops`, and a count by state."""
    table = pd.DataFrame({"family": [c.op.family for c in coverages], "state": [c.state for c in coverages]})
    counts = pd.crosstab(table["family"], table["state"]).reindex(columns=list(STATES), fill_value=0)
    counts = counts.reindex([family for family in raw_ops.titles if family in counts.index])
    counts = counts.rename(index=raw_ops.titles)
    counts.loc["all"] = counts.sum()
    counts.insert(0, "ops", counts.sum(axis=1))
    return counts.rename_axis(columns=None).reset_index()
