"""Unary: what the declaration of an elementwise op of one real tensor says, and the specs that it stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, bit_patterns, edges, plain, subnormals
from tf_opdiff.harness.spec.spec import Recipe, Side, Spec
from tf_opdiff.harness.spec.tolerances.by_mode import ByMode, all_modes, mapped
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.cancellation import Lost, without_digits
from tf_opdiff.suites.derived.exact_curve import ExactCurve, exact_curve
from tf_opdiff.suites.derived.gradient_alone import gradient_alone
from tf_opdiff.suites.derived.position import positions
from tf_opdiff.suites.derived.second_order import SecondOrder, second_orders
from tf_opdiff.suites.derived.special_places import short
from tf_opdiff.suites.derived.twin import ELEMENTWISE
from tf_opdiff.suites.forms import ceilings
from tf_opdiff.suites.forms.bounds import Bound, Budget, by_dtype
from tf_opdiff.suites.forms.elementwise.analytic import Analytic
from tf_opdiff.suites.forms.elementwise.flushed import gradient_within, outputs
from tf_opdiff.suites.forms.elementwise.kernel import ROUNDED
from tf_opdiff.suites.forms.elementwise.special_upstreams import crossed, upstreams
from tf_opdiff.suites.forms.elementwise.subnormal import FLUSHED, Subnormals
from tf_opdiff.suites.forms.of_xla import of_xla
from tf_opdiff.suites.forms.part import Op, part
from tf_opdiff.suites.forms.recipes.hard_inputs import overflowing, singular, underflowing
from tf_opdiff.suites.forms.recipes.regions import Region, domain, incomparable, only, within, without
from tf_opdiff.suites.reference.promises.wide import Differentiable, Wide

#: The wider dtypes.
WIDE = ("float32", "float64")
#: ULPs of a result in 16 bits that is rounded twice, by way of float32: half an ULP and a little.
ROUNDED_TWICE = 0.501


@dataclass(frozen=True, kw_only=True)
class Unary:
    """Everything that this project knows about an elementwise op of one real tensor: further fields of an `op`.

    dtypes          the dtypes of its specs; by default, the floats for which a CPU has a kernel.
    f, df           the function and its derivative.
    domain          the interval in which both are worth a closer look.
    ulp             budgets by quantity (`output`, `grad`); a tuple has one for each dtype, in the order of `dtypes`.
                    `by_mode(eager=…, xla=…)` has one of these for XLA and another for all other modes.
    bound           bounds by quantity, where the error grows with the argument; see `suites.forms.bounds`. May be
                    `by_mode` as well.
    aside           label → a region that has a recipe of its own and is left out of all others, so that a known
                    failure there excuses nothing else.
    avoided         a region that no recipe enters.
    recipes         recipes in addition to those that every unary op has.
    contract        contract(function), as of a spec.
    unsigned_zeros  whether a zero of either sign is right: see docs/explanations/conventions.md.
    subnormals      what a CPU makes of subnormal inputs.
    of_xla          dtypes for which XLA alone has a kernel, with the budget of the output.
    float64_error   the largest relative error of the functions' `float64`, at which a sweep may still use them.
    lost            where TensorFlow's formula loses the digits of the gradient or of the output.
    second_order    what the op promises of its second derivative; None if that is not checked. `ExactCurve` where its
                    formula is known.
    analytic        what the op promises of complex numbers; None if that is not checked.
    tier            the tier of the main spec.
    """

    dtypes: tuple[str, ...] = FLOATS
    f: Wide
    df: Wide
    domain: tuple[float, float] = (-4.0, 4.0)
    ulp: Mapping[str, Budget]
    bound: Mapping[str, Bound | ByMode] = field(default_factory=dict)
    aside: Mapping[str, Region] = field(default_factory=dict)
    avoided: Region | None = None
    recipes: Mapping[str, Recipe] = field(default_factory=dict)
    contract: Callable[[Differentiable], Mapping[str, Side]] = lambda function: {}
    unsigned_zeros: bool = False
    subnormals: Subnormals = FLUSHED
    of_xla: Mapping[str, float] = field(default_factory=dict)
    float64_error: float = 2.0**-42
    lost: tuple[Lost, ...] = ()
    second_order: SecondOrder | ExactCurve | None = None
    analytic: Analytic | None = None
    tier: str = "default"

    def __post_init__(self) -> None:
        for name in ("f", "df"):
            if not isinstance(function := getattr(self, name), Wide):
                raise TypeError(f"{name}: expected Wide(function), got {function!r}")

    @property
    def function(self) -> Differentiable:
        """The function, its derivative and its domain."""
        return Differentiable(self.f, self.df, self.domain)

    def vjp(self, g: Any, x: Any) -> Any:
        """The gradient g f'(x)."""
        return g * self.df(x)

    def specs(self, op: Op) -> Iterator[Spec]:
        """The values and their twins; subnormals; dtypes that XLA alone has; complex numbers."""
        recipes, output = self._recipes(), self._allowed("output")
        values: dict[str, Any] = {"reference": self.f, "unsigned_zeros": ("output",) if self.unsigned_zeros else ()}
        yield from part(
            **values,
            **self._allowed("output", "grad"),
            vjp=self.vjp,
            recipes=recipes,
            dtypes=self.dtypes,
            alternatives=self._alternatives(self.f, self.vjp),
            upstreams=upstreams(),
            ceilings=ceilings.of_this_machine(op.name),
            loose={f"{lost.quantity}[0]": Loose(lost.where, lost.reason) for lost in self.lost},
            contract={pattern: self._with_alternatives(side) for pattern, side in self.contract(self.function).items()},
            tier=self.tier,
            sizes=True,
            every_input=True,
            twins=(
                self._second_order,
                lambda main: without_digits(main, self.function, self.lost),
                positions,
                lambda main: gradient_alone(main, ("edges", "plain")),
                short,
            ),
        )(op)
        for i, dtypes in enumerate(self.subnormals.groups()):
            yield from part(
                "-subnormal" + (f"-{dtypes[0]}" if i else ""),
                **values,
                **output,
                recipes={"subnormals": subnormals},
                dtypes=dtypes,
                contract=self.subnormals.contract(self.f, dtypes),
                twins=(positions,),
            )(op)
        if self.of_xla:  # subnormal numbers and gradients are not promised
            yield from of_xla(
                tuple(self.of_xla),
                reference=self.f,
                **output | {"ulp": {"output": self.of_xla}},
                recipes={name: recipes[name] for name in ("edges", "plain", "domain", *self.aside)},
                alternatives={"output[0]": outputs(self.f, ROUNDED)},
            )(op)
        if self.analytic:
            yield from self.analytic.specs(op)

    def _allowed(self, *families: str) -> dict[str, Any]:
        """The budgets and bounds of some families of quantities, as fields of a spec."""
        bounds = {family: self.bound[family] for family in families if family in self.bound}
        return {
            "ulp": {family: by_dtype(self.ulp[family], self.dtypes) for family in families if family in self.ulp},
            "bound": {f"{family}[0]": mapped(self._bound(family), bound) for family, bound in bounds.items()},
        }

    def _bound(self, quantity: str) -> Callable[[Bound], Callable[..., Any]]:
        """A function from a bound of the declaration to that of a spec, for a quantity."""
        return lambda bound: bound(self.function, quantity)

    def _second_order(self, main: Spec) -> Iterable[Spec]:
        """The twins that promise forward mode and second order."""
        if isinstance(self.second_order, ExactCurve):
            return [exact_curve(main, self.function, self.second_order, self._set_aside)]
        return second_orders(main, self.function, self.second_order) if self.second_order else ()

    def sound(self, recipe: Recipe) -> Recipe:
        """The recipe with other numbers in the place of those that other recipes have, each judged by itself."""
        return without(recipe, self._unsound, (1, *self.domain))

    def _recipes(self) -> dict[str, Recipe]:
        """A recipe for each region that is set aside, and common recipes without those."""
        common = {"edges": edges, "bits": bit_patterns, "plain": plain, "domain": domain(*self.domain)}
        sound = {label: self.sound(recipe) for label, recipe in common.items()}
        apart = {label: only(common.values(), region, self._incomparable) for label, region in self.aside.items()}
        return {**sound, **apart, **self._hard_recipes(), **self.recipes}

    def _hard_recipes(self) -> dict[str, Recipe]:
        """Recipes whose promise has several values: subnormal and huge numbers, singular points, special upstreams."""
        limits = (*self.domain, *self.f.at, *self.df.at)
        spare = (1, *self.domain)
        inputs = crossed(domain(*self.domain))
        apart = {
            "aside_underflowing": underflowing(self.function, self._not_aside),
            "aside_overflowing": overflowing(self.function, self._not_aside),
        }
        return {
            "underflowing": underflowing(self.function, self._set_aside),
            "overflowing": overflowing(self.function, self._set_aside),
            **(apart if self.aside else {}),
            "singular": singular(limits, self._set_aside),
            **{name: without(recipe, self._set_aside, spare) for name, recipe in inputs.items()},
        }

    def _alternatives(self, f: Callable[..., Any], vjp: Callable[..., Any]) -> Mapping[str, Callable[..., Any]]:
        """The values that are right as well, by quantity."""
        errors = [bound(self.function, "grad") for bound in all_modes(self.bound.get("grad")) if bound]

        def derivative(x: np.ndarray) -> Any:
            return vjp(np.ones_like(x), x)

        def vjp_of(d: Callable[..., Any]) -> Callable[..., Any]:
            return vjp if d is derivative else lambda g, x: g * d(x)

        gradients = gradient_within(vjp_of, derivative, ROUNDED, errors)
        return {"output[0]": outputs(f, ROUNDED), "grad[0]": gradients}

    def _with_alternatives(self, side: Side) -> Side:
        """A side of the contract, with alternatives of its own."""
        return replace(side, alternatives=self._alternatives(side.reference, side.vjp or self.vjp))

    def _avoided(self, dtype: np.dtype, x: np.ndarray) -> Any:
        return within(self.avoided, dtype, x) if self.avoided else np.zeros(x.shape, bool)

    def _not_aside(self, dtype: np.dtype, x: np.ndarray) -> Any:
        """Where the input is in no region that is set aside, or in one that no recipe enters."""
        return ~self._set_aside(dtype, x) | self._avoided(dtype, x)

    def _set_aside(self, dtype: np.dtype, x: np.ndarray) -> Any:
        """Where no recipe, or a recipe of its own, has the input."""
        regions = (within(region, dtype, x) for region in self.aside.values())
        return np.any([self._avoided(dtype, x), *regions], axis=0)

    def _incomparable(self, dtype: np.dtype, x: np.ndarray) -> Any:
        return incomparable(self.function, dtype, x)

    def _unsound(self, dtype: np.dtype, x: np.ndarray) -> Any:
        """Where a comparison can't be strict, or another recipe, or none, has the input."""
        return self._incomparable(dtype, x) | self._set_aside(dtype, x)


def declarations(specs: Iterable[Spec]) -> Iterator[tuple[Spec, Unary]]:
    """The specs of values of unary ops, each with its declaration, whose VJP is that of the spec."""
    for spec in specs:
        declaration = getattr(spec.derivatives.vjp, "__self__", None)
        if isinstance(declaration, Unary) and spec.aspect == ELEMENTWISE:
            yield spec, declaration
