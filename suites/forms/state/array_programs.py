"""Array programs: chains of raw ops on an array of tensors. A handle of an array is no output.

The ops have three versions. Those of version 3 run in every mode. TensorFlow removed the others from GraphDef; they run
in a v1 graph into which a program of an older GraphDef is imported, as an old SavedModel would be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.suites.forms.programs.removed import make_older


@dataclass(frozen=True, kw_only=True)
class Version:
    """A version of the ops.

    suffix      the end of the names of its ops.
    name        the beginning of the names of its specs.
    producer    the last GraphDef version that has the ops; 0 if they were not removed.
    modes       the modes that run them.
    """

    suffix: str
    name: str
    producer: int = 0
    modes: tuple[str, ...] = ("graph",)

    def op(self, name: str) -> str:
        """The OpDef with this name in this version."""
        return f"TensorArray{name}{self.suffix}"

    def program(self, steps: Steps) -> Callable[..., Any]:
        """As of a spec: the steps, for elements of the dtype of the first input.

        The graph becomes one of an older GraphDef if the ops were removed.
        """

        def program(tf: Any, x: Any, *others: Any) -> Any:
            if self.producer:
                make_older(tf, self.producer)
            return steps(Array(tf, self, x.dtype), x, *others)

        return program


V1 = Version(suffix="", name="tensor-array-v1", producer=15)
V2 = Version(suffix="V2", name="tensor-array-v2", producer=25)
V3 = Version(suffix="V3", name="tensor-array-v3", modes=MODES)


#: Methods that change an array: name → the op, and its further arguments.
_ARRAYS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "write": ("Write", ("index", "value")),
    "scatter": ("Scatter", ("indices", "value")),
    "split": ("Split", ("value", "lengths")),
    "unpack": ("Unpack", ("value",)),
}
#: Methods that read elements.
_TENSORS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "read": ("Read", ("index",)),
    "gather": ("Gather", ("indices",)),
    "pack": ("Pack", ()),
    "concat": ("Concat", ()),
}


@dataclass(frozen=True)
class Array:
    """An array of tensors, or none yet: the raw ops of a version, for elements of a dtype.

    The flow orders the ops on the array. Its methods are also those of two tables, in `array_programs`, and `size`.
    """

    tf: Any
    version: Version
    dtype: Any
    handle: Any = None
    flow: Any = None

    def call(self, name: str, **arguments: Any) -> Any:
        """The result of an op."""
        return getattr(self.tf.raw_ops, self.version.op(name))(**arguments)

    def at(self, handle: Any, flow: Any) -> Array:
        """The array behind a handle, after a flow."""
        return replace(self, handle=handle, flow=flow)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in _ARRAYS:
            return lambda *arguments: replace(self, flow=self._call(*_ARRAYS[name], arguments))
        if name in _TENSORS:
            return lambda *arguments: self._call(*_TENSORS[name], arguments, dtype=self.dtype)
        if name == "size":
            return lambda: self._call("Size", (), ())
        raise AttributeError(name)

    def _call(self, name: str, names: tuple[str, ...], arguments: tuple[Any, ...], **more: Any) -> Any:
        given = dict(zip(names, arguments, strict=True))
        return self.call(name, handle=self.handle, flow_in=self.flow, **given, **more)

    def new(self, size: Any, **flags: Any) -> Array:
        """An array of elements that were not written."""
        made = self.call("", size=size, dtype=self.dtype, **flags)
        return self.at(*(made if self.version.suffix == "V3" else (made, self.tf.constant(0.0))))

    def of_rows(self, x: Any) -> Array:
        """An array of the rows of a tensor."""
        count = self.tf.shape(x)[0]
        return self.new(count).scatter(self.tf.range(count), x)

    def gradient(self) -> Array:
        """The array of gradients of an array, in which writes add up."""
        made = self._call("Grad", (), (), source="gradients")
        return self.at(*(made if self.version.suffix == "V3" else (made, self.flow)))

    def closed(self, *after: Any) -> Array:
        """The array after it was closed, once some tensors are computed."""
        with self.tf.control_dependencies([*after, self.flow]):
            closed = self.call("Close", handle=self.handle)
        with self.tf.control_dependencies([] if closed is None else [closed]):
            return replace(self, flow=self.tf.identity(self.flow))


#: steps(no array yet, *inputs) → the outputs.
Steps = Callable[..., Any]
