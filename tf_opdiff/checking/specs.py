"""Specs of a check: the user's callable as a spec, and its twins."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from tf_opdiff.checking.inputs import Domain, Upstream, recipes
from tf_opdiff.checking.recorded import Recorded
from tf_opdiff.checking.request import CheckRequest
from tf_opdiff.checking.slope_check import SlopeCheck
from tf_opdiff.harness.device.request import Arguments
from tf_opdiff.harness.spec.inputs.pickled import PickledFunction, PickledProgram
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.gradient_alone import gradient_alone
from tf_opdiff.suites.derived.unknown_shape import unknown_shape

#: The longest name of a spec that is taken from a callable's name.
_LONGEST = 60


@dataclass
class OwnSpec:
    """The user's callable as a spec.

    Attributes:
      spec: the spec.
      recorded: family → the promises that the base plan has to give.
      runs: the arguments of the runs that gave them.
    """

    spec: Spec
    recorded: dict[str, Recorded]
    runs: list[Arguments] = field(default_factory=list)

    @classmethod
    def of(cls, request: CheckRequest, folder: Path) -> OwnSpec:
        """Writes the user's functions into a folder, and makes the spec.

        Raises:
          ValueError: a budget is no number of ULPs, or a mode does not exist.
        """
        paths = {what: str(folder / f"{n}.function") for n, what in enumerate(request.functions)}
        for what, path in paths.items():
            Path(path).write_bytes(request.functions[what])
        functions = {what: PickledFunction(path) for what, path in paths.items()}
        recorded = {}
        if "reference" not in functions:
            recorded["output"] = Recorded("output")
        if request.gradient and "vjp" not in functions:
            recorded["grad"] = Recorded("grad")
        by_label = recipes(request.sources)
        spec = Spec(
            name=re.sub(r"[^A-Za-z0-9_.]+", "-", request.name).strip("-")[:_LONGEST] or "callable",
            program=PickledProgram(paths["program"]),
            reference=functions.get("reference") or recorded["output"],
            vjp=functions.get("vjp") or recorded.get("grad"),
            recipes=by_label,
            upstreams=dict.fromkeys(by_label, Upstream()),
            ops="",
            dtypes=(_dtype_of(request.sources),),
            modes=request.modes,
            ulp=request.ulp,
            bound={q: functions[name] for name in functions if (q := name.removeprefix("bound of ")) != name},
        )
        return cls(spec, recorded)

    def slope_check(self, plan: Plan) -> SlopeCheck | None:
        """The comparison of the gradients under the base plan with differences of the user's reference.

        None if there is no reference, if the user gives the gradient, or if gradients are not compared.
        """
        if "output" in self.recorded or "grad" not in self.recorded:
            return None
        return SlopeCheck(self.spec.reference, plan)

    def promising(self, outputs: int) -> tuple[Spec, ...]:
        """The spec with so many outputs, and its twins: gradients alone, and a program for unknown sizes."""
        constant = tuple(f"output[{i}]" for i in range(outputs))  # a user's output may ignore its inputs
        spec = replace(self.spec, constant=constant)
        traced = any(mode != "eager" for mode in spec.modes)
        if not (spec.derivatives.vjp and traced):
            return (spec,)
        unknown = unknown_shape(spec, spec.recipes).but(upstreams=spec.derivatives.upstreams)
        return spec, *gradient_alone(spec), unknown


def _dtype_of(sources: tuple[np.ndarray | Domain, ...]) -> str:
    """The dtype of the first input of floats, else of the first input."""
    dtypes = [np.dtype(source.dtype) for source in sources]
    return next((d for d in dtypes if is_float(d) or d.kind == "c"), dtypes[0]).name
