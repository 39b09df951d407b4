"""Expectation: what a case promises under a plan, worked out in NumPy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.harness.spec.recipes import Draw, is_float
from tf_opdiff.harness.spec.spec import Case, Raises, Side, Sparse

Upstreams = Callable[[list[np.ndarray], Case], tuple[np.ndarray | None, ...] | None]


class ReferenceFault(Exception):
    """A spec's reference or VJP failed, or is contradicted by its second reference: the suite's own fault."""


@dataclass(frozen=True)
class Want:
    """The promise for one quantity.

    `value` may be wider than `dtype`, the dtype in which the result must come. `bound` is the largest absolute error
    allowed, elementwise, where the spec gives one. `plain` is what the reference gives where a contract's side promises
    something else. `unsigned_zeros`: a zero of either sign keeps the promise.
    """

    status: str
    value: np.ndarray | None = None
    dtype: np.dtype | None = None
    indices: np.ndarray | None = None
    shape: tuple[int, ...] | None = None
    raises: Raises | None = None
    bound: np.ndarray | None = None
    plain: np.ndarray | None = None
    unsigned_zeros: bool = False

    @classmethod
    def of(cls, result: Result) -> Want:
        """What another plan observed, as the promise."""
        if result.status != "value" and result.status != "sparse":
            return cls(result.status, raises=None if result.status == "unconnected" else Raises(result.code))
        assert result.value is not None
        return cls(result.status, result.value, result.value.dtype, result.indices, result.shape)

    def from_other(self, result: Result, slack: float = 1.0) -> Want:
        """What was observed elsewhere as the promise, with this one's bound, times `slack`, and its rule for zeros."""
        bound = None if self.bound is None else self.bound * slack
        return replace(Want.of(result), bound=bound, plain=self.plain, unsigned_zeros=self.unsigned_zeros)


#: The promise for a quantity that the spec does not mention: it must not come.
NOTHING = Want("nothing")


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


def positive_zeros(array: np.ndarray) -> np.ndarray:
    """Floats, in which each -0 is now +0; anything else as it is."""
    return array + np.zeros((), array.dtype) if array.dtype.kind == "c" or is_float(array.dtype) else array


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


class _Refused:
    """An import hook that refuses TensorFlow, and Keras, which brings it along."""

    @staticmethod
    def find_spec(fullname: str, path: object = None, target: object = None) -> None:
        """Refuses an import.

        Raises:
          ImportError: it is one of TensorFlow's.
        """
        if fullname.partition(".")[0] in ("tensorflow", "keras", "tf_keras"):
            raise ImportError(f"a reference may not import {fullname}: it has to be independent of TensorFlow")


@contextmanager
def _without_tensorflow() -> Iterator[None]:
    """Refuses imports of TensorFlow in here.

    Raises:
      ImportError: it is imported already.
    """
    if "tensorflow" in sys.modules:
        raise ImportError("TensorFlow is imported in this process: expected in device servers only")
    sys.meta_path.insert(0, _Refused)
    try:
        yield
    finally:
        sys.meta_path.remove(_Refused)


def _call(function: Any, what: str, case: Case, *arguments: Any) -> Any:
    try:
        with _without_tensorflow():
            return function(*arguments, **case.keywords)
    except Exception as error:
        raise ReferenceFault(f"the {what} of {case.id} failed: {type(error).__name__}: {error}") from error


def _outputs(promised: Any, what: str, case: Case) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    """What a reference returned: outputs, and final values of the state by name.

    Raises:
      ReferenceFault: there is nothing, or something that is no array.
    """
    values = list(promised) if isinstance(promised, tuple) else [promised]
    state = values.pop() if values and isinstance(values[-1], dict) else {}
    for value in (*values, *state.values()):
        if not _is_data(_array(value)):
            raise ReferenceFault(f"the {what} of {case.id} returned {type(value).__name__}: expected arrays of numbers")
    if not values and not state:
        raise ReferenceFault(f"the {what} of {case.id} promises nothing: expected an output, a final value or Raises")
    return [_array(v) for v in values], {k: _array(v) for k, v in state.items()}


def _is_data(array: np.ndarray) -> bool:
    """Whether an array holds numbers, booleans or byte strings."""
    if array.dtype.kind == "O":
        return all(isinstance(x, bytes) for x in array.flat)
    return array.dtype.kind in "biufc" or _is_of_ml_dtypes(array.dtype)


def _is_of_ml_dtypes(dtype: np.dtype) -> bool:
    """Whether a dtype is one of numbers that NumPy has from ml_dtypes, such as bfloat16 or int4."""
    return dtype.kind == "V" and hasattr(ml_dtypes, dtype.name)


def _array(value: Any) -> np.ndarray:
    """An array; byte strings as objects, which is how TensorFlow gives them; a ragged list as an object."""
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.array(None)
    return array.astype(object) if array.dtype.kind == "S" else array


def _agree(case: Case, values: list[np.ndarray], second: Any) -> None:
    """Raises ReferenceFault unless the second reference gives the same, once rounded, as the first."""
    outputs, state = _outputs(second, "second reference", case)
    others = [*outputs, *state.values()]
    if len(others) != len(values):
        raise ReferenceFault(f"the two references of {case.id} promise {len(values)} and {len(others)} quantities")
    for i, (one, other) in enumerate(zip(values, others, strict=True)):
        dtype = result_dtype(one, np.dtype(case.dtype))
        if one.shape != other.shape or not np.array_equal(
            one.astype(dtype), other.astype(dtype), equal_nan=dtype.kind != "O"
        ):
            raise ReferenceFault(f"reference suspect: the two references of {case.id} disagree on output[{i}]")


def _gradients(what: str, promised: Any, dtypes: Sequence[np.dtype], rest: np.dtype | None, case: Case) -> list[Want]:
    """The promises for a gradient with respect to sources of these dtypes, and, of `rest`, to the state's variables.

    Raises:
      ReferenceFault: there are too few or too many, or one is no array.
    """
    if isinstance(promised, Raises):
        promised = (promised,) * len(dtypes)
    values = promised if isinstance(promised, tuple) else (promised,)
    if len(values) < len(dtypes) or (rest is None and len(values) > len(dtypes)):
        raise ReferenceFault(f"the {what} of {case.id} returned {len(values)} gradients: expected {len(dtypes)}")
    for value in values:
        array = value.values if isinstance(value, Sparse) else value
        if not (value is None or isinstance(value, Raises) or _is_data(_array(array))):
            raise ReferenceFault(f"the {what} of {case.id} returned {type(array).__name__}: expected arrays of numbers")
    sources = [*dtypes, *[rest] * (len(values) - len(dtypes))]
    return [_gradient(v, d) for v, d in zip(values, sources, strict=True) if d is not None]


def _gradient(value: Any, source: np.dtype) -> Want:
    if isinstance(value, Raises):
        return Want("error", raises=value)
    if value is None:
        return Want("unconnected")
    if isinstance(value, Sparse):
        return Want("sparse", np.asarray(value.values), source, np.asarray(value.indices), tuple(value.shape))
    return Want("value", np.asarray(value), source)


def _named(family: str, wants: Sequence[Want]) -> dict[str, Want]:
    return {f"{family}[{i}]": want for i, want in enumerate(wants)}


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
      ReferenceFault: the reference, a derivative or a bound raised, imported TensorFlow, or returned no promise.
    """
    spec, dtype = case.spec, np.dtype(case.dtype)
    wide = tuple(widened(x) for x in inputs)
    promised = _call((side or spec).reference, "reference", case, *wide)
    if isinstance(promised, Raises):
        return Expectation({"output[0]": Want("error", raises=promised)})
    outputs, state = _outputs(promised, "reference", case)
    values = [*outputs, *state.values()]
    if spec.second and not side:
        _agree(case, values, _call(spec.second, "second reference", case, *wide))
    wants = _named("output", [Want("value", v, result_dtype(v, dtype)) for v in values])
    vjp = (side.vjp if side else None) or spec.vjp
    upstreams = upstreams_of(outputs, case) if vjp else None
    sources = [x.dtype for x in inputs]
    gs: Any = None
    if vjp and upstreams is not None:
        gs = tuple(None if g is None else widened(g) for g in upstreams)
        gs = gs if isinstance(promised, tuple) and len(outputs) > 1 else gs[0]
        found = _call(vjp, "VJP", case, gs, *wide)
        wants |= _named("grad", _gradients("VJP", found, sources, dtype if spec.state else None, case))
    ts: Any = None
    tangents = random_tangents(inputs, case) if (spec.jvp or spec.hvp) and not side else None
    if tangents is not None:
        ts = tuple(map(widened, tangents))
        ts = ts if len(ts) > 1 else ts[0]
        if spec.jvp:
            found = _call(spec.jvp, "JVP", case, ts, *wide)
            wants |= _named("jvp", _gradients("JVP", found, [result_dtype(y, dtype) for y in outputs], None, case))
        if spec.hvp:
            found = _call(spec.hvp, "second derivative", case, gs, ts, *wide)
            wants |= _named("hvp", _gradients("second derivative", found, sources, None, case))
    if bounds and spec.bound:
        wants = {q: _bounded(case, q, want, gs, ts, wide) for q, want in wants.items()}
    wants = {q: _unsigned(want) if spec.has_unsigned_zeros(q) else want for q, want in wants.items()}
    return Expectation(wants, upstreams, tuple(state), tangents)


def _unsigned(want: Want) -> Want:
    """The promise, which a zero of either sign keeps."""
    return want if want.value is None else replace(want, value=positive_zeros(want.value), unsigned_zeros=True)


def _bounded(case: Case, quantity: str, want: Want, gs: Any, ts: Any, wide: Sequence[np.ndarray]) -> Want:
    """The promise with the largest absolute error that the spec allows of it; without a bound, as it is.

    A bound may be NaN or infinite in places, where the promise or its derivative is: NaN excuses nothing.

    Raises:
      ReferenceFault: the bound raised, or is not made of real numbers that are not negative, of the promise's shape.
    """
    bound, dtype = case.spec.bound_of(quantity), np.dtype(case.dtype)
    if not bound or want.value is None:  # no gradients for a bool, say
        return want
    unit = float(ml_dtypes.finfo(dtype).eps) / 2 if dtype.kind == "c" or is_float(dtype) else 0.0
    upstream = (gs, ts) if quantity.startswith(("jvp", "hvp")) else (gs,)
    what = f"bound of {quantity}"
    allowed = np.asarray(_call(bound, what, case, unit, *upstream, *wide))
    if allowed.dtype.kind not in "biuf":
        raise ReferenceFault(f"the {what} of {case.id} is {allowed.dtype}: expected real numbers")
    try:
        everywhere = np.broadcast_to(allowed, want.value.shape)
    except ValueError as error:
        shapes = f"has shape {allowed.shape}: expected {want.value.shape}"
        raise ReferenceFault(f"the {what} of {case.id} {shapes}") from error
    finite = np.isfinite(want.value)
    if (allowed < 0).any():
        raise ReferenceFault(f"the {what} of {case.id} is {allowed.min()}: expected no negative number")
    if finite.any() and ((not allowed.ndim and np.isnan(allowed)) or np.isposinf(everywhere[finite]).all()):
        raise ReferenceFault(f"the {what} of {case.id} is {allowed.flat[0]} everywhere: expected finite numbers")
    return replace(want, bound=allowed)


def expectations(case: Case, inputs: tuple[np.ndarray, ...], plans: list[Plan]) -> dict[Plan, Expectation]:
    """What the case promises under each plan; worked out once for each side of its contract."""
    sides = {plan: case.spec.side(plan) for plan in plans}
    made = {id(side): expectation(case, inputs, side) for side in sides.values()}
    if any(sides.values()):
        made = {key: one if key == id(None) else _beside(one, case, inputs, made) for key, one in made.items()}
    return {plan: made[id(side)] for plan, side in sides.items()}


def _beside(side: Expectation, case: Case, inputs: tuple[np.ndarray, ...], made: dict[int, Expectation]) -> Expectation:
    """What a side promises, with what the reference gives beside it; the reference may not take these inputs."""
    try:
        plain = made.get(id(None)) or expectation(case, inputs, None, bounds=False)
    except ReferenceFault:
        return side
    values = {q: want.value for q, want in plain.wants.items()}
    return replace(side, wants={q: replace(want, plain=values.get(q)) for q, want in side.wants.items()})
