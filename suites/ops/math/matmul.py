"""Products of matrices. Errors count the roundings of any order: see `suites.reference.contraction`."""

from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.calls import Call, Wrong
from tf_opdiff.suites.forms.contraction import contraction
from tf_opdiff.suites.reference.contraction import Contraction
from tf_opdiff.suites.reference.reduction import long

#: Rows, columns and the sizes of sums; none is a multiple of a vector's width.
_M, _K, _N = 3, 7, 5
_FLAGS = {"plain": (False, False), "left": (True, False), "right": (False, True), "both": (True, True)}
_INTEGERS = ("int32", "int64")


def _shapes(left, right, x=(), y=(), sizes=(_M, _K, _N)):
    """The shapes of two batches of matrices, each transposed or not."""
    m, k, n = sizes
    return (*x, *((k, m) if left else (m, k))), (*y, *((n, k) if right else (k, n)))


def _matmul(left, right, sizes=(_M, _K, _N)):
    return Call(
        lambda tf, a, b: tf.raw_ops.MatMul(a=a, b=b, transpose_a=left, transpose_b=right),
        Contraction(f"{'ji' if left else 'ij'},{'kj' if right else 'jk'}->ik"),
        _shapes(left, right, sizes=sizes),
    )


def _batches(op, adjoint, x, y, sizes=(_M, _K, _N)):
    """A call of a product of batches of matrices, of one shape or broadcast."""
    left, right = adjoint
    raw = {"adj_x": left, "adj_y": right}
    return Call(
        lambda tf, x, y: getattr(tf.raw_ops, op)(x=x, y=y, **raw),
        Contraction(f"...{'ji' if left else 'ij'},...{'kj' if right else 'jk'}->...ik", adjoint),
        _shapes(left, right, x, y, sizes),
    )


_SMALL = {
    "no_terms": (2, 0, 3),
    "no_rows": (0, 2, 3),
    "no_columns": (3, 2, 0),
    "nothing": (0, 0, 0),
    "one": (1, 1, 1),
    "one_row": (1, 5, 1),
}


def _small_batches(call):
    """Batches of matrices, and no batch, without elements and with one."""
    single = {label: {"pair": call((False, False), (1,), (1,), sizes)} for label, sizes in _SMALL.items()}
    empty = {"no_matrices": {"pair": call((False, False), (0,), (0,), (2, 3, 2))}}
    deep = {"empty_inside": {"pair": call((False, False), (1, 0), (1, 0), (1, 2, 1))}}
    return {**single, **empty, **deep, "ones": {"pair": call((False, False), (1, 1), (1, 1), (1, 1, 1))}}


def _one_term(name, op, call):
    """The spec of products of one term, which are rounded once; the bounds of sums hide how a result is rounded."""
    return Spec(
        name=f"{name}-one-term",
        ops=op,
        program=call,
        reference=lambda x, y: long(x) * long(y),
        recipes={"plain": lambda draw, dtype: (draw.values(dtype, 17, 1), draw.values(dtype, 1, 5))},
        dtypes=FLOATS,
        ulp={"output": 0.5},
        tier="full",
    )


def _raw(op, **more):
    return lambda tf, x, y: getattr(tf.raw_ops, op)(x=x, y=y, **more)


_UNEQUAL = {"unequal-terms": ((2, 3, 4), (2, 5, 3)), "one-vector": ((2, 3, 4), (4,))}
_UNEQUAL_BATCHES = {"unequal-batches": ((2, 3, 4), (3, 4, 5))}


def _v2(*arguments, **more):
    return _batches("BatchMatMulV2", *arguments, **more)


def _v3(adjoint, x, y, sizes=(_M, _K, _N)):
    """A call of the version whose output has a dtype of its own; it is that of the inputs here."""
    left, right = adjoint
    second = _v2(adjoint, x, y, sizes=sizes)
    return Call(
        lambda tf, x, y: tf.raw_ops.BatchMatMulV3(x=x, y=y, Tout=x.dtype, adj_x=left, adj_y=right),
        second.promise,
        second.shapes,
    )


_BROADCAST = {
    **{label: (adjoint, (2,), (2,)) for label, adjoint in _FLAGS.items()},
    "broadcast_left": ((False, True), (1, 2), (3, 1)),
    "broadcast_rank": ((True, False), (), (2, 2)),
}

#: Sizes of batches: more terms than a vector holds.
_LONG = (2, 67, 33)


def _of_batches(call):
    """Calls whose first axis is a batch, with each matrix transposed or not."""
    return {label: call(adjoint, (2,), (2,), _LONG) for label, adjoint in _FLAGS.items()}


SPECS = (
    *contraction(
        "batch-matmul",
        "BatchMatMul",
        {label: _batches("BatchMatMul", adjoint, (2,), (2,)) for label, adjoint in _FLAGS.items()},
        small=_small_batches(lambda *arguments: _batches("BatchMatMul", *arguments)),
        batch=_of_batches(lambda *arguments: _batches("BatchMatMul", *arguments)),
        wrong={label: Wrong(_raw("BatchMatMul"), shapes) for label, shapes in {**_UNEQUAL, **_UNEQUAL_BATCHES}.items()},
        complex_dtypes=COMPLEX,
        integers=_INTEGERS,
    ),
    *contraction(
        "batch-matmul-v2",
        "BatchMatMulV2",
        {label: _v2(*arguments) for label, arguments in _BROADCAST.items()},
        small=_small_batches(_v2),
        batch=_of_batches(_v2),
        wrong={
            label: Wrong(_raw("BatchMatMulV2"), shapes) for label, shapes in {**_UNEQUAL, **_UNEQUAL_BATCHES}.items()
        },
        complex_dtypes=COMPLEX,
        integers=("int32", "int16", "int64"),
    ),
    *contraction(
        "batch-matmul-v3",
        "BatchMatMulV3",
        {label: _v3(*arguments) for label, arguments in _BROADCAST.items()},
        small=_small_batches(_v3),
        batch=_of_batches(_v3),
        wrong={
            label: Wrong(lambda tf, x, y: tf.raw_ops.BatchMatMulV3(x=x, y=y, Tout=x.dtype), shapes)
            for label, shapes in {**_UNEQUAL, **_UNEQUAL_BATCHES}.items()
        },
        floats=("float32", "bfloat16", "float64"),
        complex_dtypes=COMPLEX,
        integers=("int32", "int16", "int64"),
    ),
    *contraction(
        "matmul",
        "MatMul",
        {label: _matmul(*flags) for label, flags in _FLAGS.items()},
        batch={label: _matmul(False, right, _LONG) for label, right in (("plain", False), ("right", True))},
        shared=(1,),
        batch_tier="default",
        small={label: {"pair": _matmul(False, False, sizes)} for label, sizes in _SMALL.items()},
        wrong={
            "unequal-terms": Wrong(lambda tf, a, b: tf.raw_ops.MatMul(a=a, b=b), ((2, 3), (4, 2))),
            "vector": Wrong(lambda tf, a, b: tf.raw_ops.MatMul(a=a, b=b), ((2, 3), (3,))),
            "batch": Wrong(lambda tf, a, b: tf.raw_ops.MatMul(a=a, b=b), ((2, 2, 3), (2, 3, 2))),
        },
        complex_dtypes=COMPLEX,
        integers=_INTEGERS,
    ),
    _one_term("batch-matmul-v2", "BatchMatMulV2", _raw("BatchMatMulV2")),
    _one_term("matmul", "MatMul", lambda tf, a, b: tf.raw_ops.MatMul(a=a, b=b)),
)
