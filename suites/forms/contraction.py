"""Contraction: the specs of ops that multiply and sum up, in programs of several calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.forms.elements import Elements, large, nonzero_integers, plain, special, wrap_around
from tf_opdiff.suites.forms.several_calls import Calls, Wrong, batch_twins, drawn, fields, refusals, small_twins
from tf_opdiff.suites.forms.special_upstreams import in_turn

#: Recipes by name.
OF_FLOATS: Mapping[str, Elements] = {
    "plain": plain,
    "exact": nonzero_integers,
    "large": large,
    "special": special,
    "upstreams": nonzero_integers,
}
OF_COMPLEX: Mapping[str, Elements] = {"plain": plain, "exact": nonzero_integers}
OF_INTEGERS: Mapping[str, Elements] = {"plain": plain, "bits": wrap_around}


#: Values in turn: by their places, no row and no column has both a zero and an infinity.
upstreams = in_turn(lambda dtype: np.array((0.0, -0.0, 1.0, -2.0)).astype(dtype))


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Calls and dtypes that an op that contracts tensors takes or refuses.

    wrong           label → a call that the op refuses.
    wrong_tier      the tier of these calls: an error that ends the process costs a second.
    floats          the dtypes of floats; float32 is one of them.
    complex_dtypes  the dtypes of complex numbers.
    integers        the dtypes of integers; int32 is one of them. None if the op refuses integers.
    gradient        whether TensorFlow has a gradient of the op.
    second          second(*inputs) → the results of all calls by another method; None if there is none.
    recipes         recipes of the op's own; one takes the place of the usual one of its name.
    batch           label → a call whose inputs and result have a batch as their first axis.
    shared          the numbers of the inputs of these calls that all rows share.
    batch_tier      the tier of these calls in eager mode.
    """

    wrong: Mapping[str, Wrong]
    wrong_tier: str = "default"
    floats: tuple[str, ...] = FLOATS
    complex_dtypes: tuple[str, ...] = ()
    integers: tuple[str, ...] = ()
    gradient: bool = True
    second: Callable[..., Any] | None = None
    recipes: Mapping[str, Recipe] = field(default_factory=dict)
    batch: Calls = field(default_factory=dict)
    shared: tuple[int, ...] = ()
    batch_tier: str = "full"


def contraction(name: str, op: str, calls: Calls, small: Mapping[str, Calls], **limits: Any) -> tuple[Spec, ...]:
    """The specs of an op that contracts tensors. The default tier has float32 and int32, the full tier the others
    and second order.

    Args:
      name: the name with which theirs begin.
      op: the OpDef.
      calls: label → a call.
      small: label → calls of one kind, with inputs without elements or with one; all labels have the same calls.
      limits: the fields of `Limits`.
    """
    own = Limits(**limits)
    shared: dict[str, Any] = {"ops": op}
    gradient = own.gradient
    recipes = {label: drawn(calls, elements) for label, elements in OF_FLOATS.items()} | {**own.recipes}
    sent = {"upstreams": upstreams} if gradient else {}
    main = Spec(
        name=name, recipes=recipes, upstreams=sent, second=own.second, **fields(calls, gradient=gradient), **shared
    )
    rest = tuple(dtype for dtype in own.floats if dtype != "float32")
    specs = [main, replace(main, name=f"{name}-other", dtypes=rest, second=None, tier="full")]
    if gradient:
        plain_alone, both = {"plain": drawn(calls, plain)}, fields(calls, second=True)
        second = Spec(name=f"{name}-second-order", recipes=plain_alone, tier="full", **both, **shared)
        specs += [second, replace(second, name=f"{name}-second-order-other", dtypes=rest)]
    if own.complex_dtypes:
        recipes = {label: drawn(calls, elements) for label, elements in OF_COMPLEX.items()}
        one = replace(main, name=f"{name}-complex", recipes=recipes, upstreams={}, second=None, tier="full")
        specs.append(replace(one, dtypes=own.complex_dtypes))
    if own.integers:
        specs += _of_integers(name, calls, own.integers, shared)
    specs += small_twins(name, small, lambda calls: drawn(calls, nonzero_integers), shared, gradient=gradient)
    rows = drawn(own.batch, plain)
    specs += batch_twins(name, own.batch, rows, own.shared, gradient=gradient, tier=own.batch_tier, **shared)
    return (*specs, *refusals(name, own.wrong, {**shared, "tier": own.wrong_tier}))


def _of_integers(name: str, calls: Calls, dtypes: tuple[str, ...], shared: Any) -> Iterator[Spec]:
    """The spec of int32, and that of other integers in the full tier."""
    recipes = {label: drawn(calls, elements) for label, elements in OF_INTEGERS.items()}
    whole = fields(calls, gradient=False, rounded=()) | shared
    one = Spec(name=f"{name}-integer", recipes=recipes, dtypes=("int32",), **whole)
    yield one
    if others := tuple(dtype for dtype in dtypes if dtype != "int32"):
        yield replace(one, name=f"{name}-integer-other", dtypes=others, tier="full")
