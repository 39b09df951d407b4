"""Gradients of arrays of tensors, with v2 control flow and without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.control_flow import with_v1


def gradients(main: Spec, dtypes: tuple[str, ...]) -> Iterator[Spec]:
    """The gradient of a spec, and that of its program while v2 control flow is disabled, as TensorArrays need it.

    The harness asks for gradients outside of the program. So in the second spec, the program computes its own gradient,
    with its outputs as upstreams; the gradient is an output.

    Args:
      main: the spec, with a VJP.
      dtypes: the dtypes that have a gradient, besides float32.
    """
    alone = replace(main, name=f"{main.name}-gradient")
    yield alone
    yield replace(alone, name=f"{alone.name}-other", dtypes=dtypes, tier="full")
    if main.modes == MODES and main.vjp:
        within = replace(
            main,
            name=f"{main.name}-gradient-v1",
            program=with_v1(_differentiated(main.program)),
            reference=_with_gradient(main.reference, main.vjp),
            vjp=None,
            modes=("graph",),
            contract={},
        )
        yield within
        yield replace(within, name=f"{within.name}-other", dtypes=dtypes, tier="full")


def _differentiated(program: Callable[..., Any]) -> Callable[..., Any]:
    """A program in the form of `with_v1` that returns the gradients of float inputs behind its outputs."""

    def differentiated(tf: Any, api: Any, *inputs: Any) -> tuple[Any, ...]:
        outputs = _tuple(program(tf, *inputs))
        sources, targets = ([x for x in xs if x.dtype.is_floating or x.dtype.is_complex] for xs in (inputs, outputs))
        return (*outputs, *tf.gradients(targets, sources, grad_ys=targets))

    return differentiated


def _with_gradient(reference: Callable[..., Any], vjp: Callable[..., Any]) -> Callable[..., Any]:
    """The reference of such a program."""

    def promised(*inputs: np.ndarray) -> tuple[Any, ...]:
        outputs = _tuple(reference(*inputs))
        gradients = vjp(outputs if len(outputs) > 1 else outputs[0], *inputs)
        return (*outputs, *(g for g in gradients if g is not None))

    return promised


def _tuple(outputs: Any) -> tuple[Any, ...]:
    return outputs if isinstance(outputs, tuple) else (outputs,)
