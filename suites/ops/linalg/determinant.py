"""Determinants. Errors are those of LU, and of logarithms of the pivots: see `suites.reference.determinant`."""

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms import matrices as of
from tf_opdiff.suites.forms.calls import Call, Wrong
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.reference.determinant import Determinant, LogDeterminant

_RECIPES = {"plain": (of.ordinary,), "graded": (of.graded,), "exact": (of.powers,), "upstreams": (of.ordinary,)}


def _determinant(tf, a):
    return tf.raw_ops.MatrixDeterminant(input=a)


def _log_determinant(tf, a):
    return tf.stack(tf.raw_ops.LogMatrixDeterminant(input=a))


def _both(name, raw, call, promise, batches=(), **gradient):
    """The specs of real and of complex matrices. XLA has no kernel.

    Args:
      name, raw: the name with which theirs begin, and the OpDef.
      call, promise: as of a call.
      batches: label → the shape of a batch of matrices whose results are rows.
      gradient: that of singular matrices.
    """
    calls = {label: Call(call, promise, (shape,)) for label, shape in of.MATRICES.items()}
    shared = {"calls": calls, "recipes": _RECIPES, "upstreams": {"upstreams": of.sent}, "second": ("plain",)}
    return (
        *op(
            name,
            raw,
            forward={"nan": (of.with_nan,)},
            batch={label: Call(call, promise, (shape,)) for label, shape in dict(batches).items()},
            small={label: {"only": Call(call, promise, (shape,))} for label, shape in of.SMALL.items()},
            of_small=(of.ordinary,),
            wrong={label: Wrong(call, (shape,)) for label, shape in of.NOT_SQUARE.items()},
            dtypes=tiered(("float32", "float64")),
            fields={**of.LOOSE, "modes": WITHOUT_XLA},
            **shared,
        ),
        *op(f"{name}-complex", raw, fields=of.WITHOUT_XLA_COMPLEX, **shared),
        Spec(
            name=f"{name}-singular",
            ops=raw,
            program=call,
            reference=promise.f,
            recipes=of.of_singular(),
            bound={"output": lambda u, g, a: promise.error(u, a)},
            unsigned_zeros=("output", "grad"),
            modes=WITHOUT_XLA,
            **gradient,
        ),
    )


SPECS = (
    *_both("log-matrix-determinant", "LogMatrixDeterminant", _log_determinant, LogDeterminant()),
    *_both("matrix-determinant", "MatrixDeterminant", _determinant, Determinant(), of.BATCHES, vjp=Determinant().vjp),
)
