"""Called: the specs of an op that one program calls several times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.forms.elements import Elements, small_integers
from tf_opdiff.suites.forms.several_calls import Calls, Wrong, batch_twins, drawn, fields, refusals, small_twins
from tf_opdiff.suites.forms.special_upstreams import every_kind


@dataclass(frozen=True, kw_only=True)
class Called:
    """The declaration of an op that one program calls several times. The default tier has float32.

    name        the name with which those of its specs begin.
    op          the OpDef.
    calls       label → a call.
    recipes     label → the elements of each drawn input; those of the last one serve all further inputs. A recipe
                `upstreams` also has special upstreams.
    forward     the recipes at which gradients have no promise.
    small       label → calls with inputs without elements, or with one; all labels have the same calls.
    of_small    the elements of each of their inputs; those of the last one serve all further inputs.
    sent        the special upstreams.
    wrong       label → a call that the op refuses.
    rest        the dtypes of the full tier.
    whole       the integer dtypes, which have no gradients; int32 is in the default tier, the others are not.
    of_whole    the recipes of integers.
    batch       label → a call whose inputs and result have a batch as their first axis.
    shared      the numbers of the inputs of these calls that all rows share.
    gradient    whether the op has a gradient.
    second      the labels of the recipes of second order; none if TensorFlow has none.
    fields      further fields of all specs, such as `modes`.
    """

    name: str
    op: str
    calls: Calls
    recipes: Mapping[str, Sequence[Elements]]
    forward: Mapping[str, Sequence[Elements]] = field(default_factory=dict)
    small: Mapping[str, Calls] = field(default_factory=dict)
    of_small: Sequence[Elements] = (small_integers,)
    sent: Elements = every_kind
    wrong: Mapping[str, Wrong] = field(default_factory=dict)
    rest: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    of_whole: Mapping[str, Sequence[Elements]] = field(default_factory=dict)
    batch: Calls = field(default_factory=dict)
    shared: tuple[int, ...] = ()
    gradient: bool = True
    second: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)

    def specs(self) -> tuple[Spec, ...]:
        """All specs of the op."""
        shared = {"ops": self.op, **self.fields}
        rest = {**shared, "tier": "full"}
        return (
            *self._of_floats(),
            *self._of_integers(),
            *small_twins(self.name, self.small, self._small_recipe, shared, gradient=self.gradient),
            *batch_twins(self.name, self.batch, self._rows, self.shared, gradient=self.gradient, **rest),
            *refusals(self.name, self.wrong, shared),
        )

    def _spec(self, suffix: str, recipes: Mapping[str, Sequence[Elements]], **fields: Any) -> Spec:
        return Spec(
            name=f"{self.name}{suffix}",
            recipes={label: drawn(self.calls, *elements) for label, elements in recipes.items()},
            **{"ops": self.op, **fields, **self.fields},
        )

    def _of_floats(self) -> Iterator[Spec]:
        """The specs of floats: with gradients, without, and with second order; each with its twin of other dtypes."""
        special = {"upstreams": self.sent} if self.gradient and "upstreams" in self.recipes else {}
        yield from self._both(
            self._spec("", self.recipes, upstreams=special, **fields(self.calls, gradient=self.gradient))
        )
        if self.forward:
            yield from self._both(self._spec("-forward", self.forward, **fields(self.calls, gradient=False)))
        if self.second:
            recipes = {label: self.recipes[label] for label in self.second}
            yield from self._both(self._spec("-second-order", recipes, tier="full", **fields(self.calls, second=True)))

    @property
    def _rows(self) -> Recipe:
        """The recipe of batches, with the elements of the first recipe."""
        return drawn(self.batch, *next(iter(self.recipes.values()), ()))

    def _small_recipe(self, calls: Calls) -> Recipe:
        return drawn(calls, *self.of_small)

    def _both(self, spec: Spec) -> Iterator[Spec]:
        """The spec, and its twin in the other dtypes."""
        yield spec
        if self.rest:
            yield replace(spec, name=f"{spec.name}-other", dtypes=self.rest, tier="full")

    def _of_integers(self) -> Iterator[Spec]:
        exact = fields(self.calls, gradient=False, rounded=())
        for suffix, tier in (("", "default"), ("-other", "full")):
            dtypes = tuple(dtype for dtype in self.whole if (dtype == "int32") == (tier == "default"))
            if dtypes:
                yield self._spec(f"-integer{suffix}", self.of_whole, dtypes=dtypes, tier=tier, **exact)


def called(name: str, op: str, **settings: Any) -> tuple[Spec, ...]:
    """The specs of an op with these settings: see `Called`."""
    return Called(name=name, op=op, **settings).specs()
