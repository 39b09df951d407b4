"""Recurrent cells: one step of an LSTM and of a GRU, an LSTM over all steps, and their gradients.

The functions take arrays, or the arrays of `suites.reference.promises.running`, which carry errors along.

Sources: https://www.tensorflow.org/api_docs/python/tf/raw_ops/LSTMBlockCell and
https://www.tensorflow.org/api_docs/python/tf/raw_ops/GRUBlockCell have the formulas. The order of an LSTM's gates is
that of tensorflow/core/kernels/rnn/lstm_ops.h: `icfo`, as in the name of the output `dicfo` of LSTMBlockCellGrad, and
`ifco` in the second version of the ops. The documentation of LSTMBlockCell has `ifco`, which its kernels do not have.
Gradients are those of F. Gers, N. Schraudolph, J. Schmidhuber, Learning Precise Timing with LSTM Recurrent Networks,
without its truncation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.linear_algebra.linear import Numbers, constant, transposed, zeros

Each = tuple[Numbers, ...]
#: The upstreams of i, cs, f, o, ci, co and h.
NONE = (0,) * 7


def sigmoid(z: Numbers) -> Numbers:
    """1 / (1 + exp(-z))."""
    return 1 / (1 + np.exp(-z))


@dataclass(frozen=True)
class Lstm:
    """One step of an LSTM; the fields but the last are the attributes of TensorFlow's ops.

    forget_bias     is added to the forget gate.
    cell_clip       the largest size of a cell state; without limit if it is not positive.
    use_peephole    whether the gates see the cell state.
    order           the order of the gates in the weights: i, the input gate; c, the input; f, the forget gate; o, the
                    output gate.
    """

    forget_bias: float = 1.0
    cell_clip: float = 3.0
    use_peephole: bool = False
    order: str = "icfo"

    def step(self, x: Numbers, cs: Numbers, h: Numbers, *weights: Numbers) -> Each:
        """i, cs, f, o, ci, co and h, from w, wci, wcf, wco and b."""
        w, wci, wcf, wco, b = weights
        gates = np.concatenate([x, h], axis=1) @ w + b
        at = {name: gates[:, n * cs.shape[1] : (n + 1) * cs.shape[1]] for n, name in enumerate(self.order)}
        i = sigmoid(self._seen(at["i"], cs, wci))
        f = sigmoid(self._seen(at["f"] + self.forget_bias, cs, wcf))
        ci = np.tanh(at["c"])
        new = self._clipped(i * ci + f * cs)
        co, o = np.tanh(new), sigmoid(self._seen(at["o"], new, wco))
        return i, new, f, o, ci, co, o * co

    def _seen(self, gate: Numbers, cs: Numbers, weights: Numbers) -> Numbers:
        return gate + cs * weights if self.use_peephole else gate

    def _clipped(self, cs: Numbers) -> Numbers:
        if self.cell_clip <= 0:
            return cs
        return np.maximum(-np.maximum(-cs, -self.cell_clip), -self.cell_clip)

    def step_back(self, peepholes: Each, cs_prev: Numbers, results: Each, upstreams: Sequence[Any]) -> Each:
        """The gradients by the cell state and by the four gates before their functions: i, c, f and o.

        Args:
          peepholes: wci, wcf and wco.
          cs_prev: the cell state before the step.
          results: i, cs, f, o, ci and co.
          upstreams: those of i, cs, f, o, ci, co and h; 0 for none.
        """
        wci, wcf, wco = peepholes
        i, cs, f, o, ci, co = results
        g_i, g_cs, g_f, g_o, g_ci, g_co, g_h = upstreams
        do = o * (1 - o) * (g_h * co + g_o)
        dcs = (1 - co * co) * (g_h * o + g_co) + g_cs
        dcs = self._seen(dcs, do, wco)
        if self.cell_clip > 0:
            dcs = np.where(np.less(np.absolute(cs), self.cell_clip), dcs, 0)
        dci = (1 - ci * ci) * (dcs * i + g_ci)
        df = f * (1 - f) * (dcs * cs_prev + g_f)
        di = i * (1 - i) * (dcs * ci + g_i)
        return self._seen(self._seen(dcs * f, di, wci), df, wcf), di, dci, df, do

    def joined(self, di: Numbers, dci: Numbers, df: Numbers, do: Numbers) -> Numbers:
        """The gradients by the gates, side by side in their order."""
        each = {"i": di, "c": dci, "f": df, "o": do}
        return np.concatenate([each[name] for name in self.order], axis=1)

    def by_peepholes(self, cs_prev: Numbers, cs: Numbers, gates: Each) -> Each:
        """The gradients by wci, wcf and wco."""
        di, _, df, do = gates
        each = (np.sum(di * cs_prev, axis=0), np.sum(df * cs_prev, axis=0), np.sum(do * cs, axis=0))
        return each if self.use_peephole else tuple(zeros(one) for one in each)


def lstm_cell(*xs: Numbers, **attrs: Any) -> Each:
    """i, cs, f, o, ci, co and h of x, cs_prev, h_prev, w, wci, wcf, wco and b."""
    return Lstm(**attrs).step(*xs)


def lstm_cell_gradient(*xs: Numbers, **attrs: Any) -> Each:
    """The gradients by cs_prev, by the four gates side by side, and by the peepholes.

    The inputs are those of `lstm_cell`, then i, cs, f, o, ci, co, and the upstreams of cs and h. No cell state is
    clipped: the op does not know the limit.
    """
    how = Lstm(cell_clip=0.0, **attrs)
    cs_prev, peepholes, results, (g_cs, g_h) = xs[1], xs[4:7], xs[8:14], xs[14:]
    by_cs, *gates = how.step_back(peepholes, cs_prev, results, (0, g_cs, 0, 0, 0, 0, g_h))
    return by_cs, how.joined(*gates), *how.by_peepholes(cs_prev, results[1], tuple(gates))


def lstm(n: Any, x: Numbers, cs: Numbers, h: Numbers, *weights: Numbers, **attrs: Any) -> Each:
    """i, cs, f, o, ci, co and h of the first n steps, each with time as its first axis; zeros beyond them."""
    steps = []
    for t in range(int(n)):
        steps.append(Lstm(**attrs).step(x[t], cs, h, *weights))
        cs, h = steps[-1][1], steps[-1][6]
    rest = [zeros(cs)] * (len(x) - len(steps))
    return tuple(_stacked([*(step[k] for step in steps), *rest], cs) for k in range(7))


def lstm_gradient(*xs: Numbers, **attrs: Any) -> Each:
    """The gradients by x, cs_prev, h_prev, w, wci, wcf, wco and b.

    The inputs are those of `lstm`, its results, and the upstreams of cs and h. No cell state is clipped: the op does
    not know the limit.
    """
    upstreams = (None, xs[16], None, None, None, None, xs[17])
    return _back(Lstm(cell_clip=0.0, **attrs), xs[:9], xs[9:16], upstreams)


def _back(how: Lstm, xs: Each, results: Each, upstreams: Sequence[Any]) -> Each:
    """The gradients by all inputs but the first, from the upstreams of all results; None for no upstream."""
    n, x, cs_prev, h_prev, w, *peepholes, _ = xs
    rows = [zeros(x[t]) for t in range(len(x))]
    by_cs, by_h = zeros(cs_prev), zeros(h_prev)
    sums: list[Any] = [zeros(one) for one in xs[4:]]
    for t in reversed(range(int(n))):
        before = (results[1][t - 1], results[6][t - 1]) if t else (cs_prev, h_prev)
        now = [0 if g is None else g[t] for g in upstreams]
        now[1], now[6] = now[1] + by_cs, now[6] + by_h
        step = tuple(one[t] for one in results[:6])
        by_cs, *gates = how.step_back(tuple(peepholes), before[0], step, now)
        joined = how.joined(*gates)
        both = joined @ transposed(w)
        rows[t], by_h = both[:, : x.shape[2]], both[:, x.shape[2] :]
        by_w = transposed(np.concatenate([x[t], before[1]], axis=1)) @ joined
        by_peepholes = how.by_peepholes(before[0], step[1], tuple(gates))
        sums = [old + new for old, new in zip(sums, (by_w, *by_peepholes, np.sum(joined, axis=0)), strict=True)]
    return _stacked(rows, x), by_cs, by_h, *sums


def lstm_vjp(gs: Sequence[Any], *xs: Numbers, back: Mapping[str, Any] | None = None, **attrs: Any) -> tuple[Any, ...]:
    """The gradients of `lstm` by all inputs, from the upstreams of all its results; None for no upstream.

    `back` has other attributes for the way back than for the results.
    """
    return (None, *_back(Lstm(**{**attrs, **(back or {})}), xs, lstm(*xs, **attrs), gs))


def _stacked(rows: Sequence[Numbers], like: Numbers) -> Numbers:
    """The rows as one tensor; without rows, an empty tensor of rows like the last axes of another tensor."""
    if rows:
        return np.stack(rows)
    return constant(like, np.zeros((0, *like.shape[-2:]), np.longdouble))


def gru_cell(x: Numbers, h: Numbers, w_ru: Numbers, w_c: Numbers, b_ru: Numbers, b_c: Numbers) -> Each:
    """r, u, c and h."""
    both, n = np.concatenate([x, h], axis=1) @ w_ru + b_ru, h.shape[1]
    r, u = sigmoid(both[:, :n]), sigmoid(both[:, n:])
    c = np.tanh(np.concatenate([x, h * r], axis=1) @ w_c + b_c)
    return r, u, c, u * (h - c) + c


def gru_cell_gradient(*xs: Numbers) -> Each:
    """The gradients by x and h_prev, by c before its function, and by r and u before theirs, side by side.

    The inputs are those of `gru_cell`, then r, u, c, and the upstream of h.
    """
    x, h, w_ru, w_c, _, _, r, u, c, g = xs
    n = x.shape[1]
    dc = g * (1 - u) * (1 - c * c)
    by_c = dc @ transposed(w_c)
    du, dr = g * (h - c) * u * (1 - u), by_c[:, n:] * h * r * (1 - r)
    both = np.concatenate([dr, du], axis=1)
    by_gates = both @ transposed(w_ru)
    return by_gates[:, :n] + by_c[:, :n], by_gates[:, n:] + by_c[:, n:] * r + g * u, dc, both
