"""Comparison and logic: booleans from two arguments, which have no gradient."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS, bit_patterns, subnormals
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.references.pairs import crossed, many, shaped
from tf_opdiff.suites.references.subnormal import DENORMALS, LINK, WHY, flushed


def _program(op, **attributes):
    return lambda tf, x, y: getattr(tf.raw_ops, op)(x=x, y=y, **attributes)


def _often_equal(draw, dtype):
    """Numbers of which about every third pair is equal."""
    x, y = (draw.values(dtype, 841) for _ in "xy")
    return x, np.where(draw.integers(841, low=0, high=3) == 0, x, y)


def _complex_pairs(draw, dtype):
    """Numbers of which one part is equal, or both, or neither; signed zeros, infinities and NaN among the parts."""
    parts = [0.0, -0.0, 1.0, -2.5, np.inf, np.nan]
    numbers = np.array([complex(a, b) for a in parts for b in parts], dtype)
    return tuple(a.ravel() for a in np.meshgrid(numbers, numbers, indexing="ij"))


def _near(draw, dtype):
    """Numbers that differ by less than the tolerance, and by more."""
    x = draw.uniform(841, low=-1, high=1).astype(dtype)
    apart = np.resize([0.0, 1e-7, 0.5e-5, 0.9e-5, 1.1e-5, 2e-5, 1.0], 841) * np.where(draw.booleans(841), 1, -1)
    return x, (x + apart).astype(dtype)


def _close(tolerance):
    """|x - y| < tolerance, an attribute that is a float32; where that is not clear of rounding, there are no inputs."""
    return lambda x, y: np.abs(x - y) < np.float32(tolerance)


def _tiny(draw, dtype):
    """Subnormals against each other, zero, and plain numbers."""
    x = subnormals(draw, dtype)[0]
    return np.concatenate([x, x, x]), np.concatenate([np.roll(x, 1), np.zeros_like(x), draw.values(dtype, x.size)])


_REAL = (*FLOATS, *INTEGERS)
_PAIRS = {"edges": crossed, "bits": many(bit_patterns), "plain": _often_equal}
_SHAPES = {"outer": shaped((4, 1), (1, 17)), "scalar": shaped((), (3, 5)), "empty": shaped((0, 3), (3,))}
#: name: (OpDef, reference, dtypes).
_TABLE: dict[str, tuple[str, Any, tuple[str, ...]]] = {
    "equal": ("Equal", np.equal, (*_REAL, "bool")),
    "greater": ("Greater", np.greater, _REAL),
    "greater-equal": ("GreaterEqual", np.greater_equal, _REAL),
    "less": ("Less", np.less, _REAL),
    "less-equal": ("LessEqual", np.less_equal, _REAL),
    "logical-and": ("LogicalAnd", np.logical_and, ("bool",)),
    "logical-or": ("LogicalOr", np.logical_or, ("bool",)),
    "not-equal": ("NotEqual", np.not_equal, (*_REAL, "bool")),
}
_EQUAL, _ORDER = ("equal", "not-equal"), ("greater", "greater-equal", "less", "less-equal")
_INFERENCE = "a graph infers shapes when it is built, and Python raises; an eager op fails in its kernel"


SPECS = (
    *(
        Spec(name=name, ops=op, program=_program(op), reference=reference, recipes=_PAIRS, dtypes=dtypes)
        for name, (op, reference, dtypes) in _TABLE.items()
    ),
    *(
        Spec(
            name=f"{name}-broadcast",
            ops=op,
            program=_program(op),
            reference=reference,
            recipes=_SHAPES,
            dtypes=dtypes[2:3] if len(dtypes) > 1 else dtypes,
        )
        for name, (op, reference, dtypes) in _TABLE.items()
    ),
    *(
        Spec(
            name=f"{name}-complex",
            ops=_TABLE[name][0],
            program=_program(_TABLE[name][0]),
            reference=_TABLE[name][1],
            recipes={"parts": _complex_pairs},
            dtypes=COMPLEX,
        )
        for name in _EQUAL
    ),
    *(
        Spec(
            name=f"{name}-string",
            ops=_TABLE[name][0],
            program=_program(_TABLE[name][0]),
            reference=lambda x, y, f=_TABLE[name][1]: f(x, y).astype(bool),
            recipes={"plain": _often_equal},
            dtypes=("object",),
            modes=("eager", "function", "graph"),  # XLA has no strings
        )
        for name in _EQUAL
    ),
    *(
        Spec(
            name=f"{name}-subnormal",
            ops=_TABLE[name][0],
            program=_program(_TABLE[name][0]),
            reference=_TABLE[name][1],
            recipes={"tiny": _tiny},
            dtypes=FLOATS,
            contract={
                "cpu/*": Side(
                    reference=lambda x, y, f=_TABLE[name][1]: f(flushed(x), flushed(y)),
                    why=WHY,
                    link=LINK,
                    unless=DENORMALS,
                )
            },
        )
        for name in (*_EQUAL, *_ORDER)
    ),
    *(
        Spec(
            name=f"{name}-incompatible-allowed",
            ops=_TABLE[name][0],
            program=_program(_TABLE[name][0], incompatible_shape_error=False),
            reference=lambda x, y, w=wanted: np.array(w),
            recipes={"shapes": shaped((2, 3), (4,))},
        )
        for name, wanted in (("equal", False), ("not-equal", True))
    ),
    *(
        Spec(
            name=f"{name}-incompatible",
            ops=_TABLE[name][0],
            program=_program(_TABLE[name][0]),
            reference=lambda x, y: Raises("ValueError"),
            recipes={"shapes": shaped((2, 3), (4,))},
            dtypes=("float32",) if name != "logical-and" else ("bool",),
            contract={"*/eager": Side(reference=lambda x, y: Raises("INVALID_ARGUMENT"), why=_INFERENCE)},
        )
        for name in ("equal", "less", "logical-and")
    ),
    *(
        Spec(
            name=f"approximate-equal-{name}",
            ops="ApproximateEqual",
            program=_program("ApproximateEqual", **({"tolerance": tolerance} if name != "default" else {})),
            reference=_close(tolerance),
            recipes=recipes,
            dtypes=("float32", "float64"),
        )
        for name, tolerance, recipes in (
            ("default", 1e-5, {"near": _near, "edges": crossed}),
            ("half", 0.5, {"plain": _often_equal}),
        )
    ),
)
