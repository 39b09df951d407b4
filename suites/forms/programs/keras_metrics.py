"""Keras metrics: programs that update metrics with two batches and return their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.calls import Call
from tf_opdiff.suites.forms.programs.keras_calls import spec_of
from tf_opdiff.suites.forms.recipes.elements import Elements, from_one
from tf_opdiff.suites.reference.promises.conditioned import Conditioned

Function = Callable[..., Any]
Shape = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric of `tf.keras.metrics`, and its formula.

    name        the name of its class; the run proves that it was called.
    make        make(tf, dtype) → the metric.
    formula     formula(*batch, weights) → the result, of both batches one after the other: see `Conditioned`.
    shapes      the shapes of one batch of its arguments, such as targets and predictions.
    units       the roundings of the result.
    label       what tells two calls of one class apart.
    mistaken    the formula that Keras computes in its place because of a known failure.
    """

    name: str
    make: Function
    formula: Function
    shapes: tuple[Shape, ...]
    units: float = 8.0
    label: str = ""
    mistaken: Function | None = None

    @property
    def call(self) -> Call:
        """The call: its inputs are the first batch, the second one, and the weights of its samples."""
        weights = self.shapes[0][:1]
        mistaken = self.mistaken and _of_both(self.mistaken, len(self.shapes))
        promise = Conditioned(_of_both(self.formula, len(self.shapes)), self.units, mistaken_formula=mistaken)
        program = _program(self.make, len(self.shapes))
        return Call(program=program, promise=promise, shapes=(*self.shapes, *self.shapes, weights))


def metrics(name: str, *parts: Metric, recipes: Mapping[str, Any], **more: Any) -> Spec:
    """The spec of a program that updates these metrics; the other arguments are those of `spec_of`."""
    calls = {" ".join(filter(None, (part.name, part.label))): part.call for part in parts}
    return spec_of(name, calls, [f"metrics.{part.name}" for part in parts], recipes, gradient=False, **more)


def of_both_batches(*elements: Elements) -> tuple[Elements, ...]:
    """The elements of the arguments of both batches, and of the weights."""
    return (*elements, *elements, from_one)


def weighted_mean(values: Function) -> Function:
    """The mean of values(*batch) of the samples by their weights."""

    def formula(*arguments: Any) -> Any:
        *batch, weights = arguments
        return np.sum(values(*batch) * weights) / np.sum(weights)

    return formula


def _of_both(formula: Function, count: int) -> Function:
    """The formula of both batches; the samples of the first one have weight 1."""

    def whole(*xs: Any) -> Any:
        batch = [np.concatenate([first, second]) for first, second in zip(xs[:count], xs[count:-1], strict=True)]
        return formula(*batch, np.concatenate([np.ones(len(xs[0])), xs[-1]]))

    return whole


def _program(make: Function, count: int) -> Function:
    def program(tf: Any, *xs: Any) -> Any:
        with tf.keras.StatelessScope(initialize_variables=False):  # the variables of the metric are tensors
            metric = make(tf, xs[-1].dtype.name)
            metric.update_state(*xs[:count])
            metric.update_state(*xs[count : 2 * count], sample_weight=xs[-1])
            return tf.convert_to_tensor(metric.result())

    return program
