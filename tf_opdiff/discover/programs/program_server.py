"""Program server: the process that runs programs in a mode on a device. Imported in device servers only."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import tensorflow as tf

from tf_opdiff.harness.device.installation.tensorflow_setup import local
from tf_opdiff.harness.device.programs.results import error_result
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.plan import Device

Arrays = Sequence[np.ndarray]
#: What a run gives: the arrays of its results, or `CODE: message` of its error.
Ran = list[np.ndarray] | str
#: Whole numbers below this one are exact in float32.
_EXACT = 2.0**24
#: The seeds that flush the subnormals of inputs alone, and that flush them to +0.
_INPUTS, _UNSIGNED = -1, -4
#: The ULPs by which the operands of sums are off.
_OF_OPERANDS = 2.0
#: Ops of a trace that compute nothing.
_SILENT = frozenset({"Const", "Placeholder", "Identity", "IdentityN", "NoOp", "Pack", "Shape", "StopGradient"})


class ProgramServer:
    """Runs programs on one device; each public method is a request."""

    def __init__(self, device: Device) -> None:
        self._name = local(device).tf_name

    def run(self, text: str, mode: str, draws: Sequence[Arrays], unknown: bool = False) -> list[Ran]:
        """The results of a program for each draw of its inputs; it is traced and compiled once.

        Args:
          text: defines `program`.
          mode: `eager`, `function` or `xla`.
          draws: all of one signature.
          unknown: the program is traced for inputs of unknown sizes.
        """
        program = _program(text)
        if mode != "eager":
            signature: Any = None
            if unknown and draws:
                signature = [tf.TensorSpec([None] * x.ndim, tf.as_dtype(x.dtype)) for x in draws[0]]
            program = tf.function(
                program, jit_compile=True if mode == "xla" else None, autograph=False, input_signature=signature
            )
        return [self._once(program, draw) for draw in draws]

    def _once(self, program: Callable[..., Any], draw: Arrays) -> Ran:
        try:
            with tf.device(self._name):
                return [_array(t) for t in _listed(program(*(tf.constant(x) for x in draw)))]
        except Exception as error:  # noqa: BLE001  every error is a result
            result = error_result(error)
            return f"{result.code}: {' '.join(result.message.split())[:300]}"

    def shaken(self, text: str, draw: Arrays, ulps: Mapping[int, float], seeds: Sequence[int]) -> list[Ran]:
        """The results in eager mode with the result of each op a little off, once for each seed.

        Seeds -1 to -4 flush subnormals: those of inputs, of results, of both, of both to +0; nothing else is off then.

        Args:
          text: a program with hooks `shake(number, tensor)`.
          draw: the inputs.
          ulps: the number of an op → how far its result may be off, in ULPs.
          seeds: of the changes.
        """
        results = []
        for seed in seeds:
            program = _program(text, shake=_shaker(seed, ulps))
            inputs = [_flushed(x, seed != _UNSIGNED) for x in draw] if seed in (-1, -3, _UNSIGNED) else draw
            results.append(self._once(program, inputs))
        return results

    def traced(self, programs: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[str, ...]]:
        """The types of the ops in the trace of each program, for inputs of these dtypes; none of one that fails."""
        return [_types(text, dtypes) for text, dtypes in programs]


def _program(text: str, **more: Any) -> Callable[..., Any]:
    """The function `program` of a text."""
    names = {"tf": tf, "np": np, "inf": math.inf, "nan": math.nan, "grad": _grad, **more}
    exec(text, names)  # noqa: S102  the text is drawn from the vocabulary of this folder
    return names["program"]


def _grad(f: Callable[..., Any], x: tf.Tensor, upstream: Any = None) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x, upstream)


def _listed(result: Any) -> list[tf.Tensor]:
    return list(result) if isinstance(result, (list, tuple)) else [tf.convert_to_tensor(result)]


def _array(tensor: tf.Tensor) -> np.ndarray:
    return np.asarray(tf.convert_to_tensor(tensor).numpy())


def _flushed(x: np.ndarray, signed: bool = True) -> np.ndarray:
    """The array with zeros, of the same sign or without one, in place of subnormals."""
    if not is_float(x.dtype):
        return x
    tiny = np.abs(x) < ml_dtypes.finfo(x.dtype).smallest_normal
    return np.where(tiny, np.copysign(x.dtype.type(0), x if signed else 1), x).astype(x.dtype)


def _shaker(seed: int, ulps: Mapping[int, float]) -> Callable[[int, Any], Any]:
    """The function `shake` of a hooked program: moves floats that are no small whole numbers, or flushes subnormals."""
    random = np.random.default_rng(abs(seed))

    def shake(number: int, value: Any) -> Any:
        x = value.numpy() if isinstance(value, tf.Tensor) else None
        if x is None or not is_float(x.dtype):
            return value
        if seed >= 0:
            changed = _moved(random, x, ulps.get(number, _OF_OPERANDS), whole=number < 0)
        else:
            changed = x if seed == _INPUTS else _flushed(x, seed != _UNSIGNED)
        return _replaced(value, changed)

    return shake


def _moved(random: np.random.Generator, x: np.ndarray, ulps: float, *, whole: bool) -> np.ndarray:
    """The array with each element up to so many ULPs off; small whole numbers only if `whole`, zeros never."""
    wide = x.astype(np.float64)
    fixed = ~np.isfinite(wide) | (wide == 0)
    if not whole:
        fixed |= (np.rint(wide) == wide) & (np.abs(wide) < _EXACT)
    by = random.choice([-1.0, 1.0, -0.5, 0.5], x.shape) * ulps * float(ml_dtypes.finfo(x.dtype).eps)
    tiny = float(ml_dtypes.finfo(x.dtype).smallest_subnormal)
    with np.errstate(all="ignore"):
        return np.where(fixed, x, (wide + by * np.maximum(np.abs(wide), tiny)).astype(x.dtype))


def _replaced(tensor: tf.Tensor, value: np.ndarray) -> tf.Tensor:
    """A tensor of another value, whose gradient is that of the tensor."""

    @tf.custom_gradient
    def other(x: tf.Tensor) -> Any:
        return tf.constant(value, x.dtype), lambda upstream: upstream

    return other(tensor)


def _types(text: str, dtypes: Sequence[str]) -> tuple[str, ...]:
    graph = tf.Graph()
    try:
        with graph.as_default():
            _program(text)(*(tf.compat.v1.placeholder(dtype, [4, 4]) for dtype in dtypes))
    except Exception:  # noqa: BLE001  it has no trace
        return ()
    return tuple(sorted({op.type for op in graph.get_operations()} - _SILENT))
