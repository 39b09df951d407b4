"""References: programs on reference variables, in v1 graphs, whose sessions hold them, and in functions.

A function that makes its reference variables itself runs them. The eager runtime refuses every op on a reference, and
XLA has no kernel for the variable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tf_opdiff.harness.spec.plan import without_modes
from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.forms.control_flow import in_function_of_v1
from tf_opdiff.suites.forms.errors import raises

_WHY = "reference variables are of graphs: eager tensors have no reference, and XLA has no kernel for their variables"
_LINK = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/framework/python_op_gen.cc"
#: first(*inputs) → the first value of each reference variable, by name.
First = Callable[..., Mapping[str, Any]]
#: The promises of a program that makes reference variables, in the modes that refuse it.
REFUSED: Mapping[str, Side] = {
    "*/eager": Side(reference=raises("RuntimeError", "does not support eager execution"), why=_WHY, link=_LINK),
    "*/xla": Side(reference=raises("INVALID_ARGUMENT", "No registered"), why=_WHY, link=_LINK),
}


def variables(first: First) -> Callable[..., dict[str, Any]]:
    """As the `state` of a spec: reference variables of a v1 graph."""
    return lambda tf, *inputs: {
        name: tf.compat.v1.Variable(x, use_resource=False) for name, x in first(*inputs).items()
    }


def like(name: str, x: Any) -> dict[str, Any]:
    """The attributes of a reference variable for a tensor; no variable of another dtype or shape shares its name.

    A variable outlives the function that made it.
    """
    shared = "_".join((name, x.dtype.name, *map(str, x.shape)))
    return {"shape": x.shape, "dtype": x.dtype, "shared_name": shared}


def read(tf: Any, variable: Any) -> Any:
    """The value of a variable, or a copy of the value behind a reference, once all control inputs have run."""
    return variable.read_value() if hasattr(variable, "read_value") else tf.raw_ops.DeepCopy(x=variable)


def first_input(x: Any, *others: Any) -> dict[str, Any]:
    """The first value of a variable `v`: the first input."""
    return {"v": x}


def in_functions(spec: Spec, first: First = first_input) -> tuple[Spec]:
    """The twin of a spec whose state is `variables(first)`: its program makes the variables, in a function.

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

    twin = replace(
        spec,
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
