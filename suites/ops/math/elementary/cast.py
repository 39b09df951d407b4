"""Cast: values and gradients from every dtype to every other for which there is a kernel."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS, edges, is_float, plain
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.derived.hessian import linear
from tf_opdiff.suites.forms.array_ops.quantized import IN_XLA, NOT_IN_XLA, of_bits
from tf_opdiff.suites.forms.elementwise.casts import (
    beyond_limits,
    inside_limits,
    moderate,
    negative,
    ties,
    tiny,
    within_range,
)
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.of_xla import NIBBLES
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, unconnected
from tf_opdiff.suites.reference.elementwise.cast import cast, rounded, saturating_cast, unpacked
from tf_opdiff.suites.reference.promises.subnormal import flushed_in

#: float16 is the first: its values stand in tensors of zero elements and of one.
_ALL = (*FLOATS, "bool", *INTEGERS, *COMPLEX)
_FLOAT8 = ("float8_e5m2", "float8_e4m3fn")


def _program(target, **attributes):
    return lambda tf, x: tf.raw_ops.Cast(x=x, DstT=tf.as_dtype(target), **attributes)


def _vjp(g, x):
    """The upstream, cast back; None from or to a dtype that is neither float nor complex."""
    if x.dtype.kind not in "fc" or g.dtype.kind not in "fc":
        return None
    return g if x.dtype.kind == "c" else g.real


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
        "reference": lambda x: saturating_cast(x, np.dtype(target)),
        "recipes": {f"from_{source}": recipe(source, target) for source in sources},
        "alternatives": {"output": _flushed_casts},
        "dtypes": (target,),
    }
    return part(f"{name}-to-{target}".replace("_", "-"), **settings | fields)


def _widened(x):
    """Floats as float64 and complex numbers as complex128; other arrays unchanged."""
    if x.dtype.kind == "c":
        return x.astype(np.complex128)
    return x.astype(np.float64) if is_float(x.dtype) else x


def _flushed_casts(dtype, g, x):
    """The alternatives of a cast from floats: subnormals of float32 or float64 are flushed before it, or after it.

    Each element may keep one by itself: the dtype that the inputs had is not known here.
    """
    if x.dtype.kind not in "fc":
        return []
    sources = [x, *(flushed_in(np.dtype(source), x) for source in ("float32", "float64"))]
    results = [_widened(saturating_cast(source, dtype)) for source in sources]
    return [*results[1:], *(flushed_in(dtype, result) for result in results)]


def _truncated(target, *sources):
    """A part: casts with the attribute `Truncate`, which cuts digits off instead of rounding."""
    return _to(
        target,
        *sources,
        recipe=lambda source, target: moderate(source),
        name="-truncated",
        program=_program(target, Truncate=True),
        reference=lambda x: rounded(x, np.dtype(target), np.trunc),
        alternatives={},
    )


def _to_unsupported(target):
    """A part: casts for which XLA has code and TensorFlow no kernel."""
    side = Side(reference=lambda x: cast(x, np.dtype(target)), why=_XLA_CONVERTS, link=_CAST_OP)
    return _to(
        target,
        recipe=within_range,
        recipes={"from_float32": within_range("float32", target), "tiny_from_float32": tiny("float32", target)},
        name="-float",
        reference=raises("UNIMPLEMENTED", "is not supported"),
        contract={"*/xla": side},
    )


def _as_float32(x):
    """Integers as float32."""
    return x.astype(np.float32)


def _to_small(name, targets, sources, **fields):
    """Parts: casts from or to dtypes of 8 and 4 bits, which no gradient passes; with other fields of the specs."""

    def recipes(target):
        defined = {f"from_{source}": within_range(source, target) for source in sources}
        subnormal = [source for source in sources if is_float(source) and is_float(target)]
        return defined | {f"tiny_from_{source}": tiny(source, target) for source in subnormal}

    return (
        _to(target, recipe=within_range, recipes=recipes(target), name=f"-{name}", vjp=unconnected, **fields)
        for target in targets
    )


def _to_tie(target, *sources):
    """A part: casts of ties."""
    return _to(target, *sources, recipe=lambda source, target: ties(source), name="-ties")


def _hard(target, sources):
    """Recipes of casts from floats: next to the limits of an integer dtype and beyond them, else subnormal numbers."""
    if np.dtype(target).kind in "iu":
        inside = {f"limits_from_{source}": inside_limits(source, target) for source in sources}
        return inside | {f"beyond_from_{source}": beyond_limits(source, target) for source in sources}
    return {f"tiny_from_{source}": tiny(source, target) for source in sources}


def _values(target):
    """A part: casts to one dtype from all others, values and gradients."""
    recipes = {f"from_{source}": within_range(source, target) for source in _ALL}
    hard = _hard(target, (*FLOATS, *COMPLEX))
    others = [f"from_{source}" for source in FLOATS if source != target]
    second = linear(*others) if target in FLOATS else None
    recipes |= hard
    return _to(target, recipe=within_range, recipes=recipes, vjp=_vjp, ulp={"grad": 0.5}, sizes=True, linear=second)


SPECS = op(
    "cast",
    "Cast",
    *(_values(target) for target in _ALL),
    *_to_small("float8", FLOATS, _FLOAT8),
    *_to_small("float", _FLOAT8, FLOATS),
    *_to_small("float8", ("float8_e5m2",), ("float8_e4m3fn",)),
    *_to_small("nibble", INTEGERS, NIBBLES, mistaken={"output": unpacked}),  # under XLA
    *_to_small("integer", NIBBLES, (*INTEGERS, *NIBBLES)),
    *(_to(target, *FLOATS, recipe=negative, name="-negative") for target in ("uint8", "uint16", "uint32", "uint64")),
    _truncated("float16", "float32", "float64"),
    _truncated("bfloat16", "float32", "float64"),
    _truncated("float32", "float64"),
    _truncated("float8_e5m2", *FLOATS),
    _truncated("float8_e4m3fn", *FLOATS),
    _to_unsupported("float8_e5m2fnuz"),
    _to_unsupported("float8_e4m3fnuz"),
    _to_unsupported("float8_e4m3b11fnuz"),
    part(
        "-to-float32-quantized",
        program=lambda tf, x: tf.raw_ops.Cast(x=of_bits(tf, x), DstT=tf.float32),
        reference=_as_float32,
        recipes={"plain": plain, "edges": edges},
        dtypes=IN_XLA,
        tier="full",
    ),
    part(
        "-to-float32-16-bits-quantized",
        program=lambda tf, x: tf.raw_ops.Cast(x=of_bits(tf, x), DstT=tf.float32),
        reference=_as_float32,
        recipes={"plain": plain, "edges": edges},
        dtypes=NOT_IN_XLA,
        modes=WITHOUT_XLA,
        tier="full",
    ),
    part(
        "-from-unsupported",
        program=lambda tf, x: tf.raw_ops.Cast(x=x, DstT=tf.float32),
        reference=raises("UNIMPLEMENTED", "is not supported"),
        recipes={"plain": plain},
        dtypes=("bytes", "int2", "uint2", "float4_e2m1fn"),
        modes=WITHOUT_XLA,  # XLA has no kernel for these: see the twins about missing kernels
        tier="full",
    ),
    _to_tie("float16", "float64"),
    _to_tie("bfloat16", "float64", "int64", "uint64"),
    _to_tie("float32", "float64", "int64", "uint64"),
    _to_tie("float8_e5m2", "float64"),
    _to_tie("float8_e4m3fn", "float64"),
)
