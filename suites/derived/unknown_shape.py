"""Unknown shape: a spec whose functions and graphs are built for unknown sizes of all dimensions.

TensorFlow infers less, and other kernels and rewrites apply. Eager mode knows every shape, so it is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tf_opdiff.harness.spec.spec import Recipe, Spec


def unknown_shape(spec: Spec, recipes: Mapping[str, Recipe]) -> Spec:
    """The twin of a spec that is built for unknown sizes: `NAME-unknown-shape`.

    Args:
      spec: the spec; float32 stands for its other dtypes, or its first dtype if it has no float32.
      recipes: the recipes of the twin. One program serves all shapes of a rank; XLA compiles each shape.
    """
    return replace(
        spec,
        name=f"{spec.name}-unknown-shape",
        unknown_shapes=True,
        modes=tuple(mode for mode in spec.modes if mode != "eager"),
        dtypes=("float32" if "float32" in spec.dtypes else spec.dtypes[0],),
        recipes=recipes,
        upstreams={},
        sweep=False,
        tier="default",
    )
