"""Pickled: functions of users in files, loaded where they run, and specs that are made of such functions."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tf_opdiff.harness.spec.spec import Spec

#: The end of a file's name that holds specs; such a path stands in place of a module's name.
SUFFIX = ".specs"


@dataclass(frozen=True)
class PickledFunction:
    """A function in a file, such as a reference; it is loaded at the first call."""

    path: str

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return loaded(self.path)(*arguments, **keywords)


@dataclass(frozen=True)
class PickledProgram:
    """A callable of tensors in a file, as the program of a spec."""

    path: str

    def __call__(self, tf: Any, *inputs: Any) -> Any:
        with tf.init_scope():  # variables that the callable holds are made outside of functions
            function = loaded(self.path)
        return function(*inputs)


@lru_cache(maxsize=32)
def loaded(path: str) -> Callable[..., Any]:
    """The function in a file."""
    function: Callable[..., Any] = pickle.loads(Path(path).read_bytes())
    return function


def write_specs(path: Path, specs: Iterable[Spec]) -> None:
    """Writes specs, which `read_specs` reads in any process."""
    path.write_bytes(pickle.dumps(tuple(specs)))


@lru_cache(maxsize=32)
def read_specs(path: str) -> tuple[Spec, ...]:
    """The specs in a file."""
    specs: tuple[Spec, ...] = pickle.loads(Path(path).read_bytes())
    return specs
