"""Keras layers: programs that call layers whose weights are given arrays, several layers in one program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.calls import Call
from tf_opdiff.suites.forms.programs.keras_calls import spec_of
from tf_opdiff.suites.reference.promises.conditioned import Conditioned
from tf_opdiff.suites.reference.promises.promise import Promise

Shape = tuple[int, ...]
Function = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A layer of `tf.keras.layers`, and its formula.

    name        the name of its class; the run proves that it was called.
    make        make(tf, dtype) → the layer.
    formula     formula(*tensors, *weights) → the result: see `Conditioned`.
    shapes      the shapes of its tensors: it is called with one, or with a list of several.
    weights     the shapes of its weights, in the order of `layer.weights`.
    units       the roundings of an element: see `Conditioned`. 0: it moves numbers only.
    grad_units  those of a gradient.
    options     keyword arguments of the call, such as `training`.
    call        call(layer, *tensors, **options) → the result, for a layer that is called in another way.
    built       the number of shapes that `layer.build` takes one by one; 0: that of one tensor, or a list.
    label       what tells two calls of one class apart.
    outputs     the number of results.
    unconnected the numbers of its tensors and weights without a gradient.
    mistaken    the formula that Keras computes in its place because of a known failure.
    promised    the promise, if it is not that of a formula; then `formula` is None.
    """

    name: str
    make: Function
    formula: Function | None = None
    shapes: tuple[Shape, ...]
    weights: tuple[Shape, ...] = ()
    units: float = 0.0
    grad_units: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    call: Function | None = None
    built: int = 0
    label: str = ""
    outputs: int = 1
    unconnected: tuple[int, ...] = ()
    mistaken: Function | None = None
    promised: Promise | None = None

    @property
    def promise(self) -> Promise:
        """The promise of the formula."""
        if self.promised:
            return self.promised
        assert self.formula
        return Conditioned(
            self.formula,
            self.units,
            grad_units=self.grad_units,
            outputs=self.outputs,
            unconnected=self.unconnected,
            mistaken_formula=self.mistaken,
        )

    @property
    def program(self) -> Function:
        """The program of one call: its inputs are the tensors and the weights."""
        return _program(
            self.make, self.call or _called, len(self.shapes), self.built, self.unconnected, dict(self.options)
        )


def layers(name: str, *parts: Layer, recipes: Mapping[str, Any], **more: Any) -> Spec:
    """The spec of a program that calls these layers; the other arguments are those of `spec_of`.

    Raises:
      ValueError: two calls of one layer have the same label.
    """
    calls = {
        " ".join(filter(None, (part.name, part.label))): Call(
            program=part.program, promise=part.promise, shapes=(*part.shapes, *part.weights)
        )
        for part in parts
    }
    if len(calls) < len(parts):
        raise ValueError(f"{name}: expected a label for each of several calls of one layer")
    return spec_of(name, calls, [f"layers.{part.name}" for part in parts], recipes, **more)


def _called(layer: Any, *tensors: Any, **options: Any) -> Any:
    return layer(tensors[0] if len(tensors) == 1 else list(tensors), **options)


def _program(
    make: Function, call: Function, count: int, built: int, constant: tuple[int, ...], options: Mapping[str, Any]
) -> Function:
    def program(tf: Any, *xs: Any) -> Any:
        xs = tuple(tf.stop_gradient(x) if i in constant else x for i, x in enumerate(xs))
        tensors, weights = xs[:count], xs[count:]
        shapes = [tuple(x.shape) for x in tensors]
        built_on = shapes[: built or 1] if built or count == 1 else [shapes]
        with tf.keras.StatelessScope(initialize_variables=False):  # the weights are tensors
            layer = make(tf, xs[-1].dtype.name)
            layer.build(*built_on)
            for variable, value in zip(layer.weights, weights, strict=True):
                variable.assign(value)
            return call(layer, *tensors, **options)

    return program
