"""Array text: arrays as expressions of a program: numbers if they are few, otherwise compressed bytes."""

from __future__ import annotations

import base64
import re
import zlib
from typing import Protocol

import numpy as np

from tf_opdiff.harness.repro.program_text.function_source import Unwritable
from tf_opdiff.harness.spec.inputs.recipes import is_float

#: Elements: arrays of this size and smaller are written as numbers that a person can read.
READABLE = 128


class Importing(Protocol):
    """The writer of a program: it has the imports of the program, by name."""

    imports: dict[str, str]


def array_text(array: np.ndarray, writer: Importing) -> str:
    """An expression for an array of any dtype: numbers if they are few or all one, otherwise its compressed bytes."""
    if not array.size and array.dtype != object:
        return f"np.zeros({array.shape}, {dtype_text(array.dtype)})"
    if array.size > READABLE and array.dtype != object and _is_uniform(array):
        return f"np.full({array.shape}, {_numbers(array.reshape(-1)[:1].reshape(()))})"
    if array.size <= READABLE or array.dtype == object:
        return _numbers(array)
    writer.imports |= {"base64": "base64", "zlib": "zlib"}
    data = base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 9)).decode()
    flat = f'np.frombuffer(zlib.decompress(base64.b64decode("{data}")), {dtype_text(array.dtype)})'
    return flat if array.ndim == 1 else f"{flat}.reshape({array.shape})"


def _is_uniform(array: np.ndarray) -> bool:
    """Whether all elements have the same bits."""
    return array.tobytes() == array.reshape(-1)[:1].tobytes() * array.size


def _numbers(array: np.ndarray) -> str:
    """An array as numbers; as bit patterns if it has a NaN that no literal gives."""
    if array.dtype.kind == "O":
        return literal(array)
    wide, dtype = array, array.dtype
    if dtype.kind == "V":
        wide = array.astype(np.float32 if is_float(dtype) else np.int32)
    nan = np.isnan(wide) if wide.dtype.kind in "fc" else np.zeros(array.shape, bool)
    if nan.any() and wide.dtype.kind == "f":
        plain = np.where(nan, np.nan, wide).astype(wide.dtype).astype(dtype)
        if plain.tobytes() != array.tobytes():
            return f"{literal(array.view(f'u{dtype.itemsize}'))}.view({dtype_text(dtype)})"
    text = literal(wide)
    return text if wide is array else f"{text}.astype({dtype_text(dtype)})"


def dtype_text(dtype: np.dtype) -> str:
    """An expression for a dtype, which TensorFlow may define."""
    return "object" if dtype.kind == "O" else f'tf.as_dtype("{dtype.name}").as_numpy_dtype'


def literal(array: np.ndarray) -> str:
    """A small array, of a dtype of NumPy itself."""
    if array.dtype.kind not in "biufcSUO" or array.size > 1000:
        raise Unwritable(f"an array of {array.size} {array.dtype.name}")
    if array.dtype.kind == "c":  # a literal would lose the signs of zeros
        parts = literal(array.reshape(-1, 1).view(f"f{array.dtype.itemsize // 2}"))
        return f"{parts}.view({array.dtype.name!r}).reshape({array.shape})"
    with np.printoptions(threshold=2000, floatmode="unique", precision=None):
        text = np.array2string(array, separator=", ", max_line_width=110).replace("\n", " ")
    text = re.sub(r"\bnan\b", "np.nan", re.sub(r"\binf\b", "np.inf", re.sub(r"\s+", " ", text)))
    return f"np.array({text}, {'object' if array.dtype == object else repr(array.dtype.name)})"
