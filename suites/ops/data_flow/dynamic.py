"""DynamicPartition, DynamicStitch and ParallelDynamicStitch: rows that go to several tensors, or meet in one."""

import numpy as np

from tf_opdiff.harness.spec.contract import Side, Sparse
from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.suites.derived.hessian import linear
from tf_opdiff.suites.forms.array_ops.scatter_recipes import special_numbers
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.errors import IN_KERNEL, raises, undocumented
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes.elements import plain

#: The tensors that rows go to; none go to the last one.
_COUNT = 4


def _parted(x, p):
    return tuple(x[p == k] for k in range(_COUNT))


def _joined(g, x, p):
    """The VJP of a partition: each row gets the upstream of its copy."""
    out = np.zeros(x.shape, g[0].dtype)
    for k in range(_COUNT):
        out[p == k] = g[k]
    return (out if x.dtype.kind in "fc" else None), None


def _rows(shape, parts):
    return lambda draw, d: (draw.values(d, *shape), np.array(parts, "int32"))


def _special(shape, parts):
    return lambda draw, d: (np.resize(special_numbers(np.dtype(d)), shape), np.array(parts, "int32"))


def _stitched(x, y, i, j):
    """Later tensors win where a row is named twice; rows that nobody names are zeros."""
    out = np.zeros((int(max(i.max(initial=-1), j.max(initial=-1))) + 1, *x.shape[i.ndim :]), x.dtype)
    for rows, places in ((x, i), (y, j)):
        out[places.ravel()] = rows.reshape(places.size, *out.shape[1:])
    return out


def _read(g, x, y, i, j):
    """The VJP of a stitch: each row gets the upstream of its place."""
    return (g[i], g[j], None, None) if x.dtype.kind in "fc" else (None,) * 4


def _rows_of(ts, x, i):
    """Forward mode of a stitch, which is sparse: the gradient of its gradient, a gather."""
    return (Sparse(ts[0], i, _stitched(x, x[:0], i, i[:0]).shape),)


def _two(i, j, values, columns=3):
    return lambda draw, d: (
        values(draw, d, *np.shape(i), columns),
        values(draw, d, *np.shape(j), columns),
        np.array(i, "int32"),
        np.array(j, "int32"),
    )


def _numbers(draw, d, *shape):
    return np.resize(special_numbers(np.dtype(d)), shape)


_STITCHED = {
    "plain": _two((4, 0, 2), (1, 3), plain),
    "special": _two((4, 0, 2), (1, 3), _numbers),
    "planes": _two(((4, 0), (5, 2)), (1, 3), plain),
    "none": _two((), (), plain),
    "single": _two((0,), (), plain, columns=1),
}
_SEVEN = (2, 0, 1, 0, 2, 2, 1)
_DTYPES = tiered((*FLOATS, *COMPLEX, "int32", "int64"), ("float32",))


#: Parts: rows that no index names, which the documentation calls undefined; rows that two indices name.
_GAPS = part(
    "-gaps",
    recipes={"gaps": _two((6, 0, 2), (1, 4), plain)},
    reference=undocumented("the documentation calls rows that no index names undefined", error=False),
    contract={
        "*/xla": Side(
            reference=raises("INVALID_ARGUMENT", "not all indices are used"),
            why="the documentation calls rows that no index names undefined; XLA refuses them",
        )
    },
    lowest_tier=True,
)
_IN_NO_ORDER = part(
    "-repeated",
    recipes={"repeated": _two((1, 0, 2), (1, 3), plain)},
    reference=undocumented("the rows of several tensors are written in no certain order", error=False),
    lowest_tier=True,
)


def _alone(op):
    """The second order of one tensor: forward mode of several has their rows in no certain order."""
    (spec,) = part(
        "-alone",
        program=lambda tf, x, i: tf.raw_ops.DynamicStitch(indices=[i], data=[x]),
        reference=lambda x, i: _stitched(x, x[:0], i, i[:0]),
        vjp=lambda g, x, i: (g[i] if x.dtype.kind in "fc" else None, None),
        recipes={"plain": _rows((3, 3), (1, 2, 0))},
        dtypes=FLOATS,
    )(op)
    return [twin.but(jvp=_rows_of) for twin in linear("plain")(spec)]


SPECS = (
    *op(
        "dynamic-partition",
        "DynamicPartition",
        part(
            recipes={
                "plain": _rows((7, 3), _SEVEN),
                "special": _special((7, 3), _SEVEN),
                "one": _rows((1, 3), (2,)),
                "single": _rows((1,), (2,)),
            },
            vjp=_joined,
            linear=linear("plain"),
        ),
        small({"no_rows": _rows((0, 3), ()), "no_columns": _rows((3, 0), (0, 2, 1)), "one": _rows((1,), (2,))}),
        part(
            "-out-of-range",
            recipes={"at_end": _rows((3, 2), (0, 4, 1)), "negative": _rows((3, 2), (0, -1, 1))},
            lowest_tier=True,
            **IN_KERNEL,
        ),
        program=lambda tf, x, p: tuple(tf.raw_ops.DynamicPartition(data=x, partitions=p, num_partitions=_COUNT)),
        reference=_parted,
        any_dtype=True,
        dtypes=_DTYPES,
    ),
    *op(
        "dynamic-stitch",
        "DynamicStitch",
        part(
            recipes=_STITCHED,
            vjp=_read,
        ),
        _alone,
        small({"none": _STITCHED["none"], "one": _two((0,), (), plain, columns=1)}),
        part(
            "-repeated",
            recipes={"later": _two((1, 0, 2), (1, 3), plain), "one": _two((0,), (0,), plain)},
            lowest_tier=True,
        ),
        part("-out-of-range", recipes={"negative": _two((1, 0, 2), (-1, 3), plain)}, lowest_tier=True, **IN_KERNEL),
        _GAPS,
        program=lambda tf, x, y, i, j: tf.raw_ops.DynamicStitch(indices=[i, j], data=[x, y]),
        reference=_stitched,
        any_dtype=True,
        dtypes=_DTYPES,
    ),
    *op(
        "parallel-dynamic-stitch",
        "ParallelDynamicStitch",
        part(recipes=_STITCHED, vjp=_read),
        part("-out-of-range", recipes={"negative": _two((1, 0, 2), (-1, 3), plain)}, lowest_tier=True, **IN_KERNEL),
        part("-other-numbers", recipes={"plain": _STITCHED["plain"]}, dtypes=(*INTEGERS, "bool"), tier="full"),
        small({"one": _two((0,), (), plain)}),
        _GAPS,
        _IN_NO_ORDER,
        program=lambda tf, x, y, i, j: tf.raw_ops.ParallelDynamicStitch(indices=[i, j], data=[x, y]),
        reference=_stitched,
        any_dtype=True,
        dtypes=_DTYPES,
    ),
)
