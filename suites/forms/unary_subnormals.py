"""Subnormals: what a unary op promises of subnormal inputs on processors that take them for zeros."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.forms.subnormal import flushing, flushing_on_gpu
from tf_opdiff.suites.reference.subnormal import flushed


@dataclass(frozen=True, kw_only=True)
class Subnormals:
    """What an op promises of subnormal inputs.

    dtypes      the dtypes that are checked: float32, and those in which CPU kernels flush in whole vectors and keep in
                the elements left over, or the other way round. The contract allows flushing at every position only:
                known failures have the mixture.
    preserved   whether the CPU keeps them, too, as in ops without arithmetic.
    preserved_by_xla
                the dtypes in which XLA keeps them, while the kernels' vectors flush them.
    """

    dtypes: tuple[str, ...] = ("float32",)
    preserved: bool = False
    preserved_by_xla: tuple[str, ...] = ()

    def groups(self) -> Iterator[tuple[str, ...]]:
        """The dtypes that make the same promise; the first group's spec has no dtype in its name."""
        first = self.preserved_by_xla or self.dtypes
        if first:
            yield first
            yield from ((dtype,) for dtype in self.dtypes if dtype not in first)

    def contract(self, f: Callable[..., Any], dtypes: tuple[str, ...]) -> Mapping[str, Side]:
        """The sides of CPUs and of kernels for GPUs, on which a subnormal input or result is zero."""
        on_gpu = flushing_on_gpu(f)
        if self.preserved:
            return on_gpu
        side = flushing(lambda x: flushed(f(x)))
        modes = WITHOUT_XLA if dtypes == self.preserved_by_xla else ("*",)
        return {f"cpu/{mode}": side for mode in modes} | on_gpu


#: What most ops promise.
FLUSHED = Subnormals()
#: One mode flushes subnormals and another does not: nothing is promised.
EITHER = Subnormals(dtypes=())
