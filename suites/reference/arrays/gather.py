"""Gather and its adjoint in NumPy; indices out of range are clamped, as XLA does, or give zeros, as GPUs do."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.spec import Raises, Sparse
from tf_opdiff.suites.reference.arrays.moves import blank, blanks


def _stacked(function, arrays, empty):
    """The results for each element of a batch; `empty` for a batch without elements."""
    return np.stack([function(*each) for each in zip(*arrays, strict=True)]) if len(arrays[0]) else empty


def take(x, indices, axis=0, batch=0):
    """params[..., indices, ...] along an axis, for each element of the leading `batch` dimensions (`tf.gather`)."""
    if batch:
        shape = x.shape[:axis] + indices.shape[batch:] + x.shape[axis + 1 :]
        return _stacked(partial(take, axis=axis - 1, batch=batch - 1), (x, indices), np.zeros(shape, x.dtype))
    return np.take(x, indices, axis)


def put(g, x, indices, axis=0, batch=0):
    """The adjoint of `take`: sums `g` into the places that were read; an index out of range has none."""
    out = np.zeros(x.shape, g.dtype)
    if batch:
        return _stacked(partial(put, axis=axis - 1, batch=batch - 1), (g, x, indices), out)
    rows = np.moveaxis(g, range(axis, axis + indices.ndim), range(indices.ndim))
    rows = rows.reshape(indices.size, *np.delete(x.shape, axis))
    inside = (indices.ravel() >= 0) & (indices.ravel() < x.shape[axis])
    np.add.at(np.moveaxis(out, axis, 0), indices.ravel()[inside], rows[inside])
    return out


def rows(g, x, indices):
    """The gradient of a gather along axis 0 in its sparse form: the upstream's rows and the indices as they are."""
    return Sparse(g.reshape(indices.size, *x.shape[1:]), indices.ravel(), x.shape)


def clamped(x, indices, axis=0, batch=0):
    """`take` with the nearest index in range; zeros where there is none."""
    if x.shape[axis]:
        return take(x, np.clip(indices, 0, x.shape[axis] - 1), axis, batch)
    return blanks(x, x.shape[:axis] + indices.shape[batch:] + x.shape[axis + 1 :])


def zeroed(x, indices, axis=0, batch=0):
    """`take` with zeros where the index is out of range."""
    inside = (indices >= 0) & (indices < x.shape[axis])
    inside = inside.reshape(indices.shape + (1,) * (x.ndim - axis - 1))
    inside = inside if batch else inside[(None,) * axis]
    return np.where(inside, clamped(x, indices, axis, batch), blank(x))


def refused(x, indices, axis=0, batch=0):
    """The CPU's answer to an index out of range: it names the first one and the range."""
    bad = np.argwhere((indices < 0) | (indices >= x.shape[axis]))[0]
    place = ",".join(map(str, bad))
    says = f"indices[{place}] = {indices[tuple(bad)]} is not in [0, {x.shape[axis]})"
    return Raises("INVALID_ARGUMENT", says)


def take_nd(x, indices, batch=0):
    """params[indices[..., 0], indices[..., 1], …] (`tf.gather_nd`)."""
    out = np.zeros(indices.shape[:-1] + x.shape[batch + indices.shape[-1] :], x.dtype)
    if batch:
        return _stacked(partial(take_nd, batch=batch - 1), (x, indices), out)
    for at in np.ndindex(indices.shape[:-1]):
        out[at] = x[tuple(indices[at])]
    return out


def put_nd(g, x, indices, batch=0):
    """The adjoint of `take_nd`; an index out of range has no place to be summed into."""
    out = np.zeros(x.shape, g.dtype)
    if batch:
        return _stacked(partial(put_nd, batch=batch - 1), (g, x, indices), out)
    for at in np.argwhere(_inside_nd(x, indices)):
        out[tuple(indices[tuple(at)])] += g[tuple(at)]
    return out


def rows_nd(g, x, indices):
    """The gradient of `take_nd` as TensorFlow states it: sparse for a list of rows, dense otherwise."""
    return Sparse(g, indices[:, 0], x.shape) if _list_of_rows(indices) else put_nd(g, x, indices)


def clamped_nd(x, indices):
    """`take_nd` with the nearest indices in range; zeros where there are none."""
    depth = indices.shape[-1]
    if x.size:
        return take_nd(x, np.clip(indices, 0, np.array(x.shape[:depth]) - 1))
    return blanks(x, indices.shape[:-1] + x.shape[depth:])


def zeroed_nd(x, indices):
    """`take_nd` with zeros where an index is out of range."""
    picked = clamped_nd(x, indices)
    inside = _inside_nd(x, indices)
    return np.where(inside.reshape(inside.shape + (1,) * (picked.ndim - inside.ndim)), picked, blank(x))


def refused_nd(x, indices):
    """The CPU's answer to an index out of range: it names the one and the shape."""
    bad = np.argwhere(~_inside_nd(x, indices))[0]
    shown = ", ".join(map(str, indices[tuple(bad)]))
    shape = ",".join(map(str, x.shape))
    says = f"indices[{','.join(map(str, bad))}] = [{shown}] does not index into param shape [{shape}]"
    return Raises("INVALID_ARGUMENT", says if x.size else "params is empty")


def _list_of_rows(indices):
    return indices.ndim == 2 and indices.shape[1] == 1


def _inside_nd(x, indices):
    return ((indices >= 0) & (indices < x.shape[: indices.shape[-1]])).all(-1)


def summed(scatter):
    """n·u·Σ|g| where n > 1 upstreams meet, no error elsewhere (Higham, Accuracy and Stability, section 4.2)."""

    def bound(u, g, x, indices, **where):
        counts = scatter(np.ones(g.shape), x, indices, **where)
        return np.where(counts > 1, counts * u * scatter(np.abs(g), x, indices, **where), 0)

    return bound


def summed_nd(u, g, x, indices):
    """The bound of `rows_nd`: that of a sum where the gradient is dense, no error where it is sparse."""
    return 0 if _list_of_rows(indices) else summed(put_nd)(u, g, x, indices)
