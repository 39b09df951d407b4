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


def lines() -> Iterator[str]:
    """The paths of all functions and classes, in order; `PATH = FIRST` for a further name in another module.

    An object with two names in one module has its first one only.
    """
    firsts: dict[int, str] = {}
    for module in (*FUNCTIONS, *CLASSES):
        own, seen = attrgetter(module)(tf), set()
        for name in sorted(dir(own)):
            value = getattr(own, name)
            wanted = inspect.isclass(value) if module in CLASSES else callable(value) and not inspect.isclass(value)
            if wanted and not name.startswith("_") and id(value) not in seen:
                seen.add(id(value))
                path = f"{module}.{name}"
                first = firsts.setdefault(id(value), path)
                yield path if path == first else f"{path} = {first}"


if __name__ == "__main__":
    print("\n".join(lines()))
