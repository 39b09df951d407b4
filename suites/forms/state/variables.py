"""Variables: programs that change variables, whose first values are the first inputs.

Resource variables are in every mode. Reference variables are in v1 graphs, whose sessions hold them, and in functions
that make the variables themselves. The eager runtime refuses every op on a reference, and XLA has no kernel for the
variable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tf_opdiff.harness.spec.plan import without_modes
from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.programs.control_flow import in_function_of_v1

_WHY = "reference variables are of graphs: eager tensors have no reference, and XLA has no kernel for their variables"
_LINK = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/framework/python_op_gen.cc"
#: first(*inputs) → the first value of each variable, by name.
First = Callable[..., Mapping[str, Any]]
#: The promises of a program that makes reference variables, in the modes that refuse it.
REFUSED: Mapping[str, Side] = {
    "*/eager": Side(reference=raises("RuntimeError", "does not support eager execution"), why=_WHY, link=_LINK),
    "*/xla": Side(reference=raises("INVALID_ARGUMENT", "No registered"), why=_WHY, link=_LINK),
}


def first_input(x: Any, *others: Any) -> dict[str, Any]:
    """The first value of a variable `v`: the first input."""
    return {"v": x}


@dataclass(frozen=True, kw_only=True)
class Variables:
    """The variables that an op changes.

    resource    whether they are resource variables; else reference variables.
    first       first(*inputs) → the first value of each variable, by name.
    """

    resource: bool
    first: First = first_input

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a spec that has these variables."""
        make = (lambda tf, x: tf.Variable(x)) if self.resource else _reference_variable
        first = self.first
        state = lambda tf, *xs: {name: make(tf, x) for name, x in first(*xs).items()}  # noqa: E731
        return {"state": state} | ({} if self.resource else {"modes": ("graph",)})

    def twins(self, spec: Spec) -> tuple[Spec, ...]:
        """The twin of a spec of reference variables in functions."""
        return () if self.resource else in_functions(spec, self.first)

    def updated(self, tf: Any, v: Any, call: Callable[[Any], Any]) -> Any:
        """The value of a variable after call(its handle, or the reference)."""
        return read_after(tf, call(v.handle), v)[0] if self.resource else tf.raw_ops.DeepCopy(x=call(v))

    def changing(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """A program that calls an op with the variable `v` in place of the first input, and returns its value."""

        def program(tf: Any, state: Any, x: Any, *others: Any, **attrs: Any) -> Any:
            return self.updated(tf, state["v"], lambda v: call(tf, v, *others, **attrs))

        return program


RESOURCE = Variables(resource=True)
REFERENCE = Variables(resource=False)


def final(new: Callable[..., Any]) -> Callable[..., Any]:
    """The reference of an op whose output is the new value of its variable `v`."""

    def reference(*xs: Any) -> Any:
        value = new(*xs)
        return value, {"v": value}

    return reference


def _reference_variable(tf: Any, x: Any) -> Any:
    return tf.compat.v1.Variable(x, use_resource=False)


def like(name: str, x: Any) -> dict[str, Any]:
    """The attributes of a reference variable for a tensor; no variable of another dtype or shape shares its name.

    A variable outlives the function that made it.
    """
    shared = "_".join((name, x.dtype.name, *map(str, x.shape)))
    return {"shape": x.shape, "dtype": x.dtype, "shared_name": shared}


def read_after(tf: Any, update: Any, *variables: Any) -> tuple[Any, ...]:
    """The values of variables after an update; a copy of the value behind a reference."""
    with tf.control_dependencies([] if update is None else [update]):
        return tuple(v.read_value() if hasattr(v, "read_value") else tf.raw_ops.DeepCopy(x=v) for v in variables)


def in_functions(spec: Spec, first: First = first_input) -> tuple[Spec]:
    """The twin of a spec of reference variables: its program makes the variables, in a function.

    The final values of the variables are no quantities of the twin; the program has to return them.
    """
    program, reference = spec.program, spec.reference

    def inside(tf: Any, *inputs: Any, **attrs: Any) -> Any:
        raw = tf.raw_ops
        state = {name: raw.Assign(ref=raw.VariableV2(**like(name, x)), value=x) for name, x in first(*inputs).items()}
        return program(tf, state, *inputs, **attrs)

    def outputs(*inputs: Any, **attrs: Any) -> Any:
        *values, last = reference(*inputs, **attrs)
        return (*values, *(() if isinstance(last, dict) else (last,)))

    twin = spec.but(
        name=f"{spec.name}-in-functions",
        ops=f"VariableV2;Assign;{spec.ops}",
        program=in_function_of_v1(inside),
        reference=outputs,
        state=None,
        modes=without_modes("graph"),
        contract=REFUSED,
        vjp=None,
    )
    return (twin,)
