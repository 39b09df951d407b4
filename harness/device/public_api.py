"""Public API: the functions of TensorFlow that compute, and the classes of Keras. Imported in device servers only.

As a program, it prints their names, one a line: `python -m tf_opdiff.harness.device.public_api`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from operator import attrgetter

import tensorflow as tf

#: The modules whose functions are listed, and those whose classes are.
FUNCTIONS = ("experimental.numpy", "image", "linalg", "math", "nn", "ragged", "sets", "signal", "sparse")
CLASSES = ("keras.layers", "keras.losses", "keras.metrics", "keras.optimizers")


def names() -> Iterator[str]:
    """The paths of all functions and classes, in order; an object with two names in one module has its first name."""
    for module in (*FUNCTIONS, *CLASSES):
        own, seen = attrgetter(module)(tf), set()
        for name in sorted(dir(own)):
            value = getattr(own, name)
            wanted = inspect.isclass(value) if module in CLASSES else callable(value) and not inspect.isclass(value)
            if wanted and not name.startswith("_") and id(value) not in seen:
                seen.add(id(value))
                yield f"{module}.{name}"


if __name__ == "__main__":
    print("\n".join(names()))
