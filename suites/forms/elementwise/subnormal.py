"""Subnormals: the sides of contracts on which a processor takes them for zeros, and parts about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.harness.spec.modes import MODES, xla_compiles
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Recipe, Side, Spec
from tf_opdiff.suites.forms.part import Op, Part, part
from tf_opdiff.suites.reference.promises.subnormal import (
    DENORMALS,
    GPU_LINK,
    GPU_WHY,
    LINK,
    WHY,
    flushed,
    flushed_on_gpu,
)


def flushing(reference: Callable[..., Any], why: str = WHY) -> Side:
    """The side that promises the reference's result for inputs whose subnormals are zeros."""
    return Side(reference=lambda *xs: reference(*map(flushed, xs)), why=why, link=LINK, unless=DENORMALS)


def flushing_on_gpu(reference: Callable[..., Any]) -> dict[str, Side]:
    """The sides of GPUs: TensorFlow's kernels flush subnormals of float32 and bfloat16 there, and XLA keeps them."""

    def flushed_reference(*xs: Any) -> Any:
        return flushed_on_gpu(reference(*map(flushed_on_gpu, xs)))

    return of_gpu_kernels(Side(reference=flushed_reference, why=GPU_WHY, link=GPU_LINK))


def of_gpu_kernels(side: Side) -> dict[str, Side]:
    """A side of a contract that holds for TensorFlow's own kernels on GPUs, not for XLA's programs there."""
    return {f"gpu/{mode}": side for mode in MODES if not xla_compiles(mode)}


def subnormal_numbers(recipes: Mapping[str, Recipe], *, results: bool = False, **fields: Any) -> Part:
    """A part: subnormal numbers, which a CPU may take for zeros.

    Args:
      recipes: the recipes.
      results: whether results may be subnormal too.
      fields: further fields of the spec, such as a reference.
    """

    def specs(op: Op) -> Iterable[Spec]:
        reference = fields.get("reference", op.reference)
        on_cpu = flushing((lambda *xs: flushed(reference(*xs))) if results else reference)
        contract = {"cpu/*": on_cpu, **flushing_on_gpu(reference)}
        return part("-subnormal", positions=True, recipes=recipes, dtypes=FLOATS, contract=contract, **fields)(op)

    return specs


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
