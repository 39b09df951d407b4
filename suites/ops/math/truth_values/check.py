"""Ops that hand their input on, and fail or report if it holds NaN or infinities."""

from importlib import import_module

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, INTEGERS, UNARY, edges, subnormals
from tf_opdiff.harness.spec.plan import MODES, WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Raises, Side
from tf_opdiff.suites.derived.hessian import linear
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.array_ops.scatter_recipes import special_numbers
from tf_opdiff.suites.forms.elementwise.special_upstreams import in_turn
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.programs.control_flow import XLA
from tf_opdiff.suites.reference.elementwise.numeric_summary import CODES, summary
from tf_opdiff.suites.reference.promises.subnormal import flushed_in, wholes

#: The modes of a summary that count elements, and the number of elements in each.
_MODES = (2, 3, 4, 5, 8)


def _finite(draw, dtype):
    """The limits of a dtype and zeros of both signs, without NaN and infinities."""
    x = edges(draw, dtype)[0]
    return (np.resize(x[np.isfinite(x)], 67),)


def _with(*values):
    """A recipe: plain values, with these among them."""

    def recipe(draw, dtype):
        x = draw.values(dtype, 67)
        x[5 : 5 + len(values)] = values
        return (x,)

    return recipe


_FINITE = {label: recipe for label, recipe in UNARY.items() if label not in ("edges", "bits")} | {
    "finite": _finite,
    "subnormals": subnormals,
}
_BAD = {
    "nan": _with(np.nan),
    "inf": _with(np.inf),
    "negative_inf": _with(-np.inf),
    "all": _with(np.nan, np.inf, -np.inf),
}
_OTHERS = ("float16", "bfloat16", "float64")
_REFUSED_UPSTREAM = Side(
    reference=lambda x: x,
    vjp=lambda g, x: Raises("INVALID_ARGUMENT", "detected in gradient"),
    why="the gradient is the same op, so that it refuses NaN and infinities in the upstream as well",
    link="https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/ops/array_grad.py#L898",
)
#: XLA compiles no assertion: it hands the input and the upstream on.
_IGNORED = {"*/xla": Side(reference=lambda x: x, vjp=lambda g, x: (g,), why="XLA compiles no assertion", link=XLA)}


def _checking(raw, message="an input"):
    return lambda tf, x: getattr(tf.raw_ops, raw)(tensor=x, message=message)


def _checked(raw, modes=MODES):
    """The parts of an op that refuses NaN and infinities, in its input and in the upstream."""
    ignored = _IGNORED if "xla" in modes else {}
    return (
        part(
            recipes=_FINITE,
            vjp=lambda g, x: (g,),
            elementwise=True,
            dtypes=tiered(("float32", *_OTHERS)),
            linear=linear("plain"),
        ),
        part(
            "-refused",
            recipes=_BAD,
            program=_checking(raw, "a refused input"),
            reference=lambda x: Raises("INVALID_ARGUMENT", "a refused input"),
            contract=ignored,
            modes=modes,
        ),
        part(
            "-refused-upstream",
            recipes={"nan": UNARY["plain"], "infinite": UNARY["plain"]},
            upstreams={
                "nan": in_turn(lambda dtype: np.array([1.0, np.nan]).astype(dtype)),
                "infinite": in_turn(lambda dtype: np.array([1.0, np.inf, -np.inf]).astype(dtype)),
            },
            program=_checking(raw, "a refused upstream"),
            vjp=lambda g, x: (g,),
            contract=ignored | {"*/*": _REFUSED_UPSTREAM},
            modes=modes,
        ),
    )


def _summaries(dtype, **fields):
    """A part: numeric summaries of one dtype, which a summary names."""
    floats = dtype in ("float32", "float64", "float16", "bfloat16")

    def program(tf, x):
        return tuple(
            tf.raw_ops.DebugNumericSummaryV2(input=x, output_dtype=tf.float32, tensor_debug_mode=mode, tensor_id=7)
            for mode in (2, 3, 4, 5, 8)[: 5 if x.dtype.is_floating else 4]
        )

    def reference(x):
        return tuple(summary(x, CODES[dtype], mode, 7) for mode in _MODES[: 5 if floats else 4])

    more = {"subnormals": subnormals} if floats else {}
    return part(
        "" if dtype == "float32" else f"-{dtype}",
        program=program,
        reference=reference,
        recipes={"edges": edges, "plain": UNARY["plain"], "matrix": UNARY["matrix"], "scalar": UNARY["scalar"], **more}
        | {"deep": lambda draw, d: (draw.values(d, 1, 2, 1, 1, 2, 1, 3),)},
        alternatives={"output[2]": lambda d, g, x: wholes(summary(flushed_in(d, x), CODES[dtype], 4, 7))}
        if floats
        else {},
        dtypes=(dtype,),
        constant=("output[3]",),
        tier="default" if dtype == "float32" else "full",
        **fields,
    )


_SHAPES = {"none": (0,), "one": (1,), "no_rows": (0, 3), "one_by_one": (1, 1), "empty_inside": (1, 0, 2)}
_SMALL = {label: lambda draw, d, shape=shape: (draw.values(d, *shape),) for label, shape in _SHAPES.items()}


def _debugged(tf, x):
    """The op in a function, by the name that TensorFlow's debugger gives it, by which its gradient finds the debugger.

    A tape does not know the names of ops that it records. It differentiates a function's graph, which has them.
    """
    debugger = import_module("tensorflow.python.debug").GradientsDebugger()
    return tf.function(debugger.identify_gradient, autograph=False)(x)


SPECS = (
    *op(
        "check-numerics",
        "CheckNumerics",
        *_checked("CheckNumerics"),
        program=_checking("CheckNumerics"),
        reference=lambda x: x,
        arguments=("tensor",),
    ),
    *op(
        "check-numerics-v2",
        "CheckNumericsV2",
        *_checked("CheckNumericsV2", WITHOUT_XLA),
        program=_checking("CheckNumericsV2"),
        reference=lambda x: x,
        arguments=("tensor",),
    ),
    *op(
        "debug-gradient-identity",
        "DebugGradientIdentity",
        part(recipes={**UNARY, "subnormals": subnormals}, elementwise=True),
        part(
            "-other",
            recipes={"plain": UNARY["plain"], "edges": UNARY["edges"]},
            dtypes=(*_OTHERS, *COMPLEX, *(dtype for dtype in INTEGERS if dtype != "int32")),
            tier="full",
        ),
        part("-bool", recipes={"plain": UNARY["plain"]}, dtypes=("bool",), tier="full"),
        reference=lambda x: x,
        any_dtype=True,
        arguments=("input",),
    ),
    *op(
        "debug-gradient-identity-gradient",
        "DebugGradientIdentity",
        part(
            recipes={"plain": UNARY["plain"], "edges": UNARY["edges"], "upstreams": UNARY["plain"]},
            vjp=lambda g, x: (g,),
            upstreams={"upstreams": in_turn(special_numbers)},
            linear=linear("plain"),
        ),
        program=_debugged,
        reference=lambda x: x,
        dtypes=tiered(("float32", *_OTHERS, *COMPLEX)),
        modes=WITHOUT_XLA,
    ),
    *op(
        "debug-numeric-summary-v2",
        "DebugNumericSummaryV2",
        _summaries("float32", twins=(lambda spec: sizes(spec, _SMALL),)),
        *(_summaries(dtype) for dtype in CODES if dtype != "float32"),
    ),
)
