"""Cells of recurrent layers of Keras, by the formulas of their papers, with Keras' order of gates and weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.neural_networks.convolution import Convolution

#: The new states; the first one is the output.
States = tuple[Any, ...]


def _logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def simple(x: Any, states: Sequence[Any], kernel: Any, recurrent: Any, bias: Any) -> States:
    """tanh(x W + h U + b): J. Elman, Finding Structure in Time."""
    return (np.tanh(x @ kernel + states[0] @ recurrent + bias),)


def gru(x: Any, states: Sequence[Any], kernel: Any, recurrent: Any, bias: Any, *, reset_after: bool = True) -> States:
    """The gated recurrent unit; gates update, reset, candidate: https://arxiv.org/abs/1406.1078.

    With `reset_after`, the reset gate multiplies the product of the state, as in cuDNN, and each product has a bias.
    """
    h = states[0]
    of_x, of_h = (bias[0], bias[1]) if reset_after else (bias, 0 * bias)
    update, reset, candidate = np.split(x @ kernel + of_x, 3, axis=-1)
    own = np.split(recurrent, 3, axis=-1)
    biases = np.split(of_h, 3)
    z = _logistic(update + h @ own[0] + biases[0])
    r = _logistic(reset + h @ own[1] + biases[1])
    inner = r * (h @ own[2] + biases[2]) if reset_after else (r * h) @ own[2]
    return (z * h + (1 - z) * np.tanh(candidate + inner),)


def lstm(x: Any, states: Sequence[Any], kernel: Any, recurrent: Any, bias: Any) -> States:
    """Long short-term memory; gates input, forget, candidate, output: https://doi.org/10.1162/neco.1997.9.8.1735."""
    return _gated(x @ kernel + states[0] @ recurrent + bias, states[1])


def _gated(gates: Any, c: Any) -> States:
    i, f, candidate, o = np.split(gates, 4, axis=-1)
    c = _logistic(f) * c + _logistic(i) * np.tanh(candidate)
    return _logistic(o) * np.tanh(c), c


def convolution_lstm(x: Any, kernel: Any, recurrent: Any, bias: Any) -> Any:
    """The last output of an LSTM whose products are convolutions: https://arxiv.org/abs/1506.04214."""
    ones = (1,) * (x.ndim - 3)
    form = Convolution(strides=ones, dilations=ones, padding="SAME")
    h = c = np.zeros((*x.shape[:1], *x.shape[2:-1], recurrent.shape[-2]))
    for step in np.moveaxis(x, 1, 0):
        h, c = _gated(form.f(step, kernel) + bias + form.f(h, recurrent), c)
    return h


def over_time(cell: Callable[..., States], x: Any, sizes: Sequence[int], weights: Sequence[Any]) -> tuple[Any, States]:
    """All outputs of a cell that begins with zeros, of shape (batch, steps, units), and its last states."""
    states: States = tuple(np.zeros((len(x), size)) for size in sizes)
    outputs = []
    for step in np.moveaxis(x, 1, 0):
        states = cell(step, states, *weights)
        outputs.append(states[0])
    return np.stack(outputs, axis=1), states
