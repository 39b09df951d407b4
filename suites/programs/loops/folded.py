"""Recurrences over rows, by `tf.foldl`, `tf.foldr` and `tf.scan`, with v2's control flow and with v1's."""

import numpy as np

from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.programs.loops.mapped import NONE, SUMS, maps


def folded_left(tf, api, x):
    """a → a * 0.5 + row, from the first row on."""
    return api.foldl(lambda a, row: a * 0.5 + row, x)


def folded_right(tf, api, x):
    """The same from the last row on."""
    return api.foldr(lambda a, row: a * 0.5 + row, x)


def folded_from(tf, api, x):
    """The same from a start on: it is the result for no rows."""
    return api.foldl(lambda a, row: a * 0.5 + row, x, initializer=tf.ones_like(tf.reduce_sum(x, 0)))


def scanned_sums(tf, api, x):
    """All steps of `folded_left`."""
    return api.scan(lambda a, row: a * 0.5 + row, x)


def scanned_back(tf, api, x):
    """All steps of `folded_right`, in the order of the rows."""
    return api.scan(lambda a, row: a * 0.5 + row, x, reverse=True)


def scanned_pair(tf, api, x):
    """A scan of two accumulators over two sequences: a sum, and a product with the second sequence."""
    step = lambda a, e: (a[0] + e[0], a[1] * e[1])  # noqa: E731
    return api.scan(step, (x, x * 0.5), initializer=(tf.zeros_like(x[0]), tf.ones_like(x[0])))


def steps(x, start=None):
    """All steps of a → a / 2 + row, from the first row on, or from a start."""
    rows = []
    for row in x:
        start = row if start is None else start * 0.5 + row
        rows.append(start)
    return np.stack(rows) if rows else np.zeros_like(x)


def steps_vjp(g, x):
    """The VJP of `steps`: the same recurrence from the last row on."""
    return steps(g[::-1])[::-1]


def last_vjp(g, x):
    """The VJP of the last step: halves, from the last row on."""
    return g * 0.5 ** np.arange(len(x))[::-1, None]


_TWICE = {
    "output": lambda u, g, x: 8 * u * (1 + np.abs(x).sum()) ** 3,
    "grad": lambda u, g, x: 32 * u * (1 + np.abs(x).sum()) ** 3 * sum(np.abs(h).sum() for h in g if h is not None),
}


def pair_vjp(g, x):
    """The VJP of `scanned_pair`: cumulative sums, and products over the factors x / 2."""
    total = np.cumsum(g[0][::-1], 0)[::-1].copy()
    for i in range(len(x)):
        for j in range(i + 1):
            others = [k for k in range(i + 1) if k != j]
            total[j] += 0.5 * g[1][i] * np.prod(x[others] * 0.5, 0)
    return total


SPECS = (
    *maps("fold-left", folded_left, "foldl", reference=lambda x: steps(x)[-1], vjp=last_vjp, bound=SUMS),
    *maps(
        "fold-left-from", folded_from, "foldl", reference=lambda x: steps(x, np.ones(2))[-1], vjp=last_vjp, bound=SUMS
    ),
    *maps("fold-left-from-of-nothing", folded_from, "foldl", reference=lambda x: np.ones(2), recipes=NONE),
    *maps("fold-left-of-nothing", folded_left, "foldl", reference=raises("INVALID_ARGUMENT"), recipes=NONE),
    *maps(
        "fold-right",
        folded_right,
        "foldr",
        tier="full",
        reference=lambda x: steps(x[::-1])[-1],
        vjp=lambda g, x: last_vjp(g, x)[::-1],
        bound=SUMS,
    ),
    *maps("scan-steps", scanned_sums, "scan", reference=steps, vjp=steps_vjp, bound=SUMS),
    *maps(
        "scan-steps-back",
        scanned_back,
        "scan",
        tier="full",
        reference=lambda x: steps(x[::-1])[::-1],
        vjp=lambda g, x: steps(g),
        bound=SUMS,
    ),
    *maps("scan-steps-of-nothing", scanned_sums, "scan", reference=raises("INVALID_ARGUMENT"), recipes=NONE),
    *maps(
        "scan-pair",
        scanned_pair,
        "scan",
        reference=lambda x: (np.cumsum(x, 0), np.cumprod(x * 0.5, 0)),
        vjp=pair_vjp,
        results=2,
        bound=_TWICE,
    ),
)
