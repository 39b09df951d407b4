"""Gradients: reverse mode, forward mode and second order of a program. Imported in device servers only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import forwardprop

from tf_opdiff.harness.device.programs.program import State, call, variables
from tf_opdiff.harness.device.request import Arguments
from tf_opdiff.harness.spec.spec import Spec


def evaluate(
    spec: Spec, state: State, arguments: Arguments, note_outputs: Callable[[list[Any]], None] = lambda _: None
) -> dict[str, list]:
    """The quantities of one run, in eager mode or while a `tf.function` is traced.

    `output`, unless the spec fetches gradients only; `grad` by `tf.GradientTape` if there are upstreams; `jvp` and
    `hvp` if there are tangents. `note_outputs` receives the outputs before any gradient op is built.
    """
    if arguments.upstreams is None:
        outputs = call(spec, state, arguments.inputs)
        note_outputs(outputs)
        return {"output": outputs} | _forward_and_second_order(spec, arguments)
    with tf.GradientTape() as tape:
        for x in arguments.inputs:
            tape.watch(x)
        outputs = call(spec, state, arguments.inputs)
    note_outputs(outputs)
    grads = tape.gradient(*first_pass(outputs, arguments, [*arguments.inputs, *variables(state)]))
    if spec.execution.only_gradients:
        return {"grad": grads}
    return {"output": outputs, "grad": grads} | _forward_and_second_order(spec, arguments)


def first_pass(outputs: Sequence[Any], arguments: Arguments, sources: Sequence[Any]) -> tuple[list, list, list]:
    """Arguments for the first reverse pass: the outputs with an upstream, the sources, and those upstreams."""
    pairs = [(y, g) for y, g in zip(outputs, arguments.upstreams or (), strict=True) if g is not None]
    return [y for y, _ in pairs], list(sources), [g for _, g in pairs]


def second_pass(grads: Sequence[Any], arguments: Arguments) -> tuple[list, list, list]:
    """Arguments for the second reverse pass: the gradients that are not None, the inputs, and the matching tangents."""
    pairs = [(g, t) for g, t in zip(grads, arguments.tangents or (), strict=True) if g is not None]
    return [g for g, _ in pairs], list(arguments.inputs), [t for _, t in pairs]


def _forward_and_second_order(spec: Spec, arguments: Arguments) -> dict[str, list]:
    """`jvp` by `tf.autodiff.ForwardAccumulator` and `hvp` by a tape around a tape, if the spec promises them."""
    quantities: dict[str, list] = {}
    if arguments.tangents is None:
        return quantities
    if spec.derivatives.jvp:
        # After 32 traces of an op in a process, forward mode traces it for unknown shapes, which some gradients refuse.
        getattr(forwardprop, "_TRACE_COUNT", {}).clear()  # a private name, which another TensorFlow may lack
        with tf.autodiff.ForwardAccumulator(list(arguments.inputs), list(arguments.tangents)) as forward:
            outputs = call(spec, None, arguments.inputs)
        quantities["jvp"] = [forward.jvp(y) for y in outputs]
    if spec.derivatives.hvp:
        with tf.GradientTape() as outer:
            outer.watch(arguments.inputs)
            with tf.GradientTape() as inner:
                inner.watch(arguments.inputs)
                outputs = call(spec, None, arguments.inputs)
            grads = inner.gradient(*first_pass(outputs, arguments, arguments.inputs))
        quantities["hvp"] = outer.gradient(*second_pass(grads, arguments))
    return quantities


def jvp_in_graph(outputs: Sequence[Any], arguments: Arguments) -> list[Any]:
    """The Jacobian times the tangents, in a v1 graph, by two reverse passes: a VJP is linear in its upstreams.

    None for outputs that are not floats.

    J. Townsend, A new trick for calculating Jacobian vector products:
    https://j-towns.github.io/2017/06/12/A-new-trick.html
    """
    v1 = tf.compat.v1
    smooth = [y.dtype.is_floating or y.dtype.is_complex for y in outputs]
    ys = [y for y, differentiable in zip(outputs, smooth, strict=True) if differentiable]
    dummies = [tf.ones_like(y) for y in ys]
    grads, _, tangents = second_pass(v1.gradients(ys, list(arguments.inputs), grad_ys=dummies), arguments)
    along = iter(v1.gradients(grads, dummies, grad_ys=tangents))
    return [next(along) if differentiable else None for differentiable in smooth]
