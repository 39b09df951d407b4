"""Unknown shape: a spec whose functions and graphs are built for unknown sizes of all dimensions.

TensorFlow infers less, and other kernels and rewrites apply. Eager mode knows every shape, so it is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.twin import representative, twin


def unknown_shape(spec: Spec, recipes: Mapping[str, Recipe]) -> Spec:
    """The twin of a spec that is built for unknown sizes: `NAME-unknown-shape`, in the full tier.

    Args:
      spec: the spec; one of its dtypes stands for the others.
      recipes: the recipes of the twin. One program serves all shapes of a rank; XLA compiles each shape.
    """
    return twin(
        spec,
        "unknown-shape",
        unknown_shapes=True,
        tier="full",
        modes=tuple(mode for mode in spec.modes if mode != "eager"),
        dtypes=(representative(spec.dtypes),),
        recipes=recipes,
        upstreams={},
    )


def sized(part: Callable[[Any], Iterable[Spec]]) -> Callable[[Any], Iterator[Spec]]:
    """A part whose recipes have no element, or one, and its twins for unknown sizes."""

    def specs(op: Any) -> Iterator[Spec]:
        for spec in part(op):
            yield from (spec.but(aspect="sizes"), unknown_shape(spec, spec.recipes))

    return specs
