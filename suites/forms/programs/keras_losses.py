"""Keras losses: programs that call losses with every kind of reduction and with weights of the samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.calls import Call
from tf_opdiff.suites.forms.programs.keras_calls import spec_of
from tf_opdiff.suites.reference.promises.conditioned import Conditioned

Function = Callable[..., Any]
#: Samples and classes.
SHAPE = (4, 5)


#: reduction → a function of the losses of the samples, and of their weights: https://keras.io/api/losses/.
REDUCTIONS: Mapping[str, Function] = {
    "none": lambda loss, weights: loss * weights,
    "sum": lambda loss, weights: np.sum(loss * weights),
    "sum_over_batch_size": lambda loss, weights: np.sum(loss * weights) / loss.size,
    "mean": lambda loss, weights: np.sum(loss * weights) / loss.size,
    "mean_with_sample_weight": lambda loss, weights: np.sum(loss * weights) / np.sum(weights),
}


@dataclass(frozen=True, kw_only=True)
class Loss:
    """A loss of `tf.keras.losses`, and its formula.

    name        the name of its class; the run proves that it was called.
    make        make(tf, reduction, dtype) → the loss.
    formula     formula(targets, predictions) → the losses of the samples: see `Conditioned`.
    units       the roundings of an element.
    grad_units  those of a gradient.
    reductions  the reductions that are tried.
    unconnected as of `Conditioned`: 0 for targets without a gradient.
    shapes      the shapes of the targets and of the predictions.
    label       what tells two calls of one class apart.
    mistaken    the formula that Keras computes in its place because of a known failure.
    """

    name: str
    make: Function
    formula: Function
    units: float
    grad_units: float | None = None
    reductions: tuple[str, ...] = ("none", "sum_over_batch_size")
    unconnected: tuple[int, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = (SHAPE, SHAPE)
    label: str = ""
    mistaken: Function | None = None

    def call(self, reduction: str) -> Call:
        """The call with one reduction: its inputs are targets, predictions, and weights of the samples."""
        promise = Conditioned(
            _reduced(self.formula, reduction),
            self.units,
            grad_units=self.grad_units,
            unconnected=self.unconnected,
            mistaken_formula=self.mistaken and _reduced(self.mistaken, reduction),
        )
        return Call(program=_program(self.make, reduction), promise=promise, shapes=(*self.shapes, SHAPE[:1]))


def losses(name: str, *parts: Loss, recipes: Mapping[str, Any], **more: Any) -> Spec:
    """The spec of a program that calls these losses, each with its reductions.

    A recipe has the elements of targets, of predictions and of weights; the other arguments are those of `spec_of`.
    """
    calls = {
        " ".join(filter(None, (part.name, part.label, reduction))): part.call(reduction)
        for part in parts
        for reduction in part.reductions
    }
    return spec_of(name, calls, [f"losses.{part.name}" for part in parts], recipes, **more)


def _reduced(formula: Function, reduction: str) -> Function:
    return lambda t, p, weights: REDUCTIONS[reduction](formula(t, p), weights)


def _program(make: Function, reduction: str) -> Function:
    def program(tf: Any, *xs: Any) -> Any:
        loss = make(tf, reduction, xs[1].dtype.name)
        return loss(xs[0], xs[1], sample_weight=xs[2])

    return program
