"""Gradient alone: the gradients of a spec, fetched without its outputs.

A graph without the forward op is another graph: TensorFlow removes ops that no result needs, and what remains meets
other rewrites. Eager mode has no graph, so it is left out.
"""

from __future__ import annotations

from collections.abc import Collection

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.twin import in_tiers, twin


def gradient_alone(spec: Spec, recipes: Collection[str] = ()) -> tuple[Spec, ...]:
    """The twins of a spec that fetch gradients only: `NAME-gradient-alone`, and `-other` in the full tier.

    Args:
      spec: a spec with a vjp, without state, jvp and hvp.
      recipes: the names of the recipes that the twins keep; all by default.

    Returns:
      One spec for float32, or for the first dtype if the spec has no float32, and one for all other dtypes.
    """
    first = "float32" if "float32" in spec.dtypes else spec.dtypes[0]
    kept = {name: recipe for name, recipe in spec.recipes.items() if not recipes or name in recipes}
    alone = twin(
        spec,
        "gradient-alone",
        only_gradients=True,
        modes=tuple(mode for mode in spec.modes if mode != "eager"),
        recipes=kept,
        upstreams={name: upstream for name, upstream in spec.derivatives.upstreams.items() if name in kept},
    )
    return in_tiers(alone, first)
