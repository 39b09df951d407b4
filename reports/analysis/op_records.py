"""Op records: the coverage of each raw op, from the records of runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pandas as pd

from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.options import Options
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.harness.spec.raw_ops import RawOps
from tf_opdiff.harness.spec.spec import SWEEPS
from tf_opdiff.reports.analysis.op_coverage import OpCoverage
from tf_opdiff.reports.data.counts import by_each_op
from tf_opdiff.reports.data.tested_inputs import Shape, of_inputs, of_outputs

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
    Where TensorFlow refused to build the program, as the spec promises, there is no graph: see `_refused`. Records of
    specs that the catalog lacks do not count, nor do those that are `unavailable` or an `error`. Shapes are read from
    the first recorded case of each spec, recipe and set of attributes.

    Args:
      raw_ops: the registry.
      records: those of one run or of several, as `reports.load` gives them.
      catalog: the specs that made them.
      outputs: the dtypes and shapes of the outputs by case; see `reports.data.tested_inputs`.
      options: the options that the programs of specs show.
    """
    by_op = {name: OpCoverage(op, options) for name, op in raw_ops.ops.items()}
    subjects = {(spec.name, mode): set(spec.ops_in(mode)) for spec in catalog.specs.values() for mode in spec.modes}
    rows = _compared(records, set(by_op), subjects)
    cases: dict[tuple[str, str, str], tuple[str, set[str]]] = {}
    for raw_op, spec, mode, dtype, family, recipe, attrs, ran, lacking, case in rows.itertuples(index=False):
        coverage = by_op[raw_op]
        if lacking == "True":
            if family == "grad":
                coverage.lacking.setdefault(dtype, set()).add(mode)
            continue
        if raw_op not in subjects.get((spec, mode), ()):
            coverage.inside.add(spec)
            continue
        coverage.specs.add(spec)
        coverage.modes.add(mode)
        if ran == "True":
            coverage.ran.add(mode)
        coverage.quantities.add(family)
        for name, by_dtype in (("output", coverage.outputs), ("grad", coverage.gradients)):
            if family == name:
                by_dtype.setdefault(dtype, set()).add(mode)
        if recipe not in SWEEPS:
            cases.setdefault((spec, recipe, attrs), (case, set()))[1].add(raw_op)
    _note_tensors([(case, [by_op[op] for op in ops]) for case, ops in cases.values()], catalog, outputs)
    return list(by_op.values())


def _note_tensors(
    cases: Sequence[tuple[str, Sequence[OpCoverage]]],
    catalog: Catalog,
    outputs: Mapping[str, Sequence[tuple[str, Shape]]],
) -> None:
    """Adds the shapes and the dtypes of cases to the ops that they are about.

    Inputs can take long to draw, so only those of ops are drawn whose outputs do not show everything.
    """
    known = catalog.cases
    for case, subjects in cases:
        for subject in subjects:
            subject.note(of_outputs(outputs.get(case, ())))
    for case, subjects in cases:
        if case in known and not all(subject.shows_all for subject in subjects):
            inputs = of_inputs(known[case])
            for subject in subjects:
                subject.note(inputs)


def _compared(
    records: pd.DataFrame, ops: Collection[str], subjects: Mapping[tuple[str, str], Collection[str]]
) -> pd.DataFrame:
    """One row for each op, spec, mode, dtype, family of quantities, recipe and set of attributes, with a case.

    `ran` says whether the op ran, `lacking` whether there was nothing to compare, for want of a kernel. `subjects` are
    the ops that each spec names, by spec and mode.
    """
    counted = (records["against"] == "numpy") & (records["verdict"] != "error")
    some = records.loc[counted & records["spec"].isin({spec for spec, _ in subjects})]
    families = some["quantity"].astype("category").map(family_of)
    keys = ["raw_op", "spec", "mode", "dtype", "family", "recipe", "attrs", "ran", "lacking"]
    lacking = some["verdict"] == "unavailable"
    dtypes = some["dtype"].astype("str").replace(dict.fromkeys(STRINGS, "bytes"))
    ran = some["ran_on"] != ""
    some = some.assign(family=families, ran=ran, lacking=lacking, dtype=dtypes, raw_op=_refused(some, subjects))
    rows = some[[*keys, "case"]].astype("str").drop_duplicates(keys)
    rows = by_each_op(rows)
    return rows[rows["raw_op"].isin(ops)].drop_duplicates(keys)


def _refused(records: pd.DataFrame, subjects: Mapping[tuple[str, str], Collection[str]]) -> pd.Series:
    """The column `raw_op`, also with the op that TensorFlow refused where no graph was built.

    It is the only op of the spec, if the spec promises the error, and if the same case ran in another mode: then the
    mode refuses the op, and not an argument. Ops that were removed run in v1 graphs alone.
    """
    raw_ops = records["raw_op"].astype("str")
    kept = (raw_ops == "") & records["verdict"].isin(["match", "contract"])
    kept &= records["case"].isin(records.loc[records["ran_on"] != "", "case"])
    names = [subjects.get(key, ()) for key in zip(records.loc[kept, "spec"], records.loc[kept, "mode"], strict=True)]
    alone = pd.Series([next(iter(ops)) if len(ops) == 1 else "" for ops in names], raw_ops.index[kept], "str")
    return raw_ops.mask(kept, alone)
