"""Contraction: the specs of ops that multiply and sum up, in programs of several calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.forms.aspects import batches, refused, second_order
from tf_opdiff.suites.forms.calls import Calls, OfAll, Wrong
from tf_opdiff.suites.forms.elements import Elements, large, nonzero_integers, plain, special, wrap_around
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import Part, part, separated, tiered
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
class Contraction:
    """What a contraction has in addition to the fields of an `Op`, or with other defaults.

    wrong_tier      the tier of the calls that it refuses: an error that ends the process costs a second.
    recipes         recipes of the op's own; one takes the place of the usual one of its name.
    second          second(*inputs) → the results of all calls by another method, in float32; None if there is none.
    complex_dtypes  the dtypes of complex numbers.
    floats          the dtypes of floats; float32 is one of them.
    integers        the dtypes of integers; none if the op refuses them.
    gradient        whether TensorFlow has a gradient of it.
    batch           calls in batches.
    shared          the numbers of the inputs of these calls that all rows share.
    batch_tier      the tier of these calls in eager mode.
    """

    wrong_tier: str = "default"
    recipes: Mapping[str, Recipe] = field(default_factory=dict)
    second: Callable[..., Any] | None = None
    complex_dtypes: tuple[str, ...] = ()
    floats: tuple[str, ...] = FLOATS
    integers: tuple[str, ...] = ()
    gradient: bool = True
    batch: Calls = field(default_factory=dict)
    shared: tuple[int, ...] = ()
    batch_tier: str = "full"


def contraction(
    name: str, raw: str, calls: Calls, small: Mapping[str, Calls], *parts: Part, wrong: Mapping[str, Wrong], **more: Any
) -> tuple[Spec, ...]:
    """The specs of an op that contracts tensors: see `suites.forms.part.Op`. The default tier has float32 and int32.

    Args:
      name, raw, calls, small, parts, wrong: as of an `Op`.
      more: the fields of `Contraction`, and the other fields of an `Op`.
    """
    of, declared = separated(Contraction, more)
    both = {**OF_FLOATS, **{label: OfAll(recipe) for label, recipe in of.recipes.items()}}
    rest = tuple(dtype for dtype in of.floats if dtype != "float32")
    sent = {"upstreams": upstreams} if of.gradient else {}
    return op(
        name,
        raw,
        part(recipes=both, upstreams=sent, second=of.second),
        part("-other", recipes=both, upstreams=sent, dtypes=rest, tier="full"),
        *([second_order({"plain": plain}, dtypes=tiered(of.floats), tier="full")] if of.gradient else []),
        *([part("-complex", recipes=OF_COMPLEX, dtypes=of.complex_dtypes, tier="full")] if of.complex_dtypes else []),
        batches(of.batch, plain, of.shared, tier=of.batch_tier),
        refused(wrong, tier=of.wrong_tier),
        *parts,
        calls=calls,
        small=small,
        integers=tiered(of.integers),
        of_integers=OF_INTEGERS,
        of_small=(nonzero_integers,),
        gradient=of.gradient,
        **declared,
    )
