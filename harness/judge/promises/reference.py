"""Reference: calls the functions of a spec that promise results, and checks their results."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.judge.promises.remembered_results import remembered
from tf_opdiff.harness.judge.promises.unchanged import ProcessChanged, unchanged
from tf_opdiff.harness.judge.promises.want import Want, result_dtype
from tf_opdiff.harness.spec.contract import Raises, Sparse
from tf_opdiff.harness.spec.spec import Case


class ReferenceFault(Exception):
    """A spec's reference or derivative failed, or its second reference disagrees: the suite's own fault."""


class _Refused:
    """An import hook that refuses TensorFlow, and Keras, which imports TensorFlow."""

    @staticmethod
    def find_spec(fullname: str, path: object = None, target: object = None) -> None:
        """Refuses an import.

        Raises:
          ImportError: the module belongs to TensorFlow or Keras.
        """
        if fullname.partition(".")[0] in ("tensorflow", "keras", "tf_keras"):
            raise ImportError(f"a reference may not import {fullname}: it has to be independent of TensorFlow")


@contextmanager
def without_tensorflow() -> Iterator[None]:
    """Refuses imports of TensorFlow inside this context.

    Raises:
      ImportError: TensorFlow is imported already.
    """
    if "tensorflow" in sys.modules:
        raise ImportError("TensorFlow is imported in this process: expected in device servers only")
    sys.meta_path.insert(0, _Refused)
    try:
        yield
    finally:
        sys.meta_path.remove(_Refused)


@contextmanager
def guarded(what: str, case: Case) -> Iterator[None]:
    """Runs functions of a spec; messages call them `what`.

    Raises:
      ReferenceFault: they left something changed in this process, which has been restored.
    """
    try:
        with unchanged():
            yield
    except ProcessChanged as why:
        raise ReferenceFault(f"the {what} of {case.id} changed the process: {why}") from why


def inputs(case: Case) -> tuple[np.ndarray, ...]:
    """The inputs of a case, which a transcript in use records or replays.

    Raises:
      ReferenceFault: the recipe left something changed in this process.
    """

    def computed() -> tuple[np.ndarray, ...]:
        with guarded("recipe", case):
            return case.inputs()

    made: tuple[np.ndarray, ...] = remembered("inputs", computed)
    return made


def call(function: Any, what: str, case: Case, *arguments: Any) -> Any:
    """Calls a function of a spec with the keyword arguments of a case; messages call the function `what`.

    A transcript in use records the result, or replays it without a call; see
    `harness.judge.promises.remembered_results`.

    Raises:
      ReferenceFault: the function raised, imported TensorFlow, or left something changed in this process.
    """

    def computed() -> Any:
        try:
            with guarded(what, case), without_tensorflow():
                return function(*arguments, **case.keywords)
        except ReferenceFault:
            raise
        except Exception as error:
            raise ReferenceFault(f"the {what} of {case.id} failed: {type(error).__name__}: {error}") from error

    return remembered(what, computed)


def outputs(promised: Any, what: str, case: Case) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    """The outputs that a reference returned, and the final values of the state by name.

    Raises:
      ReferenceFault: the reference returned no output, or one that is not an array.
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
    """Whether a dtype is a number type of ml_dtypes, such as bfloat16 or int4."""
    return dtype.kind == "V" and hasattr(ml_dtypes, dtype.name)


def _array(value: Any) -> np.ndarray:
    """An array; byte strings become objects, as in TensorFlow's arrays; a ragged list becomes an object."""
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.array(None)
    return array.astype(object) if array.dtype.kind == "S" else array


def check_second(case: Case, values: list[np.ndarray], second: Any) -> None:
    """Compares the values of the first reference with those of the second.

    Raises:
      ReferenceFault: they differ once they are rounded to the dtype of the result.
    """
    from_second, state = outputs(second, "second reference", case)
    others = [*from_second, *state.values()]
    if len(others) != len(values):
        raise ReferenceFault(f"the two references of {case.id} promise {len(values)} and {len(others)} quantities")
    for i, (one, other) in enumerate(zip(values, others, strict=True)):
        dtype = result_dtype(one, np.dtype(case.dtype))
        if one.shape != other.shape or not np.array_equal(
            one.astype(dtype), other.astype(dtype), equal_nan=dtype.kind != "O"
        ):
            raise ReferenceFault(f"reference suspect: the two references of {case.id} disagree on output[{i}]")


def gradients(what: str, promised: Any, dtypes: Sequence[np.dtype], rest: np.dtype | None, case: Case) -> list[Want]:
    """The promised gradients with respect to sources of these dtypes, then to the state's variables, of dtype `rest`.

    Raises:
      ReferenceFault: the number of gradients is wrong, or one is not an array.
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
