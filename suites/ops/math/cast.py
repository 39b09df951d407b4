"""Cast: values and gradients from every dtype to every other for which there is a kernel."""

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS, bit_patterns, edges, is_float, plain
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.op import op, part, unconnected
from tf_opdiff.suites.reference.cast import cast, rounded

_ALL = ("bool", *INTEGERS, *FLOATS, *COMPLEX)
_FLOAT8, _NIBBLES = ("float8_e5m2", "float8_e4m3fn"), ("int4", "uint4")


def _drawn(draw, source):
    """Edge values, random bits and plain numbers."""
    if source.name in _NIBBLES:
        return np.resize(np.arange(-8 if source.name == "int4" else 0, 8).astype(np.int8), 201).astype(source)
    if source.kind == "c":
        part = np.dtype(f"f{source.itemsize // 2}")
        pair = [np.concatenate([r(draw, part)[0] for r in (edges, bit_patterns, plain)]) for _ in "ri"]
        drawn = np.empty(201, source)
        drawn.real, drawn.imag = pair[0], np.roll(pair[1], 7)
        return drawn
    return np.concatenate([recipe(draw, source)[0] for recipe in (edges, bit_patterns, plain)])


def _limits(target):
    """The least and the largest number of an integer dtype."""
    info = ml_dtypes.iinfo(target)
    return int(info.min), int(info.max)


def _castable(x, target):
    """Where the cast is defined, and the result is no subnormal number."""
    real = x.real if x.dtype.kind == "c" else x
    if not is_float(real.dtype):
        return np.ones(x.shape, bool)
    wide = real.astype(np.float64)
    if target.kind == "c" or is_float(target):
        part = np.dtype(f"f{target.itemsize // 2}") if target.kind == "c" else target
        parts = [wide, x.imag.astype(np.float64)] if target.kind == "c" and x.dtype.kind == "c" else [wide]
        tiny = float(ml_dtypes.finfo(part).smallest_normal)
        return np.logical_and.reduce([(p == 0) | ~(np.abs(p) < tiny) for p in parts])
    if target.kind == "b":
        return np.ones(x.shape, bool)
    low, high = _limits(target)
    cut = np.trunc(wide)
    return (cut >= low) & (cut < float(high) + 1) & (cut <= high)


def _from(source, target):
    """A recipe: numbers of the source dtype for which the cast is defined."""

    def recipe(draw, dtype):
        x = _drawn(draw, np.dtype(source))
        return (np.where(_castable(x, np.dtype(target)), x, np.array(1).astype(source)),)

    return recipe


def _program(target, **attributes):
    return lambda tf, x: tf.raw_ops.Cast(x=x, DstT=tf.as_dtype(target), **attributes)


def _vjp(g, x):
    """The upstream, cast back; None from or to a dtype that is neither float nor complex."""
    if x.dtype.kind not in "fc" or g.dtype.kind not in "fc":
        return None
    return g if x.dtype.kind == "c" else g.real


def _moderate(source):
    """A recipe: numbers of moderate size."""
    return lambda draw, dtype: (draw.values(np.dtype(source), 201),)


def _negative(source, target):
    """A recipe: negative numbers whose sizes are in the range of the unsigned dtype."""
    bits = np.dtype(target).itemsize * 8 - 1
    return lambda draw, dtype: ((-(2.0 ** draw.uniform(67, low=0.1, high=min(bits, 15)))).astype(source),)


def _ties(source):
    """A recipe: ties between two numbers of the target dtype, and numbers beside them that 24 bits round to a tie."""

    def recipe(draw, dtype):
        digits = ml_dtypes.finfo(dtype).nmant + 1
        odd = np.resize(1 + draw.integers(67, low=0, high=2 ** (digits - 1)), 67) | 2 ** (digits - 1)
        tie = (2 * odd + 1) << 40 - digits
        x = tie + np.resize([-1, 0, 1], 67)
        if source.startswith("float"):
            return ((x * 2.0**-38).astype(source),)
        return (x.astype(source) if np.dtype(source).itemsize == 8 else (x >> 10 | (x & 1)).astype(source),)

    return recipe


_CAST_OP = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/kernels/cast_op.cc"
_XLA_CONVERTS = "XLA converts between all float types, the kernel between those in its table"


def _to(target, *sources, recipe, name="", **fields):
    """A part: casts to one dtype from several.

    Args:
      target: the dtype.
      sources: the dtypes that are cast to it.
      recipe: recipe(source, target) → a recipe.
      name: words that tell this part from others to the same dtype.
      fields: other fields of the spec.
    """
    settings = {
        "program": _program(target),
        "reference": lambda x: cast(x, np.dtype(target)),
        "recipes": {f"from_{source}": recipe(source, target) for source in sources},
        "dtypes": (target,),
    }
    return part(f"{name}-to-{target}".replace("_", "-"), **settings | fields)


def _truncated(target, *sources):
    """A part: casts with the attribute `Truncate`, which cuts digits off instead of rounding."""
    return _to(
        target,
        *sources,
        recipe=lambda source, target: _moderate(source),
        name="-truncated",
        program=_program(target, Truncate=True),
        reference=lambda x: rounded(x, np.dtype(target), np.trunc),
    )


def _to_unsupported(target):
    """A part: casts for which XLA has code and TensorFlow no kernel."""
    side = Side(reference=lambda x: cast(x, np.dtype(target)), why=_XLA_CONVERTS, link=_CAST_OP)
    return _to(
        target,
        "float32",
        recipe=_from,
        name="-float",
        reference=raises("UNIMPLEMENTED", "is not supported"),
        contract={"*/xla": side},
    )


def _to_small(name, targets, sources):
    """Parts: casts from or to dtypes of 8 and 4 bits, which no gradient passes."""
    return (_to(target, *sources, recipe=_from, name=f"-{name}", vjp=unconnected) for target in targets)


def _to_tie(target, *sources):
    """A part: casts of ties."""
    return _to(target, *sources, recipe=lambda source, target: _ties(source), name="-ties")


SPECS = op(
    "cast",
    "Cast",
    *(_to(target, *_ALL, recipe=_from, vjp=_vjp, ulp={"grad": 0.5}) for target in _ALL),
    *_to_small("float8", FLOATS, _FLOAT8),
    *_to_small("float", _FLOAT8, FLOATS),
    *_to_small("float8", ("float8_e5m2",), ("float8_e4m3fn",)),
    *_to_small("nibble", INTEGERS, _NIBBLES),
    *_to_small("integer", _NIBBLES, (*INTEGERS, *_NIBBLES)),
    *(_to(target, *FLOATS, recipe=_negative, name="-negative") for target in ("uint8", "uint16", "uint32", "uint64")),
    _truncated("float16", "float32", "float64"),
    _truncated("bfloat16", "float32", "float64"),
    _truncated("float32", "float64"),
    _truncated("float8_e5m2", *FLOATS),
    _truncated("float8_e4m3fn", *FLOATS),
    _to_unsupported("float8_e5m2fnuz"),
    _to_unsupported("float8_e4m3fnuz"),
    _to_unsupported("float8_e4m3b11fnuz"),
    _to_tie("float16", "float64"),
    _to_tie("bfloat16", "float64", "int64", "uint64"),
    _to_tie("float32", "float64", "int64", "uint64"),
    _to_tie("float8_e5m2", "float64"),
    _to_tie("float8_e4m3fn", "float64"),
)
