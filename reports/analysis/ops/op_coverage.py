"""Op coverage: for each raw op, what the records of runs show, and what is missing until the op is covered."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from tf_opdiff.harness.spec.lists.options import Options
from tf_opdiff.harness.spec.lists.raw_ops import SHAPE_DTYPES, SHAPES, RawOp
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.quantity import FAMILIES, family_of
from tf_opdiff.reports.data.figures.tested_inputs import TestedInputs

#: The states of an op, from the best to the worst, with their meaning.
STATES: Mapping[str, str] = {
    "covered": "values compared in two modes or more and under XLA, with every dtype, gradient, shape and option",
    "partly": "compared with a reference, but something is missing",
    "inside": "ran only inside programs of other ops",
    "untested": "did not run",
    "excluded": "no spec has to cover it, for the reason given",
}
#: The number of modes in which a dtype has to be tested.
MODES_NEEDED = 2
#: The dtypes that TensorFlow differentiates.
DIFFERENTIABLE = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


@dataclass
class OpCoverage:
    """The coverage of a raw op by the records of runs.

    Attributes:
      op: the raw op.
      options: the options that specs show, and why some are left out.
      specs: the specs about this op that compared it with a reference.
      devices: the devices on which they did.
      modes: the modes in which a value was promised; a promised error does not count.
      ran: the modes in which the op ran. A version of an op that was removed runs in a v1 graph, and others refuse it.
      outputs, gradients: the modes by dtype in which a value of an output and of a gradient was promised.
      by_spec: the inputs by which each spec had a gradient.
      lacking: the modes by dtype in which some device has no kernel of the gradient.
      quantities: the families of the compared quantities.
      shapes: the tested shapes.
      dtypes: the dtypes of further inputs and of outputs.
      inside: the other specs whose programs ran the op.
    """

    op: RawOp
    options: Options
    specs: set[str] = field(default_factory=set)
    devices: set[str] = field(default_factory=set)
    modes: set[str] = field(default_factory=set)
    ran: set[str] = field(default_factory=set)
    outputs: dict[str, set[str]] = field(default_factory=dict)
    gradients: dict[str, set[str]] = field(default_factory=dict)
    by_spec: dict[str, set[str]] = field(default_factory=dict)
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
            lines.append(f"a value in a second mode in addition to {', '.join(self.modes) or 'none'}")
        if dtypes := self._missing_dtypes():
            lines.append("dtypes " + " ".join(dtypes))
        lines += [*self._missing_xla(), *self._missing_gradient()]
        if shapes := [shape for shape in self.op.shapes if shape not in self.shapes]:
            lines.append("shapes " + " ".join(shapes))
        if options := self.options.missing(self.op, self.specs, self.data):
            lines.append("options " + " ".join(options))
        return lines

    @property
    def explained(self) -> dict[str, str]:
        """The lines of `missing` that no spec can show, with the reasons."""
        lines = self.missing
        return {line: why for line in lines for lacks, why in self.op.gaps.items() if line.startswith(lacks)}

    @property
    def data(self) -> str:
        """The type attribute of the data: out of those whose dtypes are dtypes of cases, the one with the most dtypes.

        Of several, the one of which the most are tested: a program around IRFFT may have the dtype of its result.
        Empty if there is none: the data of `All` are booleans, and its one type attribute is about the axes.
        """
        tested = [attr for attr in self.op.dtypes if not self.outputs.keys().isdisjoint(self.op.both(attr))]
        choice = {attr: self.op.both(attr) for attr in tested if attr not in SHAPE_DTYPES}
        return max(choice, key=lambda attr: (len(choice[attr]), len(self.outputs.keys() & choice[attr])), default="")

    def _missing_dtypes(self) -> list[str]:
        """The untested dtypes of the data; without such an attribute, those that no other input or output has."""
        if data := self.data:
            return _lacking(self.op.both(data), self.outputs, len(self.modes))
        every = dict.fromkeys(
            dtype for attr in self.op.dtypes if attr not in SHAPE_DTYPES for dtype in self.op.both(attr)
        )
        return [dtype for dtype in every if dtype not in self.dtypes]

    def _missing_xla(self) -> list[str]:
        """The dtypes without a value under XLA, if XLA has a kernel."""
        if "XLA" not in self.op.devices:
            return []
        if not self.data:
            return [] if "xla" in self.modes else ["XLA"]
        dtypes = [dtype for dtype in self.op.compiled(self.data) if "xla" not in self.outputs.get(dtype, ())]
        return ["XLA in " + " ".join(dtypes)] if dtypes else []

    def _missing_gradient(self) -> list[str]:
        """The operands and the dtypes without a gradient, if TensorFlow registers a gradient function.

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
        count, operands = max(map(len, self.by_spec.values())), len(self.op.operands)
        by = [f"the gradient by {operands - count} of {operands} operands"] if count < operands else []
        return by + (["the gradient in " + " ".join(dtypes)] if dtypes else [])

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

    def note_row(self, row: Any) -> None:
        """Adds a row of records: see `covered_ops`."""
        family, lacking, value = family_of(row.quantity), row.lacking == "True", row.value == "True"
        if lacking and family == "grad":
            self.lacking.setdefault(row.dtype, set()).add(row.mode)
        if lacking:
            return
        self.specs.add(row.spec)
        self.devices.add(row.device)
        self.quantities.add(family)
        self.ran |= {row.mode} if row.ran == "True" else set()
        if family == "grad":
            self.by_spec.setdefault(row.spec, set()).add(row.quantity)
        if family in ("output", "grad") and value:
            by_dtype = self.outputs if family == "output" else self.gradients
            by_dtype.setdefault(row.dtype, set()).add(row.mode)
        if family == "output" and value:
            self.modes.add(row.mode)

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
            "explained": {} if self.op.excluded else self.explained,
            "excluded": self.op.excluded,
            "kernels": {attr: {d: list(types) for d, types in by.items()} for attr, by in self.op.dtypes.items()},
            "gradient": self.op.gradient,
            "specs": sorted(self.specs),
            "inside": sorted(self.inside),
            "devices": sorted(self.devices),
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
