"""Recurrence: the promises of recurrent ops, by the formulas of `suites.reference.neural_networks.recurrent`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.linear_algebra.linear import Numbers
from tf_opdiff.suites.reference.neural_networks.recurrent import NONE, Each, lstm, lstm_vjp
from tf_opdiff.suites.reference.promises.accumulation import FLOAT16
from tf_opdiff.suites.reference.promises.analysed import Analysed
from tf_opdiff.suites.reference.promises.complex_step import along
from tf_opdiff.suites.reference.promises.promise import Promise
from tf_opdiff.suites.reference.promises.running import Running, finite


class Recurrence(Analysed):
    """Some results of a recurrent op.

    formula     formula(*xs, **attrs) → all results.
    chosen      the numbers of the results.
    zeroed      the numbers of the inputs whose memory the kernel may zero before it reads them.
    fixed       keyword arguments of the formula that are no attributes of the op, or have other defaults there.
    """

    unsigned_zeros = ("output",)
    alternatives = None  # type: ignore[assignment]

    def __init__(
        self, formula: Callable[..., Each], chosen: Sequence[int], zeroed: Sequence[int] = (), **fixed: Any
    ) -> None:
        self._formula, self.chosen, self._zeroed, self.fixed = formula, tuple(chosen), zeroed, fixed
        self.bounded = len(self.chosen)

    def formula(self, *xs: Numbers, **attrs: Any) -> Each:
        every = self._formula(*xs, **{**self.fixed, **attrs})
        return tuple(every[k] for k in self.chosen)

    def f(self, *xs: np.ndarray, **attrs: Any) -> Each:
        return tuple(np.asarray(y) for y in super().f(*xs, **attrs))

    @property
    def mistaken(self) -> Promise | None:
        """The results where the kernel zeroes the memory of inputs before it reads them."""
        own = self._formula

        def zeroed(*xs: Numbers, **attrs: Any) -> Each:
            return own(*(x * (n not in self._zeroed) for n, x in enumerate(xs)), **attrs)

        return Recurrence(zeroed, self.chosen, **self.fixed) if self._zeroed else None

    def running(self, u: float, x: Any) -> Any:
        return x if x.dtype.kind in "iu" else finite(u, x)

    def error_of(self, u: float, y: Running, n: int) -> np.ndarray:
        """A subnormal number of float16 is a whole number of steps of 2^-24."""
        return np.asarray(y.error + u * np.abs(y.value) + (2.0**-24 if u == FLOAT16 else 0.0), np.float64)


class LstmSteps(Recurrence):
    """Some results of an LSTM over all steps, with gradients.

    `way_back` has keyword arguments of the gradients, in place of those of the results.
    """

    def __init__(self, chosen: Sequence[int], way_back: Mapping[str, Any] | None = None, **fixed: Any) -> None:
        super().__init__(lstm, chosen, **fixed)
        self._way_back = way_back

    def back(self, g: Any, *xs: Numbers, **attrs: Any) -> tuple[Any, ...]:
        gs = dict(zip(self.chosen, g, strict=True))
        upstreams = [gs.get(k) for k in range(len(NONE))]
        return lstm_vjp(upstreams, *xs, back=self._way_back, **{**self.fixed, **attrs})

    def jvp(self, ts: Any, *xs: np.ndarray, **attrs: Any) -> Any:
        return along(lambda *moved: self.formula(*moved, **attrs), xs, ts)

    def hvp(self, g: Any, ts: Any, *xs: np.ndarray, **attrs: Any) -> tuple[Any, ...]:
        return (None, *along(lambda *moved: self.back(g, *moved, **attrs)[1:], xs, ts))
