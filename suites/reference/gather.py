"""Gather and its adjoint in NumPy; indices out of range are clamped, as XLA does, or give zeros, as GPUs do."""

import numpy as np

from tf_opdiff.harness.spec.spec import Raises, Sparse


def take(x, indices, axis=0, batch=0):
    """params[..., indices, ...] along an axis, for each element of the leading `batch` dimensions (`tf.gather`)."""
    if batch and not len(x):
        return np.zeros(x.shape[:axis] + indices.shape[batch:] + x.shape[axis + 1 :], x.dtype)
    if batch:
        return np.stack([take(a, i, axis - 1, batch - 1) for a, i in zip(x, indices, strict=True)])
    return np.take(x, indices, axis)


def put(g, x, indices, axis=0, batch=0):
    """The adjoint of `take`: sums `g` into the places that were read; an index out of range has none."""
    if batch and not len(x):
        return np.zeros(x.shape, g.dtype)
    if batch:
        return np.stack([put(*each, axis - 1, batch - 1) for each in zip(g, x, indices, strict=True)])
    out = np.zeros(x.shape, g.dtype)
    rows = np.moveaxis(g, range(axis, axis + indices.ndim), range(indices.ndim))
    rows = rows.reshape(indices.size, *np.delete(x.shape, axis))
    inside = (indices.ravel() >= 0) & (indices.ravel() < x.shape[axis])
    np.add.at(np.moveaxis(out, axis, 0), indices.ravel()[inside], rows[inside])
    return out


def rows(g, x, indices):
    """The gradient of a gather along axis 0 in its sparse form: the upstream's rows and the indices as they are."""
    return Sparse(g.reshape(indices.size, *x.shape[1:]), indices.ravel(), x.shape)


def _zero(dtype):
    """The zero of a dtype; for byte strings, the empty one."""
    return np.array(b"", object) if dtype.kind == "O" else np.zeros((), dtype)


def clamped(x, indices, axis=0, batch=0):
    """`take` with the nearest index in range; zeros where there is none."""
    if x.shape[axis]:
        return take(x, np.clip(indices, 0, x.shape[axis] - 1), axis, batch)
    return np.full(x.shape[:axis] + indices.shape[batch:] + x.shape[axis + 1 :], _zero(x.dtype))


def zeroed(x, indices, axis=0, batch=0):
    """`take` with zeros where the index is out of range."""
    inside = (indices >= 0) & (indices < x.shape[axis])
    inside = inside.reshape(indices.shape + (1,) * (x.ndim - axis - 1))
    inside = inside if batch else inside[(None,) * axis]
    return np.where(inside, clamped(x, indices, axis, batch), _zero(x.dtype))


def refused(x, indices, axis=0, batch=0):
    """The CPU's answer to an index out of range: it names the first one and the range."""
    bad = np.argwhere((indices < 0) | (indices >= x.shape[axis]))[0]
    place = ",".join(map(str, bad))
    says = f"indices[{place}] = {indices[tuple(bad)]} is not in [0, {x.shape[axis]})"
    return Raises("INVALID_ARGUMENT", says)


def take_nd(x, indices, batch=0):
    """params[indices[..., 0], indices[..., 1], …] (`tf.gather_nd`)."""
    if batch and not len(x):
        return np.zeros(indices.shape[:-1] + x.shape[batch + indices.shape[-1] :], x.dtype)
    if batch:
        return np.stack([take_nd(a, i, batch - 1) for a, i in zip(x, indices, strict=True)])
    out = np.empty(indices.shape[:-1] + x.shape[indices.shape[-1] :], x.dtype)
    for at in np.ndindex(indices.shape[:-1]):
        out[at] = x[tuple(indices[at])]
    return out


def put_nd(g, x, indices, batch=0):
    """The adjoint of `take_nd`; an index out of range has no place to be summed into."""
    if batch and not len(x):
        return np.zeros(x.shape, g.dtype)
    if batch:
        return np.stack([put_nd(*each, batch - 1) for each in zip(g, x, indices, strict=True)])
    out = np.zeros(x.shape, g.dtype)
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
    return np.full(indices.shape[:-1] + x.shape[depth:], _zero(x.dtype))


def zeroed_nd(x, indices):
    """`take_nd` with zeros where an index is out of range."""
    picked = clamped_nd(x, indices)
    inside = _inside_nd(x, indices)
    return np.where(inside.reshape(inside.shape + (1,) * (picked.ndim - inside.ndim)), picked, _zero(x.dtype))


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
