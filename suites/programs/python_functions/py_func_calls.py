"""How often Python functions are called: Grappler folds, merges and prunes calls that are not stateful."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import matrix
from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.forms.contracts import REFUSED_BY_XLA
from tf_opdiff.suites.forms.programs.py_func import ALL, Api, calls, counting
from tf_opdiff.suites.reference.control_flow.py_func import counted

PY_FUNC = "https://www.tensorflow.org/api_docs/python/tf/compat/v1/py_func"
SESSION = "https://www.tensorflow.org/api_docs/python/tf/compat/v1/Session#run"
OPTIMIZED = "optimizations such as common sub-expression elimination are only performed on stateless operations"
PRUNED = "a session runs only what its fetches need"


def unused(call):
    """A program that calls a function three times, two of them alike, and uses the result of two."""

    def program(tf, state, x):
        function = counting(state, lambda x: x + x)
        call(tf, function, [x], x.dtype)
        return tf.stack([call(tf, function, [x], x.dtype) for _ in range(2)])

    return program


def constant(call):
    """A program that calls a function of a constant."""
    return lambda tf, state, x: x * call(tf, counting(state, lambda x: x + x), [tf.constant(1, x.dtype)], x.dtype)


def shared(call):
    """A program that runs one traced call twice, on the same argument."""

    def program(tf, state, x):
        traced = tf.function(lambda x: call(tf, counting(state, lambda x: x + x), [x], x.dtype), autograph=False)
        return tf.stack([traced(x), traced(x)])

    return program


@dataclass(frozen=True, kw_only=True)
class Counted:
    """A program that counts calls.

    name: in the names of specs.
    program: of a call, the program.
    taker: the OpDef that takes the results.
    output: its reference.
    calls: how many calls three runs make.
    in_function, in_graph: how many of a stateless function, in a `tf.function` and in a session.
    pruned: whether a session leaves out calls of stateful functions too.
    """

    name: str
    program: Callable[..., Any]
    taker: str
    output: Callable[..., Any]
    calls: int
    in_function: int
    in_graph: int
    pruned: bool = False


def _twice(x):
    return np.stack([2 * x, 2 * x])


COUNTED = (
    Counted(name="constant", program=constant, taker="Mul", output=lambda x: 2 * x, calls=3, in_function=1, in_graph=1),
    Counted(name="shared", program=shared, taker="Pack", output=_twice, calls=6, in_function=3, in_graph=3),
    Counted(
        name="unused", program=unused, taker="Pack", output=_twice, calls=9, in_function=6, in_graph=6, pruned=True
    ),
)


def _counts(api: Api, each: Counted) -> Spec:
    """The spec of how often three runs call a Python function."""
    fewer = {}
    if api.stateless:
        fewer["*/function"] = Side(reference=counted(each.output, each.in_function), why=OPTIMIZED, link=PY_FUNC)
        fewer["*/graph"] = Side(reference=counted(each.output, each.in_graph), why=OPTIMIZED, link=PY_FUNC)
    elif each.pruned:
        fewer["*/graph"] = Side(reference=counted(each.output, each.in_graph), why=PRUNED, link=SESSION)
    return Spec(
        name=f"{api.name}-calls-{each.name}",
        ops={mode: f"{name};{each.taker}" for mode, name in api.ops.items()},
        state=calls,
        steps=3,
        program=each.program(api.call),
        reference=counted(each.output, each.calls),
        recipes={"matrix": matrix},
        contract=REFUSED_BY_XLA | fewer,
    )


SPECS = tuple(_counts(api, each) for api in ALL for each in COUNTED)
