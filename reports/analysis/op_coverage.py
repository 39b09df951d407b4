"""Op coverage: for each raw op, what the records of runs show, and what is missing until the op is covered."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.options import Options
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.quantity import FAMILIES, family_of
from tf_opdiff.harness.spec.raw_ops import SHAPE_DTYPES, SHAPES, RawOp, RawOps
from tf_opdiff.harness.spec.spec import SWEEPS
from tf_opdiff.reports.data.counts import by_each_op
from tf_opdiff.reports.data.tested_inputs import Shape, TestedInputs, of_inputs, of_outputs

#: The states of an op, from the best to the worst, with their meaning.
STATES: Mapping[str, str] = {
    "covered": "compared with a reference in two modes or more, with every dtype, gradient, shape and option",
    "partly": "compared with a reference, but something is missing",
    "inside": "ran only inside programs of other ops",
    "untested": "did not run",
    "excluded": "no spec has to cover it, for the reason given",
}
#: The number of modes in which a dtype has to be tested.
MODES_NEEDED = 2
#: The dtypes of cases with strings; the registry has one name for both.
STRINGS = ("S", "object")
#: The dtypes that TensorFlow differentiates.
DIFFERENTIABLE = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


@dataclass
class OpCoverage:
    """The coverage of a raw op by the records of runs.

    Attributes:
      op: the raw op.
      options: the options that specs show, and why some are left out.
      specs: the specs about this op that compared it with a reference.
      modes: the modes in which they did; an error that was promised counts.
      ran: the modes in which the op ran. A version of an op that was removed runs in a v1 graph, and others refuse it.
      outputs, gradients: the modes by dtype in which an output and a gradient was compared.
      lacking: the modes by dtype in which some device has no kernel of the gradient.
      quantities: the families of the compared quantities.
      shapes: the tested shapes.
      dtypes: the dtypes of further inputs and of outputs.
      inside: the other specs whose programs ran the op.
    """

    op: RawOp
    options: Options
    specs: set[str] = field(default_factory=set)
    modes: set[str] = field(default_factory=set)
    ran: set[str] = field(default_factory=set)
    outputs: dict[str, set[str]] = field(default_factory=dict)
    gradients: dict[str, set[str]] = field(default_factory=dict)
    lacking: dict[str, set[str]] = field(default_factory=dict)
    quantities: set[str] = field(default_factory=set)
    shapes: set[str] = field(default_factory=set)
    dtypes: set[str] = field(default_factory=set)
    inside: set[str] = field(default_factory=set)

    @property
    def state(self) -> str:
        """One of `STATES`."""
        if self.specs:
            return "partly" if self.missing else "covered"
        return "excluded" if self.op.excluded else "inside" if self.inside else "untested"

    @property
    def missing(self) -> list[str]:
        """What records have to show until the op is covered; empty for a covered op."""
        if not self.specs:
            return ["a spec"]
        lines = []
        if len(self.modes) < MODES_NEEDED:
            lines.append(f"a second mode in addition to {', '.join(self.modes)}")
        if dtypes := self._missing_dtypes():
            lines.append("dtypes " + " ".join(dtypes))
        lines += self._missing_gradient()
        if shapes := [shape for shape in self.op.shapes if shape not in self.shapes]:
            lines.append("shapes " + " ".join(shapes))
        if options := self.options.missing(self.op, self.specs, self.data):
            lines.append("options " + " ".join(options))
        return lines

    @property
    def data(self) -> str:
        """The type attribute of the data: out of those whose dtypes are dtypes of cases, the one with the most dtypes.

        Empty if there is none: the data of `All` are booleans, and its one type attribute is about the axes.
        """
        tested = [attr for attr in self.op.dtypes if not self.outputs.keys().isdisjoint(self.op.both(attr))]
        return max(
            (attr for attr in tested if attr not in SHAPE_DTYPES), key=lambda attr: len(self.op.both(attr)), default=""
        )

    def _missing_dtypes(self) -> list[str]:
        """The untested dtypes of the data; without such an attribute, those that no other input or output has."""
        if data := self.data:
            return _lacking(self.op.both(data), self.outputs)
        every = dict.fromkeys(
            dtype for attr in self.op.dtypes if attr not in SHAPE_DTYPES for dtype in self.op.both(attr)
        )
        return [dtype for dtype in every if dtype not in self.dtypes]

    def _missing_gradient(self) -> list[str]:
        """The dtypes without a gradient, if TensorFlow registers a gradient function.

        A gradient that only one mode can have is needed in this mode alone: the others refuse the op, or have no kernel
        of an op of the gradient in this dtype.
        """
        if self.op.gradient != "function":
            return []
        if not self.gradients:
            return ["the gradient"]
        every = self.op.both(self.data) if self.data else ()
        dtypes = [
            dtype
            for dtype in every
            if dtype in DIFFERENTIABLE
            and _lacking([dtype], self.gradients, len(self.ran - self.lacking.get(dtype, set())))
        ]
        return ["the gradient in " + " ".join(dtypes)] if dtypes else []

    def tested_dtypes(self, attr: str) -> list[str]:
        """The tested dtypes of a type attribute, out of those with kernels for both devices."""
        tested = self.outputs if attr == self.data else self.dtypes
        return [dtype for dtype in self.op.both(attr) if dtype in tested]

    @property
    def shows_all(self) -> bool:
        """Whether every shape and every dtype of the op was tested."""
        others = [attr for attr in self.op.dtypes if attr != self.data]
        return self.shapes.issuperset(self.op.shapes) and all(
            self.dtypes.issuperset(self.op.both(attr)) for attr in others
        )

    def note(self, tensors: TestedInputs) -> None:
        """Adds the shapes and dtypes of the inputs or outputs of a case."""
        self.shapes |= tensors.shapes
        self.dtypes |= tensors.dtypes

    def _option(self, attr: str) -> dict[str, Any]:
        """The values of an attribute, those that a record shows, and why some are left out."""
        values = self.op.options[attr]
        reasons = {value: self.options.reason(self.op, attr, value) for value in values}
        return {
            "values": list(values),
            "tested": [value for value in values if self.options.specs(self.op, attr, value, self.specs)],
            "left_out": {value: reason for value, reason in reasons.items() if reason},
        }

    def row(self) -> dict[str, Any]:
        """The coverage as JSON-able data."""
        return {
            "op": self.op.name,
            "family": self.op.family,
            "state": self.state,
            "missing": [] if self.op.excluded else self.missing,
            "excluded": self.op.excluded,
            "kernels": {attr: {d: list(types) for d, types in by.items()} for attr, by in self.op.dtypes.items()},
            "gradient": self.op.gradient,
            "specs": sorted(self.specs),
            "inside": sorted(self.inside),
            "modes": [mode for mode in MODES if mode in self.modes],
            "quantities": [family for family in FAMILIES if family in self.quantities],
            "dtypes": {attr: self.tested_dtypes(attr) for attr in self.op.dtypes},
            "gradient_dtypes": sorted(self.gradients),
            "attributes": {attr: self._option(attr) for attr in self.op.options},
            "shapes": {shape: shape in self.shapes for shape in SHAPES if shape in self.op.shapes},
        }


def _lacking(dtypes: Collection[str], modes: Mapping[str, Collection[str]], possible: int = MODES_NEEDED) -> list[str]:
    """The dtypes that were tested in too few modes, if so many are possible; one is needed in any case."""
    needed = max(1, min(MODES_NEEDED, possible))
    return [dtype for dtype in dtypes if len(modes.get(dtype, ())) < needed]


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


def totals(raw_ops: RawOps, coverages: Sequence[OpCoverage]) -> pd.DataFrame:
    """One row for each family, then one for all: `family`, `ops`, and a count by state."""
    table = pd.DataFrame({"family": [c.op.family for c in coverages], "state": [c.state for c in coverages]})
    counts = pd.crosstab(table["family"], table["state"]).reindex(columns=list(STATES), fill_value=0)
    counts = counts.reindex([family for family in raw_ops.titles if family in counts.index])
    counts = counts.rename(index=raw_ops.titles)
    counts.loc["all"] = counts.sum()
    counts.insert(0, "ops", counts.sum(axis=1))
    return counts.rename_axis(columns=None).reset_index()
