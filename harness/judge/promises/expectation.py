"""Expectation: the promises of a case under a plan, computed with NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.judge.promises import reference
from tf_opdiff.harness.judge.promises.allowed import Arguments, budgeted, limited
from tf_opdiff.harness.judge.promises.ceilings import MEASURED, with_ceiling
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.judge.promises.upstream import Tangents, Upstreams, random_tangents, random_upstreams
from tf_opdiff.harness.judge.promises.want import ANY_VALUE, UNDOCUMENTED, Want, positive_zeros, result_dtype
from tf_opdiff.harness.spec.contract import Raises, Side, Undocumented
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.harness.spec.quantity import family_of, named
from tf_opdiff.harness.spec.spec import Case


@dataclass(frozen=True)
class Expectation:
    """The promises of a case: a `Want` for each quantity, the upstreams and tangents to send, the states to read.

    `promise` is the pattern that names the side of the contract, or empty for the reference. Plans with the same
    promise are compared with each other.
    """

    wants: Mapping[str, Want]
    upstreams: tuple[np.ndarray | None, ...] | None = None
    state: tuple[str, ...] = ()
    tangents: tuple[np.ndarray, ...] | None = None
    promise: str = ""

    def under(self, plan: Plan) -> Expectation:
        """The expectation with the tolerance that applies under a plan; ceilings are those of this CPU."""
        if str(plan.device) != MEASURED:
            return self.in_mode(plan.mode)
        return replace(self, wants={quantity: want.in_mode(plan.mode) for quantity, want in self.wants.items()})

    def in_mode(self, mode: str) -> Expectation:
        """The expectation with the tolerance that applies in a mode, without ceilings: sweeps measure those."""
        wants = {quantity: want.in_mode(mode) for quantity, want in self.wants.items()}
        return replace(self, wants={quantity: replace(want, ceiling=None) for quantity, want in wants.items()})


def widened(array: np.ndarray) -> np.ndarray:
    """Floats as float64, complex numbers as complex128, other arrays unchanged."""
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    return array.astype(np.float64) if is_float(array.dtype) else array


def _named(family: str, wants: Sequence[Want]) -> dict[str, Want]:
    return dict(zip(named(family, len(wants)), wants, strict=True))


@np.errstate(all="ignore")
def expectation(
    case: Case,
    inputs: tuple[np.ndarray, ...],
    side: Side | None,
    *,
    upstreams_of: Upstreams = random_upstreams,
    tangents_of: Tangents = random_tangents,
    bounds: bool = True,
) -> Expectation:
    """The promises of the case on one side of its contract or, without a side, of its reference.

    `upstreams_of` makes the upstream gradients for the outputs of the reference, `tangents_of` the tangents to the
    inputs. Without `bounds`, the promises are without tolerance and alternatives.

    Raises:
      ReferenceFault: the reference, a derivative or a bound raised, imported TensorFlow, or returned no promise.
    """
    spec, dtype, run = case.spec, np.dtype(case.dtype), case.spec.execution
    wide = tuple(widened(x) for x in inputs)
    promised = reference.call((side or spec).reference, "reference", case, *wide)
    if isinstance(promised, Raises | Undocumented):
        return Expectation({"output[0]": budgeted(case, "output[0]", _without_value(promised))})
    outputs, state = reference.outputs(promised, "reference", case)
    values = [*outputs, *state.values()]
    if spec.second and not side:
        reference.check_second(case, values, reference.call(spec.second, "second reference", case, *wide))
    wants = _named("output", [Want("value", v, result_dtype(v, dtype)) for v in values])
    vjp = (side.vjp if side else None) or spec.derivatives.vjp
    with reference.guarded("upstreams", case):
        upstreams = upstreams_of(outputs, case) if vjp else None
    sources = [x.dtype for x in inputs]
    gs: Any = None
    ts: Any = None
    if vjp and upstreams is not None:
        gs = tuple(None if g is None else widened(g) for g in upstreams)
        gs = gs if isinstance(promised, tuple) and len(outputs) > 1 else gs[0]
        gradients = reference.call(vjp, "VJP", case, gs, *wide)
        wants |= _named("grad", reference.gradients("VJP", gradients, sources, dtype if run.state else None, case))
    tangents = tangents_of(inputs, case) if (spec.derivatives.jvp or spec.derivatives.hvp) and not side else None
    if tangents is not None:
        ts = tuple(map(widened, tangents))
        ts = ts if len(ts) > 1 else ts[0]
        wants |= _along(case, Arguments(wide, gs, ts), [result_dtype(y, dtype) for y in outputs], sources)
    if bounds:
        wants = limited(case, wants, Arguments(wide, gs, ts), side)
        wants = {q: with_ceiling(case, q, want, inputs) for q, want in wants.items()}
    if run.only_gradients:
        wants = {q: want for q, want in wants.items() if family_of(q) != "output"}
    wants = {q: _unsigned(want) if spec.tolerance.has_unsigned_zeros(q) else want for q, want in wants.items()}
    return Expectation(wants, upstreams, tuple(state), tangents)


def _without_value(promised: Raises | Undocumented) -> Want:
    if isinstance(promised, Raises):
        return Want("error", raises=promised)
    return Want(UNDOCUMENTED if promised.error else ANY_VALUE, undocumented=promised.why)


def _along(case: Case, arguments: Arguments, outputs: list[np.dtype], sources: list[np.dtype]) -> dict[str, Want]:
    """The promises of forward mode and of second order, in the dtypes of the outputs and of the inputs."""
    promised = case.spec.derivatives
    wants: dict[str, Want] = {}
    if promised.jvp:
        values = reference.call(promised.jvp, "JVP", case, arguments.tangents, *arguments.inputs)
        wants |= _named("jvp", reference.gradients("JVP", values, outputs, None, case))
    if promised.hvp:
        word = "second derivative"
        values = reference.call(promised.hvp, word, case, arguments.upstreams, arguments.tangents, *arguments.inputs)
        wants |= _named("hvp", reference.gradients(word, values, sources, None, case))
    return wants


def _unsigned(want: Want) -> Want:
    """The promise with positive zeros, which a zero of either sign keeps; a number that rounds to zero is a zero."""
    if want.value is None or want.dtype is None:
        return want
    value, *others = (_zero_where_rounded(v, want.dtype) for v in (want.value, *want.alternatives))
    return replace(want, value=value, alternatives=tuple(others), unsigned_zeros=True)


def _zero_where_rounded(value: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """An array with +0 in place of each -0, and of each float that rounds to zero in a dtype."""
    if is_float(dtype):
        value = np.where(value.astype(dtype) == 0, value.dtype.type(0), value)
    return positive_zeros(value)


def expectations(case: Case, inputs: tuple[np.ndarray, ...], plans: list[Plan]) -> dict[Plan, Expectation]:
    """The promises of the case under each plan; computed once for each side of its contract.

    Of the bounds, each plan's promises have those of its mode.
    """
    spec = case.spec
    names = {plan: spec.promise(plan) for plan in plans}
    sides = {name: expectation(case, inputs, spec.contract.get(name)) for name in dict.fromkeys(names.values())}
    if any(sides):
        plain = _of_reference(case, inputs, sides)
        sides = {name: _beside(side, plain) if name else side for name, side in sides.items()}
    return {plan: replace(sides[name].under(plan), promise=name) for plan, name in names.items()}


def _of_reference(case: Case, inputs: tuple[np.ndarray, ...], sides: Mapping[str, Expectation]) -> Mapping[str, Want]:
    """The promises of the reference; empty if the reference does not accept these inputs."""
    try:
        return (sides.get("") or expectation(case, inputs, None, bounds=False)).wants
    except ReferenceFault:
        return {}


def _beside(side: Expectation, plain: Mapping[str, Want]) -> Expectation:
    """The promises of a side, with the values of the reference as `Want.plain`."""
    values = {q: want.value for q, want in plain.items()}
    return replace(side, wants={q: replace(want, plain=values.get(q)) for q, want in side.wants.items()})
