"""Functions of `tf.experimental.numpy` that make arrays, join and split them, and usual arithmetic: one line each."""

import numpy as np

from tf_opdiff.suites.forms.programs.api import calls
from tf_opdiff.suites.programs.api.numpy.numpy_functions import Lines, by_name, called

#: The dtype of arrays that are made.
_FLOAT = np.float32
_MOVES: Lines = {
    **by_name("abs negative floor transpose ones_like zeros_like squeeze"),
    "broadcast_arrays": lambda lib, x: lib.stack(lib.broadcast_arrays(x, x[0])),
    "dsplit": lambda lib, x: lib.stack(lib.dsplit(lib.stack([x, -x], 2), 2)),
    "empty_like": lambda lib, x: lib.ones_like(lib.empty_like(x)),
    "expand_dims": lambda lib, x: lib.expand_dims(x, 1),
    "flatten": lambda lib, x: lib.flatten(x) if lib is not np else x.flatten(),
    "hsplit": lambda lib, x: lib.concatenate(lib.hsplit(x, [1, 3]), 1),
    "ix_": lambda lib, x: lib.stack([lib.ravel(index) for index in lib.ix_([2, 0], [1, 4])]),
    "pad": lambda lib, x: lib.pad(x, [[1, 0], [0, 2]], "constant", constant_values=7),
    "repeat": lambda lib, x: lib.repeat(x, 2, 1),
    "reshape": lambda lib, x: lib.reshape(x, (5, 3)),
    "roll": lambda lib, x: lib.roll(x, 2, 1),
    "split": lambda lib, x: lib.stack(lib.split(x, 3)),
    "stack": lambda lib, x: lib.stack([x, -x], 1),
    "tile": lambda lib, x: lib.tile(x, (2, 1)),
    "vsplit": lambda lib, x: lib.stack(lib.vsplit(x, 3)),
    "where": lambda lib, x: lib.where(x > 0, x, -x),
}
#: Functions that tell about an array without its numbers, or make arrays of given numbers.
_MADE: Lines = {
    "arange": lambda lib, x: lib.arange(2, 17, 3),
    "diag_indices": lambda lib, x: lib.asarray(lib.stack(lib.diag_indices(4)), np.int64),
    "empty": lambda lib, x: lib.ones_like(lib.empty((2, 3), _FLOAT)),
    "eye": lambda lib, x: lib.eye(3, 4, k=1, dtype=_FLOAT),
    "full": lambda lib, x: lib.full((2, 3), 2.5, _FLOAT),
    "identity": lambda lib, x: lib.identity(3, _FLOAT),
    "meshgrid": lambda lib, x: lib.stack(lib.meshgrid([1, 2, 3], [4, 5])),
    "ndim": lambda lib, x: lib.array(lib.ndim(x)),
    "ones": lambda lib, x: lib.ones((2, 3), _FLOAT),
    "shape": lambda lib, x: lib.array(list(lib.shape(x))),
    "size": lambda lib, x: lib.array(lib.size(x)),
    "tri": lambda lib, x: lib.tri(3, 4, -1, _FLOAT),
    "zeros": lambda lib, x: lib.zeros((2, 3), _FLOAT),
}
_SPACED: Lines = {
    "geomspace": lambda lib, x: lib.geomspace(2.0, 162.0, 5, dtype=_FLOAT),
}
_SMOOTH: Lines = by_name("cos cosh exp sin sinh sqrt tanh")
_COMPARED: Lines = {
    **by_name("equal not_equal less maximum minimum"),
    "logical_and": lambda lib, x, y: lib.logical_and(x > 0, y > 0),
    "logical_not": lambda lib, x, y: lib.logical_not(x > y),
    "logical_or": lambda lib, x, y: lib.logical_or(x > 0, y > 0),
}
_EXACT: Lines = {
    **by_name("add subtract multiply matmul"),
    "divmod": lambda lib, x, y: lib.stack(lib.divmod(x, y)),
}


def _special(draw, dtype):
    """A recipe: numbers of both signs, halves, infinities and NaN."""
    x = draw.values(dtype, 3, 5)
    x.flat[[1, 3, 6, 7, 9, 11]] = 2.5, np.inf, -0.5, np.nan, 0.0, -np.inf
    return (x,)


def _pairs(draw, dtype):
    """A recipe: two arrays; some elements are equal, some are NaN or infinite."""
    x, y = draw.values(dtype, 3, 5), draw.values(dtype, 3, 5)
    y.flat[[2, 4]] = x.flat[[2, 4]]
    x.flat[[3, 7]], y.flat[[9, 11]] = (np.inf, np.nan), (-np.inf, np.nan)
    return x, y


def _constant(lines):
    """The outputs that no input changes."""
    return tuple(f"output[{i}]" for i in range(len(lines)))


SPECS = (
    *calls(
        "api-numpy-moves",
        *called(_MOVES),
        recipes={"special": _special},
        constant=tuple(
            f"output[{i}]" for i, name in enumerate(_MOVES) if name in ("ones_like", "zeros_like", "empty_like", "ix_")
        ),
        tier="full",
    ),
    *calls(
        "api-numpy-made",
        *called(_MADE),
        recipes={"special": _special},
        constant=_constant(_MADE),
        tier="full",
    ),
    *calls(
        "api-numpy-spaced",
        *called(_SPACED, ulp=8.0),
        recipes={"special": _special},
        constant=_constant(_SPACED),
        tier="full",
    ),
    *calls(
        "api-numpy-logspace",
        *called({"logspace": lambda lib, x: lib.logspace(-1.0, 2.0, 7, dtype=_FLOAT)}, ulp=8.0),
        recipes={"special": _special},
        constant=("output[0]",),
        tier="full",
    ),
    *calls(
        "api-numpy-smooth",
        *called(_SMOOTH, ulp=4.0),
        recipes={"inside": lambda draw, d: (draw.uniform(3, 7, low=0.1, high=0.9).astype(d),)},
        tier="full",
    ),
    *calls(
        "api-numpy-comparisons",
        *called(_COMPARED),
        recipes={"pairs": _pairs},
        arguments=2,
        tier="full",
    ),
    *calls(
        "api-numpy-exact",
        *called(_EXACT),
        recipes={"whole": lambda draw, d: tuple(draw.integers(3, 3, low=1, high=9).astype(d) for _ in range(2))},
        arguments=2,
        dtypes=("float32", "int64"),
        tier="full",
    ),
    *calls(
        "api-numpy-nonzero",
        *called({"nonzero": lambda lib, x: lib.stack(lib.nonzero(x))}),
        recipes={"special": _special},
        tier="full",
    ),
    *calls(
        "api-numpy-round",
        *called({"round": lambda lib, x: lib.round(x)}),
        recipes={"special": _special},
        tier="full",
    ),
)
