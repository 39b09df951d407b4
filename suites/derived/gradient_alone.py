"""Gradient alone: the gradients of a spec, fetched without its outputs.

A graph without the forward op is another graph: TensorFlow removes ops that no result needs, and what remains meets
other rewrites. Eager mode has no graph, so it is left out.

Where the forward op would refuse its inputs, nothing refuses them any more, and the gradient op receives them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import ml_dtypes  # noqa: F401  registers the names of its dtypes
import numpy as np

from tf_opdiff.harness.spec.contract import Raises, Side, Undocumented
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.lists.raw_ops import RawOps
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Spec, Unavailable
from tf_opdiff.suites.derived.twin import in_tiers, representative, twin

#: The aspect of these twins.
GRADIENT_ALONE = "gradient-alone"
_WHY = "a graph executes no op that no result needs, and an op that is not executed raises no error"
#: Inputs that the forward op refuses: the gradient may raise an error, or have any value.
_NOT_EXECUTED = Side(
    reference=lambda *xs, **attrs: Undocumented(_WHY),
    why=_WHY,
    link="https://www.tensorflow.org/guide/intro_to_graphs#non-strict_execution",
)
_OPS = RawOps.load().ops
#: The largest number of elements of an upstream.
_MOST = 2**31


def gradient_alone(spec: Spec, recipes: Collection[str] = ()) -> tuple[Spec, ...]:
    """The twins of a spec that fetch gradients only: `NAME-gradient-alone`, and `-other` in the full tier.

    Args:
      spec: a spec with a vjp, without state, jvp and hvp.
      recipes: the names of the recipes that the twins keep; all by default.

    Returns:
      One spec for float32, or for the first dtype if the spec has no float32, and one for all other dtypes.
    """
    first = "float32" if "float32" in spec.dtypes else spec.dtypes[0]
    kept = {name: recipe for name, recipe in spec.recipes.items() if not recipes or name in recipes}
    alone = twin(
        spec,
        GRADIENT_ALONE,
        only_gradients=True,
        modes=tuple(mode for mode in spec.modes if mode != "eager"),
        recipes=kept,
        upstreams={name: upstream for name, upstream in spec.derivatives.upstreams.items() if name in kept},
    )
    return in_tiers(alone, first)


def gradients_of_refused(specs: Collection[Spec]) -> Iterator[Spec]:
    """The twins `NAME-gradient-alone` of the specs of an op that promise an error of its kernel, in the full tier.

    An op without a promised gradient has none, and neither has a call that Python refuses when it builds the graph.
    """
    smooth = [spec.every_op for spec in specs if spec.derivatives.vjp]
    for spec in specs:
        modes = tuple(mode for mode in spec.modes if _refused_when_run(spec, mode))
        dtype = representative(spec.dtypes)
        of_reals = is_float(np.dtype(dtype)) or np.dtype(dtype).kind == "c"
        if modes and of_reals and any(spec.every_op & ops for ops in smooth) and _differentiable(spec):
            yield twin(
                spec,
                GRADIENT_ALONE,
                program=_gradients(spec.program),
                reference=_NOT_EXECUTED.reference,
                dtypes=(dtype,),
                modes=modes,
                contract={f"*/{mode}": _NOT_EXECUTED for mode in modes},
                constant=tuple(f"output[{i}]" for i in range(8)),
                tier="full",
                vjp=None,
                upstreams={},
            )


def _differentiable(spec: Spec) -> bool:
    """Whether TensorFlow registers a function as the gradient of an op of a spec."""
    return any(_OPS[raw].gradient == "function" for raw in spec.every_op & _OPS.keys())


def _refused_when_run(spec: Spec, mode: str) -> bool:
    """Whether a spec promises an error of TensorFlow's runtime in a mode with a graph."""
    promise = (spec.side(Plan(Device("cpu"), mode)) or spec).reference
    of_runtime = isinstance(promise, Raises) and promise.code.isupper() and not promise.without_kernel
    return of_runtime and mode != "eager" and not spec.execution.state


def _gradients(program: Callable[..., Any]) -> Callable[..., Any]:
    """A program that gives the gradients of a program by its floats, and no output."""

    def alone(tf: Any, *xs: Any, **attrs: Any) -> list[Any]:
        smooth = [x for x in xs if x.dtype.is_floating or x.dtype.is_complex]
        with tf.GradientTape() as tape:
            tape.watch(smooth)
            ys = tf.nest.flatten(program(tf, *xs, **attrs))
        if any((y.shape.num_elements() or 0) > _MOST for y in ys):
            raise Unavailable("no machine holds an upstream of this shape")
        connected = [g for g in tape.gradient(ys, smooth) if g is not None]
        if not connected:
            raise Unavailable("no input of the call has a gradient")
        return connected

    return alone
