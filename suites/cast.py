"""Cast: every dtype to every other that has a kernel for it, values and gradients."""

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS, bit_patterns, edges, is_float, plain
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.reference.cast import cast, rounded

_SMOOTH = (*FLOATS, *COMPLEX)
_CORE = ("bool", *INTEGERS, *_SMOOTH)
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
    """A recipe: numbers of the source dtype, less those for which the cast is not defined."""

    def recipe(draw, dtype):
        x = _drawn(draw, np.dtype(source))
        return (np.where(_castable(x, np.dtype(target)), x, np.array(1).astype(source)),)

    return recipe


def _program(target, **attributes):
    return lambda tf, x: tf.raw_ops.Cast(x=x, DstT=tf.as_dtype(target), **attributes)


def _reference(target):
    return lambda x: cast(x, np.dtype(target))


def _vjp(g, x):
    """The upstream, cast back: none from or to what is neither float nor complex."""
    if x.dtype.kind not in "fc" or g.dtype.kind not in "fc":
        return None
    return g if x.dtype.kind == "c" else g.real


def _ordinary(source):
    return lambda draw, dtype: (draw.values(np.dtype(source), 201),)


def _negative(source, target):
    """A recipe: negative numbers whose size the unsigned dtype has room for."""
    bits = np.dtype(target).itemsize * 8 - 1
    return lambda draw, dtype: ((-(2.0 ** draw.uniform(67, low=0.1, high=min(bits, 15)))).astype(source),)


def _ties(source):
    """A recipe: what rounding to 24 bits makes a tie of 8, 11, 3 or 4 bits, on either side of it, and the ties."""

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

SPECS = (
    *(
        Spec(
            name=f"cast-to-{target}",
            ops="Cast",
            program=_program(target),
            reference=_reference(target),
            vjp=_vjp,
            recipes={f"from_{source}": _from(source, target) for source in _CORE},
            dtypes=(target,),
            ulp={"grad": 0.5},
        )
        for target in _CORE
    ),
    *(
        Spec(
            name=f"cast-{name}-to-{target}".replace("_", "-"),
            ops="Cast",
            program=_program(target),
            reference=_reference(target),
            vjp=lambda g, x: None,
            recipes={f"from_{source}": _from(source, target) for source in sources},
            dtypes=(target,),
        )
        for name, targets, sources in (
            ("float8", FLOATS, _FLOAT8),
            ("float", _FLOAT8, FLOATS),
            ("float8", ("float8_e5m2",), ("float8_e4m3fn",)),
            ("nibble", INTEGERS, _NIBBLES),
            ("integer", _NIBBLES, (*INTEGERS, *_NIBBLES)),
        )
        for target in targets
    ),
    *(
        Spec(
            name=f"cast-negative-to-{target}",
            ops="Cast",
            program=_program(target),
            reference=_reference(target),
            recipes={f"from_{source}": _negative(source, target) for source in FLOATS},
            dtypes=(target,),
        )
        for target in ("uint8", "uint16", "uint32", "uint64")
    ),
    *(
        Spec(
            name=f"cast-truncated-to-{target}".replace("_", "-"),
            ops="Cast",
            program=_program(target, Truncate=True),
            reference=lambda x, d=target: rounded(x, np.dtype(d), np.trunc),
            recipes={f"from_{source}": _ordinary(source) for source in sources},
            dtypes=(target,),
        )
        for target, sources in (
            ("float16", ("float32", "float64")),
            ("bfloat16", ("float32", "float64")),
            ("float32", ("float64",)),
            ("float8_e5m2", FLOATS),
            ("float8_e4m3fn", FLOATS),
        )
    ),
    *(
        Spec(
            name=f"cast-float-to-{target}".replace("_", "-"),
            ops="Cast",
            program=_program(target),
            reference=lambda x: Raises("UNIMPLEMENTED", "is not supported"),
            recipes={"from_float32": _from("float32", target)},
            dtypes=(target,),
            contract={"*/xla": Side(reference=_reference(target), why=_XLA_CONVERTS, link=_CAST_OP)},
        )
        for target in ("float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e4m3b11fnuz")
    ),
    *(
        Spec(
            name=f"cast-ties-to-{target}".replace("_", "-"),
            ops="Cast",
            program=_program(target),
            reference=_reference(target),
            recipes={f"from_{source}": _ties(source) for source in sources},
            dtypes=(target,),
        )
        for target, sources in (
            ("float16", ("float64",)),
            ("bfloat16", ("float64", "int64", "uint64")),
            ("float32", ("float64", "int64", "uint64")),
            ("float8_e5m2", ("float64",)),
            ("float8_e4m3fn", ("float64",)),
        )
    ),
)
