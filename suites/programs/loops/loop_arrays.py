"""TensorArrays in loops, with v2's control flow (tensor lists) and with v1's: writes, reads, and their errors."""

import numpy as np

from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.programs.branches import ROUNDED
from tf_opdiff.suites.forms.programs.control_flow import arrays, loops, with_v1


def _array(tf, size, **more):
    """A TensorArray of float32 elements."""
    return tf.TensorArray(tf.float32, size=size, **more)


def _filled(tf, api, x, write, size=3, **more):
    """The TensorArray after three iterations of write(i, array)."""
    body = lambda i, a: (i + 1, write(i, a))  # noqa: E731
    start = (tf.constant(0), _array(tf, size, **more))
    return api.while_loop(lambda i, _: i < 3, body, start, maximum_iterations=3)[1]


def stacked(tf, api, x):
    """Powers of the elements, stacked."""
    return _filled(tf, api, x, lambda i, a: a.write(i, x[i] * x)).stack()


def backwards(tf, api, x):
    """Written from the last index to the first."""
    return _filled(tf, api, x, lambda i, a: a.write(2 - i, x[i] * x)).stack()


def read_back(tf, api, x):
    """Reads in a second loop what the first wrote, and adds the squares."""
    array = _filled(tf, api, x, lambda i, a: a.write(i, x[i] * x), clear_after_read=False)
    body = lambda i, s: (i + 1, s + array.read(i) * array.read(2 - i))  # noqa: E731
    return api.while_loop(lambda i, _: i < 3, body, (tf.constant(0), tf.zeros_like(x)), maximum_iterations=3)[1]


def unstacked(tf, api, x):
    """Reads the rows of a tensor in a loop, and adds them."""
    rows = _array(tf, 3).unstack(tf.reshape(x, [3, 1]) * x)
    body = lambda i, s: (i + 1, s + rows.read(i))  # noqa: E731
    return api.while_loop(lambda i, _: i < 3, body, (tf.constant(0), tf.zeros_like(x)), maximum_iterations=3)[1]


def gaps(tf, api, x):
    """Writes two of four elements; an element that nobody wrote is zeros."""
    body = lambda i, a: (i + 2, a.write(i, x * 2))  # noqa: E731
    start = (tf.constant(0), _array(tf, 4, element_shape=x.shape))
    return api.while_loop(lambda i, _: i < 4, body, start, maximum_iterations=3)[1].stack()


def dynamic(tf, api, x):
    """A TensorArray that grows."""
    return _filled(tf, api, x, lambda i, a: a.write(i, x[i] * x), size=0, dynamic_size=True).stack()


def out_of_range(tf, api, x):
    """Writes behind the end."""
    return _filled(tf, api, x, lambda i, a: a.write(i + 1, x * 2)).stack()


def negative(tf, api, x):
    """Writes at index -1."""
    return _filled(tf, api, x, lambda i, a: a.write(i - 1, x * 2)).stack()


def other_shape(tf, api, x):
    """Writes elements of different shapes."""
    return _filled(tf, api, x, lambda i, a: a.write(i, x[: i + 1]), infer_shape=False).stack()


def other_dtype(tf, api, x):
    """Writes integers into a TensorArray of floats."""
    return _filled(tf, api, x, lambda i, a: a.write(i, tf.cast(x, tf.int32))).stack()


def written_twice(tf, api, x):
    """Writes each time at index 0."""
    return _filled(tf, api, x, lambda i, a: a.write(0, x[i] * x)).read(0)


def empty(tf, api, x):
    """A TensorArray without elements; the result is its stack, of shape (0, 3)."""
    body = lambda i, a: (i + 1, a.write(i, x * 2))  # noqa: E731
    start = (tf.constant(0), _array(tf, 0, element_shape=x.shape))
    return tf.reduce_sum(api.while_loop(lambda i, _: i < 0, body, start, maximum_iterations=1)[1].stack(), 0) + x


def concatenated(tf, api, x):
    """Elements of different lengths, joined."""
    return _filled(tf, api, x, lambda i, a: a.write(i, x[: i + 1] * 2), infer_shape=False).concat()


_VECTOR = {"vector": lambda draw, d: (draw.values(d, 3),)}
_GRADIENT = {"grad": lambda u, g, x: 12 * u * np.sum(np.abs(x)) * np.sum(np.abs(g))}
_PRODUCT = {
    "output": lambda u, g, x: 8 * u * np.sum(np.abs(x)) ** 2,
    "grad": lambda u, g, x: 16 * u * np.sum(np.abs(x)) * (np.abs(g).sum() if np.ndim(g) else np.abs(g)),
}


def outer(x):
    """Row i is x[i] x."""
    return np.outer(x, x)


def outer_vjp(g, x):
    """The VJP of `outer`."""
    return g @ x + x @ g


def read_back_reference(x):
    """The sum of row i times row 2 - i: each term is x[i] x[2 - i] x²."""
    return np.sum(x * x[::-1]) * x * x


def read_back_vjp(g, x):
    """The VJP of `read_back_reference`."""
    return 2 * x[::-1] * np.sum(g * x * x) + np.sum(x * x[::-1]) * 2 * g * x


def _clamped(reference):
    """The contract of a write out of range: XLA clamps the index."""
    why = "XLA clamps the start of a dynamic-update-slice to the array"
    return {
        "*/xla": Side(
            reference=reference, why=why, link="https://openxla.org/xla/operation_semantics#dynamicupdateslice"
        )
    }


def _refused(name, program, code, says="", **fields):
    return loops(name, program, reference=raises(code, says), recipes=_VECTOR, **fields)


SPECS = (
    *arrays(
        "array-backwards",
        backwards,
        tier="full",
        reference=lambda x: outer(x)[::-1],
        vjp=lambda g, x: outer_vjp(g[::-1], x),
        recipes=_VECTOR,
        ulp={"output": 0.5},
        bound=_GRADIENT,
    ),
    *arrays(
        "array-concatenated",
        concatenated,
        reference=lambda x: np.concatenate([x[:1], x[:2], x]) * 2,
        vjp=lambda g, x: 2 * np.array([g[0] + g[1] + g[3], g[2] + g[4], g[5]]),
        recipes=_VECTOR,
        ulp=ROUNDED,
        bound=_GRADIENT,
    ),
    *arrays(
        "array-dynamic",
        dynamic,
        reference=outer,
        recipes=_VECTOR,
        ulp=ROUNDED,
    ),
    *arrays("array-empty", empty, reference=lambda x: x, vjp=lambda g, x: g, recipes=_VECTOR),
    *arrays(
        "array-gaps",
        gaps,
        tier="full",
        reference=lambda x: np.stack([x * 2, x * 0, x * 2, x * 0]),
        vjp=lambda g, x: 2 * (g[0] + g[2]),
        recipes=_VECTOR,
        ulp=ROUNDED,
        unsigned_zeros=("output",),
        bound=_GRADIENT,
    ),
    *_refused(
        "array-negative",
        negative,
        "INVALID_ARGUMENT",
        contract=_clamped(lambda x: np.stack([x * 2, x * 2, x * 0])),
        ulp=ROUNDED,
        unsigned_zeros=("output",),
    ),
    *_refused("array-other-dtype", other_dtype, "INVALID_ARGUMENT"),
    *_refused("array-other-shape", other_shape, "INVALID_ARGUMENT"),
    *_refused(
        "array-out-of-range",
        out_of_range,
        "INVALID_ARGUMENT",
        contract=_clamped(lambda x: np.stack([x * 0, x * 2, x * 2])),
        ulp=ROUNDED,
        unsigned_zeros=("output",),
    ),
    *arrays(
        "array-read-back",
        read_back,
        reference=read_back_reference,
        vjp=read_back_vjp,
        recipes=_VECTOR,
        bound={
            "output": lambda u, g, x: 9.3 * u * np.sum(np.abs(x)) ** 4,
            "grad": lambda u, g, x: 64 * u * np.sum(np.abs(x)) ** 3 * np.abs(g).sum(),
        },
    ),
    *arrays(
        "array-stacked", stacked, reference=outer, vjp=outer_vjp, recipes=_VECTOR, ulp={"output": 0.5}, bound=_GRADIENT
    ),
    *arrays(
        "array-unstacked",
        unstacked,
        reference=lambda x: x * np.sum(x),
        vjp=lambda g, x: g * np.sum(x) + np.sum(g * x),
        recipes=_VECTOR,
        bound=_PRODUCT,
    ),
    *arrays(
        "array-written-twice",
        written_twice,
        reference=lambda x: x[2] * x,
        recipes=_VECTOR,
        ulp=ROUNDED,
        v1={"program": with_v1(written_twice), "reference": raises("INVALID_ARGUMENT", "already been written")},
    ),
)
