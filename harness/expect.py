"""Expectation: what a case promises under a plan, worked out in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from harness.inputs import Draw, is_float
from harness.observation import Result
from harness.plan import Plan
from harness.spec import Case, Raises, Side, Sparse

Upstreams = Callable[[list[np.ndarray], Case], tuple[np.ndarray | None, ...] | None]


class ReferenceFault(Exception):
    """A spec's reference or VJP failed, or is contradicted by its second reference: the suite's own fault."""


@dataclass(frozen=True)
class Want:
    """The promise for one quantity.

    `value` may be wider than `dtype`, the dtype in which the result must come. `bound` is the largest absolute error
    allowed, elementwise, where the spec gives one.
    """

    status: str
    value: np.ndarray | None = None
    dtype: np.dtype | None = None
    indices: np.ndarray | None = None
    shape: tuple[int, ...] | None = None
    raises: Raises | None = None
    bound: np.ndarray | None = None

    @classmethod
    def of(cls, result: Result) -> Want:
        """What another plan observed, as the promise."""
        if result.status != "value" and result.status != "sparse":
            return cls(result.status, raises=None if result.status == "unconnected" else Raises(result.code))
        assert result.value is not None
        return cls(result.status, result.value, result.value.dtype, result.indices, result.shape)


@dataclass(frozen=True)
class Expectation:
    """What a case promises: a `Want` for each quantity; upstreams and tangents to send; the state values to read."""

    wants: Mapping[str, Want]
    upstreams: tuple[np.ndarray | None, ...] | None = None
    state: tuple[str, ...] = ()
    tangents: tuple[np.ndarray, ...] | None = None


def widened(array: np.ndarray) -> np.ndarray:
    """Floats as float64, complex numbers as complex128, anything else as it is."""
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    return array.astype(np.float64) if is_float(array.dtype) else array


def result_dtype(value: np.ndarray, dtype: np.dtype) -> np.dtype:
    """The dtype in which a reference's result must come: a wide one stands for the case's dtype."""
    if value.dtype in (np.complex128, np.clongdouble) and dtype.kind == "c":
        return dtype
    if value.dtype not in (np.float64, np.longdouble):
        return value.dtype
    if dtype.kind == "c":
        return np.dtype(f"f{dtype.itemsize // 2}")
    return dtype if is_float(dtype) else value.dtype


def random_upstreams(outputs: list[np.ndarray], case: Case) -> tuple[np.ndarray | None, ...] | None:
    """Random upstream gradients, away from zero, for the outputs that have a gradient.

    Where no output is a float, integers are sent, so that what the plans do with them is seen as well.
    """
    draw = Draw(case.seed ^ 0x5EED)
    dtypes = [result_dtype(y, np.dtype(case.dtype)) for y in outputs]
    smooth = [d.kind == "c" or is_float(d) for d in dtypes]
    chosen = smooth if any(smooth) else [d.kind in "iu" for d in dtypes]
    made = []
    for y, dtype, wanted in zip(outputs, dtypes, chosen, strict=True):
        g = draw.uniform(*y.shape, low=0.5, high=4.0) * np.where(draw.booleans(*y.shape), 1, -1)
        if dtype.kind == "c":
            g = g + 1j * draw.uniform(*y.shape, low=0.5, high=4.0)
        made.append((np.abs(g) if dtype.kind == "u" else g).astype(dtype) if wanted else None)
    return tuple(made) if any(chosen) else None


def random_tangents(inputs: Sequence[np.ndarray], case: Case) -> tuple[np.ndarray, ...]:
    """Random tangents, away from zero, one for each input."""
    draw = Draw(case.seed ^ 0x7A46)
    signs = (np.where(draw.booleans(*x.shape), 1, -1) for x in inputs)
    return tuple(
        (draw.uniform(*x.shape, low=0.5, high=4.0) * s).astype(x.dtype) for x, s in zip(inputs, signs, strict=True)
    )


def _call(function: Any, what: str, case: Case, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        raise ReferenceFault(f"the {what} of {case.id} failed: {type(error).__name__}: {error}") from error


def _outputs(promised: Any) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    values = list(promised) if isinstance(promised, tuple) else [promised]
    state = values.pop() if values and isinstance(values[-1], dict) else {}
    return [_array(v) for v in values], {k: _array(v) for k, v in state.items()}


def _array(value: Any) -> np.ndarray:
    """An array; byte strings as objects, which is how TensorFlow gives them."""
    array = np.asarray(value)
    return array.astype(object) if array.dtype.kind == "S" else array


def _agree(case: Case, values: list[np.ndarray], second: Any) -> None:
    """Raises ReferenceFault unless the second reference gives the same, once rounded, as the first."""
    others, state = _outputs(second)
    for i, (one, other) in enumerate(zip(values, [*others, *state.values()], strict=True)):
        dtype = result_dtype(one, np.dtype(case.dtype))
        if one.shape != other.shape or not np.array_equal(
            one.astype(dtype), other.astype(dtype), equal_nan=dtype.kind != "O"
        ):
            raise ReferenceFault(f"reference suspect: the two references of {case.id} disagree on output[{i}]")


def _gradients(name: str, promised: Any, dtypes: Sequence[np.dtype], rest: np.dtype) -> dict[str, Want]:
    """The promises for a gradient with respect to sources of these dtypes, and, of `rest`, to the state's variables."""
    if isinstance(promised, Raises):
        promised = (promised,) * len(dtypes)
    values = promised if isinstance(promised, tuple) else (promised,)
    sources = [*dtypes, *[rest] * (len(values) - len(dtypes))]
    return {f"{name}[{i}]": _gradient(v, d) for i, (v, d) in enumerate(zip(values, sources, strict=True))}


def _gradient(value: Any, source: np.dtype) -> Want:
    if isinstance(value, Raises):
        return Want("error", raises=value)
    if value is None:
        return Want("unconnected")
    if isinstance(value, Sparse):
        return Want("sparse", np.asarray(value.values), source, np.asarray(value.indices), tuple(value.shape))
    return Want("value", np.asarray(value), source)


@np.errstate(all="ignore")
def expectation(
    case: Case,
    inputs: tuple[np.ndarray, ...],
    side: Side | None,
    *,
    upstreams_of: Upstreams = random_upstreams,
    bounds: bool = True,
) -> Expectation:
    """What the case promises on one side of its contract, or, without one, by its reference.

    `upstreams_of` makes the upstream gradients for the outputs of the reference. `bounds` may be left for later.

    Raises:
      ReferenceFault: the reference or the VJP raised.
    """
    spec, dtype = case.spec, np.dtype(case.dtype)
    wide = tuple(widened(x) for x in inputs)
    promised = _call((side or spec).reference, "reference", case, *wide)
    if isinstance(promised, Raises):
        return Expectation({"output[0]": Want("error", raises=promised)})
    outputs, state = _outputs(promised)
    values = [*outputs, *state.values()]
    if spec.second and not side:
        _agree(case, values, _call(spec.second, "second reference", case, *wide))
    wants = {f"output[{i}]": Want("value", v, result_dtype(v, dtype)) for i, v in enumerate(values)}
    vjp = (side.vjp if side else None) or spec.vjp
    upstreams = upstreams_of(outputs, case) if vjp else None
    gs: Any = None
    if vjp and upstreams is not None:
        gs = tuple(None if g is None else widened(g) for g in upstreams)
        gs = gs if isinstance(promised, tuple) and len(outputs) > 1 else gs[0]
        gradients = _call(vjp, "VJP", case, gs, *wide)
        sources = [x.dtype for x in inputs]
        wants |= _gradients("grad", gradients, sources, dtype)
    ts: Any = None
    tangents = random_tangents(inputs, case) if (spec.jvp or spec.hvp) and not side else None
    if tangents is not None:
        ts = tuple(map(widened, tangents))
        ts = ts if len(ts) > 1 else ts[0]
        promises = {}
        if spec.jvp:
            promises["jvp"] = _call(spec.jvp, "JVP", case, ts, *wide), [result_dtype(y, dtype) for y in outputs]
        if spec.hvp:
            promises["hvp"] = _call(spec.hvp, "second derivative", case, gs, ts, *wide), [x.dtype for x in inputs]
        for name, (found, dtypes) in promises.items():
            wants |= _gradients(name, found, dtypes, dtype)
    unit = float(ml_dtypes.finfo(dtype).eps) / 2 if dtype.kind == "c" or is_float(dtype) else 0.0
    for quantity, want in list(wants.items()) if bounds and spec.bound else ():
        bound = spec.of(spec.bound, quantity)
        if bound and want.status in ("value", "sparse"):  # no gradients for a bool, say
            upstream = (gs, ts) if quantity.startswith(("jvp", "hvp")) else (gs,)
            allowed = _call(bound, "bound", case, unit, *upstream, *wide)
            wants[quantity] = replace(want, bound=np.asarray(allowed))
    return Expectation(wants, upstreams, tuple(state), tangents)


def expectations(case: Case, inputs: tuple[np.ndarray, ...], plans: list[Plan]) -> dict[Plan, Expectation]:
    """What the case promises under each plan; worked out once for each side of its contract."""
    sides = {plan: case.spec.side(plan) for plan in plans}
    made = {id(side): expectation(case, inputs, side) for side in sides.values()}
    return {plan: made[id(side)] for plan, side in sides.items()}
