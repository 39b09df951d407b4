"""Gradient alone: the gradients of a spec, fetched without its outputs.

A graph without the forward op is another graph: TensorFlow removes ops that no result needs, and what remains meets
other rewrites. Eager mode has no graph, so it is left out.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from tf_opdiff.harness.spec.spec import Spec


def gradient_alone(spec: Spec, recipes: Collection[str] = ()) -> tuple[Spec, ...]:
    """The twins of a spec that fetch gradients only: `NAME-gradient-alone`, and `-other` in the full tier.

    float32 stands for the other dtypes in the default tier, because every program has to be built.

    Args:
      spec: a spec with a vjp, without state, jvp and hvp.
      recipes: the names of the recipes that the twins keep; all by default.

    Returns:
      One spec for float32, or for the first dtype if the spec has no float32, and one for all other dtypes.
    """
    first = "float32" if "float32" in spec.dtypes else spec.dtypes[0]
    kept = {name: recipe for name, recipe in spec.recipes.items() if not recipes or name in recipes}
    twin = replace(
        spec,
        name=f"{spec.name}-gradient-alone",
        only_gradients=True,
        modes=tuple(mode for mode in spec.modes if mode != "eager"),
        dtypes=(first,),
        recipes=kept,
        upstreams={name: upstream for name, upstream in spec.upstreams.items() if name in kept},
        sweep=False,
        tier="default",
    )
    others = tuple(dtype for dtype in spec.dtypes if dtype != first)
    return (twin, replace(twin, name=f"{twin.name}-other", dtypes=others, tier="full")) if others else (twin,)
