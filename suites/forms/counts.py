"""Counts: the specs of ops that count numbers, or add up the weights of equal numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.attrs import Keywords
from tf_opdiff.harness.spec.recipes import Draw, edges, special_values
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.errors import REFUSED_BY_KERNEL, raises
from tf_opdiff.suites.reference.accumulation import gamma, lowest_bit
from tf_opdiff.suites.reference.subnormal import flushed_in

#: Numbers are below this one, so that a smaller count of bins leaves some out.
_NUMBERS = 9
Arrays = tuple[np.ndarray, ...]


def weighted(*shape: int, index: str = "int32") -> Recipe:
    """A recipe: numbers, and plain weights."""
    return lambda draw, dtype: (_numbers(draw, shape, index), draw.values(dtype, *shape))


def exact(*shape: int, index: str = "int32") -> Recipe:
    """A recipe: numbers, and small integers as weights, whose sums are exact."""
    return lambda draw, dtype: (_numbers(draw, shape, index), draw.integers(*shape, low=-8, high=9).astype(dtype))


def unweighted(*shape: int, index: str = "int32") -> Recipe:
    """A recipe: numbers without weights; each number counts as 1."""
    return lambda draw, dtype: (_numbers(draw, shape, index), np.zeros(0, dtype))


def special(draw: Draw, dtype: np.dtype) -> Arrays:
    """Special values, or the limits of integers, as weights: alone in a bin, or together with others."""
    values = special_values(dtype) if dtype.kind == "f" else np.unique(edges(draw, dtype)[0])
    other = np.arange(len(values))[::-1] % 3
    return np.concatenate([np.arange(len(values)), other]).astype("int32"), np.concatenate([values, values])


def _numbers(draw: Draw, shape: tuple[int, ...], index: str) -> np.ndarray:
    return draw.integers(*shape, low=0, high=_NUMBERS).astype(index)


@dataclass(frozen=True, kw_only=True)
class Counts:
    """The declaration of an op that counts.

    name        the name of its main spec.
    op          its OpDef.
    program     program(tf, numbers, weights, **attrs).
    reference   reference(numbers, weights, **attrs) → the bins, in long double or in the dtype of integers.
    attrs       as of a spec.
    recipes     the recipes of float32, and of all other dtypes in the full tier.
    small       the recipes of no number, and of one.
    refused     name → a recipe of inputs that the kernel refuses.
    misshapen   name → a recipe of inputs that shape inference refuses.
    wrong       label → keyword arguments that the op refuses.
    dtypes      the dtypes of weights beside float32.
    """

    name: str
    op: str
    program: Callable[..., Any]
    reference: Callable[..., np.ndarray]
    attrs: Mapping[str, Keywords]
    recipes: Mapping[str, Recipe]
    small: Mapping[str, Recipe]
    refused: Mapping[str, Recipe]
    misshapen: Mapping[str, Recipe]
    wrong: Mapping[str, Keywords]
    dtypes: tuple[str, ...] = ("float64", "int32", "int64")

    def specs(self) -> tuple[Spec, ...]:
        """The specs of the op."""
        first = dict(list(self.attrs.items())[:1])
        main = Spec(
            name=self.name,
            ops=self.op,
            program=self.program,
            reference=self.reference,
            recipes=self.recipes,
            attrs=self.attrs,
            bound={"output": self._bound},
            ulp={"output": 0.5},
            alternatives={"output": self._flushed},
            unsigned_zeros=("output",),
        )
        other = replace(main, name=f"{self.name}-other", dtypes=self.dtypes, tier="full")
        return (main, other, *sizes(replace(main, attrs=first), self.small), *self._wrong(first))

    def _wrong(self, first: Mapping[str, Keywords]) -> Iterator[Spec]:
        """The specs of inputs and sizes that the op refuses."""

        def wrong(suffix: str, code: str, recipes: Mapping[str, Recipe], attrs: Mapping[str, Keywords]) -> Spec:
            return Spec(
                name=self.name + suffix,
                ops=self.op,
                program=self.program,
                reference=raises(code),
                recipes=recipes,
                attrs=attrs,
                contract=REFUSED_BY_KERNEL if code == "ValueError" else {},
            )

        yield wrong("-refused", "INVALID_ARGUMENT", self.refused, first)
        if self.misshapen:
            yield wrong("-misshapen", "ValueError", self.misshapen, first)
        yield wrong("-wrong-size", "ValueError", dict(list(self.recipes.items())[:1]), self.wrong)

    def _bound(self, u: float, g: Any, numbers: np.ndarray, weights: np.ndarray, **attrs: Any) -> np.ndarray:
        """γ_n Σ|w| of n weights (Higham, section 4.2); 0 where every partial sum is exact."""
        total = self.reference(numbers, np.abs(weights), **attrs)
        terms = self.reference(numbers, weights[:0].ravel()[:0], **attrs)
        exact = total * u <= np.min(lowest_bit(weights.astype(np.float64)), initial=np.inf)
        return np.asarray(np.where(exact, 0.0, gamma(terms, u) * total), np.float64)

    def _flushed(self, dtype: np.dtype, g: Any, numbers: np.ndarray, weights: np.ndarray, **attrs: Any) -> list[Any]:
        """The bins with sums, or with weights, flushed."""
        of_flushed = self.reference(numbers, flushed_in(dtype, weights), **attrs)
        return [flushed_in(dtype, self.reference(numbers, weights, **attrs)), of_flushed]


def counts(name: str, **settings: Any) -> tuple[Spec, ...]:
    """The specs of an op that counts: see `Counts`."""
    return Counts(name=name, **settings).specs()
