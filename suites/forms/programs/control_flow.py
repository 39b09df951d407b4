"""Control flow: one program with v2's functions (If, Case, While) and with v1's (Switch, Merge, Enter, Exit).

A program is program(tf, api, *inputs) and calls `api.cond`, `api.case`, `api.while_loop`, `api.map_fn`, …; `api` is
`tf`, or `tf.compat.v1` while v2 control flow is disabled. v1 control flow exists in v1 graphs alone: a `tf.function`
always has v2's.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import MODES, without_modes
from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.programs.branches import ROUNDED, either, taken

_API = "https://www.tensorflow.org/api_docs/python/tf/"
COND = f"{_API}cond"
WHILE = f"{_API}while_loop"
#: XLA: loops have a bound if they have a gradient, arrays have one size, and an assertion does nothing.
XLA = "https://www.tensorflow.org/xla/known_issues"
#: The modes that build a graph, in which TensorFlow traces every branch and the body of a loop.
GRAPHS = without_modes("eager")


def with_v2(program: Callable[..., Any]) -> Callable[..., Any]:
    """The program with v2's functions, on inputs or on a state and inputs."""
    return lambda tf, *inputs: program(tf, tf, *inputs)


def with_v1(program: Callable[..., Any]) -> Callable[..., Any]:
    """The program with v1's functions, and v2 control flow disabled."""

    def disabled(tf: Any, *inputs: Any) -> Any:
        tf.compat.v1.disable_control_flow_v2()
        try:
            return program(tf, tf.compat.v1, *inputs)
        finally:
            tf.compat.v1.enable_control_flow_v2()

    return disabled


def in_function_of_v1(program: Callable[..., Any]) -> Callable[..., Any]:
    """The program, in a function of v1 if TensorFlow traces a function.

    A tf.function adds control edges, and those into a frame of a loop are an error; a function of v1 adds none.
    """

    def wrapped(tf: Any, *inputs: Any, **attrs: Any) -> Any:
        if not tf.compat.v1.get_default_graph().building_function:
            return program(tf, *inputs, **attrs)
        signature = [tf.TensorSpec(x.shape, x.dtype) for x in inputs]
        return tf.compat.v1.wrap_function(lambda *xs: program(tf, *xs, **attrs), signature)(*inputs)

    return wrapped


def _in_whole_ulps(bound: Callable[..., Any]) -> Callable[..., Any]:
    """The bound, rounded down to a power of two: a bound of 2.7 ULPs may let an error of 3 pass."""
    return lambda *arguments: 2.0 ** np.floor(np.log2(bound(*arguments)))


def flows(
    name: str,
    program: Callable[..., Any],
    *,
    calls: str,
    ops: str,
    v1_ops: str = "Switch;Merge",
    v1: dict[str, Any] | None = None,
    **fields: Any,
) -> Iterator[Spec]:
    """Two specs of a program(tf, api, *inputs): `NAME` with v2's functions and `NAME-v1` with v1's.

    Args:
      name: the name of the spec with v2's functions.
      program: as in the module's docstring.
      calls: the function of the API that the program must call, such as `while_loop`.
      ops: the OpDefs of v2 control flow that a graph must contain, joined by `;`. An eager program has none of them.
      v1_ops: the OpDefs of v1 control flow that a graph must contain.
      v1: fields of the spec with v1's functions that differ.
      fields: the other fields of both specs.
    """
    in_graphs = dict.fromkeys(GRAPHS, ops)
    for each in (fields, v1 or {}):
        if "bound" in each:
            each["bound"] = {quantity: _in_whole_ulps(bound) for quantity, bound in each["bound"].items()}
    yield Spec(
        **{
            "name": name,
            "program": with_v2(program),
            "ops": in_graphs,
            "evidence": f"called:{calls}",
            "modes": MODES,
            **fields,
        }
    )
    contract = {p: side for p, side in fields.get("contract", {}).items() if p.endswith("/graph")}
    yield Spec(
        **{
            **fields,
            "name": f"{name}-v1",
            "program": with_v1(program),
            "ops": {"graph": v1_ops},
            "evidence": f"called:compat.v1.{calls}",
            "modes": ("graph",),
            "contract": contract,
            **(v1 or {}),
        }
    )


conds = partial(flows, calls="cond", ops="StatelessIf")
loops = partial(
    flows, calls="while_loop", ops="StatelessWhile", v1_ops="Enter;Exit;LoopCond;NextIteration;Merge;Switch"
)


def roundings(count: int) -> dict[str, float]:
    """The budgets of a product after this many roundings, and of its gradient.

    A rounding is at most one ULP. The gradient is a sum of products whose signs are equal.
    """
    return {"output": count, "grad": 2 * count + 2}


def eager(reference: Callable[..., Any], vjp: Callable[..., Any] | None = None, *, link: str = COND) -> dict[str, Side]:
    """The contract of an eager program that runs one branch, or a body until the loop ends, and checks nothing else."""
    why = (
        "executed eagerly, the function runs one branch or one iteration after the other; it builds and checks no graph"
    )
    return {"*/eager": Side(reference=reference, vjp=vjp, why=why, link=link)}


def static_shapes() -> dict[str, Side]:
    """The contract of a program that has tensors of different shapes in one place: XLA rejects it."""
    why = "XLA compiles for static shapes, so a tensor has one shape in every branch and iteration"
    return {"*/xla": Side(reference=raises("INVALID_ARGUMENT"), why=why, link=XLA)}


def refused_by_graphs(
    name: str,
    program: Callable[..., Any],
    then: Callable[..., Any],
    otherwise: Callable[..., Any],
    *,
    code: str = "ValueError",
) -> Iterator[Spec]:
    """The specs of branches that a graph refuses; an eager program gives the result of one of them.

    Documentation: ValueError if the branches do not return the same number of tensors, or tensors of different types.
    """
    contract = eager(taken(then, otherwise))
    return conds(name, program, reference=raises(code), recipes=either((3,)), ulp=ROUNDED, contract=contract)


def arrays(name: str, program: Callable[..., Any], *, results: int = 1, **fields: Any) -> Iterator[Spec]:
    """The specs of a loop with TensorArrays: in the one with v1's functions, the program computes its gradient itself.

    A TensorArray of v1 control flow has a gradient only while v2 control flow is disabled. So the gradient is an output
    behind the `results` outputs of the program, and its upstreams are these outputs.
    """
    if fields.get("vjp"):
        fields["v1"] = _with_gradient(program, fields, results) | (fields.get("v1") or {})
    return loops(name, program, **fields)


def _with_gradient(program: Callable[..., Any], fields: dict[str, Any], results: int) -> dict[str, Any]:
    """The fields of a spec whose program, of one float input, returns its gradient behind its outputs."""
    reference, vjp, bound = fields["reference"], fields["vjp"], fields.get("bound", {})

    def differentiated(tf: Any, api: Any, x: Any) -> list[Any]:
        outputs = program(tf, api, x)
        listed = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
        floats = [y for y in listed if y.dtype.is_floating]
        return [*listed, *tf.gradients(floats, [x], grad_ys=floats)]

    def both(x: Any) -> tuple[Any, ...]:
        outputs = reference(x)
        return (*(outputs if isinstance(outputs, tuple) else (outputs,)), vjp(outputs, x))

    allowed = {quantity: largest for quantity, largest in bound.items() if not quantity.startswith("grad")}
    if "grad" in bound:
        allowed[f"output[{results}]"] = lambda u, g, x: bound["grad"](u, reference(x), x)
    return {"program": with_v1(differentiated), "reference": both, "vjp": None, "bound": allowed}
