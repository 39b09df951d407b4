"""Recurrent layers: https://keras.io/api/layers/recurrent_layers/."""

from functools import partial

import numpy as np

from tf_opdiff.suites.forms.programs.keras_layers import Layer, layers
from tf_opdiff.suites.forms.recipes.elements import uniform
from tf_opdiff.suites.reference.keras.cells import (
    convolution_lstm,
    gru,
    lstm,
    over_time,
    simple,
)

#: Batch, steps, features; the weights of a cell of three units.
_X = (2, 4, 2)
_SIMPLE = ((2, 3), (3, 3), (3,))
_GRU = ((2, 9), (3, 9), (2, 9))
_LSTM = ((2, 12), (3, 12), (12,))
#: tanh and the logistic function lose digits where they are near their limits, and the steps add up.
_UNITS = 48


def _last(cell, states=1):
    """The last output of a cell that begins with zeros."""
    return lambda x, *weights: over_time(cell, x, [3] * states, weights)[0][:, -1]


def _every(cell, states=1):
    """All outputs."""
    return lambda x, *weights: over_time(cell, x, [3] * states, weights)[0]


def _both_ways(x, *weights):
    """The last outputs of a cell forwards and of another one backwards, side by side."""
    ahead, back = _last(lstm, 2)(x, *weights[:3]), _last(lstm, 2)(x[:, ::-1], *weights[3:])
    return np.concatenate([ahead, back], axis=-1)


def _stacked(x, *weights):
    """An LSTM cell under a simple cell."""
    return _last(simple)(_every(lstm, 2)(x, *weights[:3]), *weights[3:])


def _of_cell(layer, x, *states):
    outputs, after = layer(x, list(states))
    return (outputs, *after)


def _cell(name, make, cell, states, weights):
    return Layer(
        name=name,
        make=make,
        call=_of_cell,
        built=1,
        formula=lambda x, *rest: _stepped(cell, states, x, rest),
        shapes=((2, 2), *[(2, 3)] * states),
        weights=weights,
        units=_UNITS,
        outputs=1 + states,
    )


def _stepped(cell, states, x, rest):
    after = cell(x, rest[:states], *rest[states:])
    return (after[0], *after)


_layer = partial(Layer, units=_UNITS)

SPECS = (
    layers(
        "api-keras-recurrent",
        _layer(
            name="SimpleRNN",
            make=lambda tf, d: tf.keras.layers.SimpleRNN(3, dtype=d),
            formula=_last(simple),
            shapes=(_X,),
            weights=_SIMPLE,
        ),
        _layer(
            name="GRU",
            make=lambda tf, d: tf.keras.layers.GRU(3, return_sequences=True, dtype=d),
            formula=_every(gru),
            shapes=(_X,),
            weights=_GRU,
        ),
        _layer(
            name="LSTM",
            make=lambda tf, d: tf.keras.layers.LSTM(3, return_sequences=True, go_backwards=True, dtype=d),
            formula=lambda x, *weights: _every(lstm, 2)(x[:, ::-1], *weights),
            shapes=(_X,),
            weights=_LSTM,
        ),
        _layer(
            name="Bidirectional",
            make=lambda tf, d: tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(3, dtype=d), dtype=d),
            formula=_both_ways,
            shapes=(_X,),
            weights=(*_LSTM, *_LSTM),
        ),
        recipes={"plain": uniform},
        ops="Tanh;Sigmoid;MatMul",
    ),
    layers(
        "api-keras-cells",
        _cell("SimpleRNNCell", lambda tf, d: tf.keras.layers.SimpleRNNCell(3, dtype=d), simple, 1, _SIMPLE),
        _cell("GRUCell", lambda tf, d: tf.keras.layers.GRUCell(3, dtype=d), gru, 1, _GRU),
        _cell("LSTMCell", lambda tf, d: tf.keras.layers.LSTMCell(3, dtype=d), lstm, 2, _LSTM),
        recipes={"plain": uniform},
        ops="Tanh;Sigmoid;MatMul",
    ),
    layers(
        "api-keras-wrapped-cells",
        _layer(
            name="RNN",
            make=lambda tf, d: tf.keras.layers.RNN(tf.keras.layers.GRUCell(3, reset_after=False, dtype=d), dtype=d),
            formula=_last(partial(gru, reset_after=False)),
            shapes=(_X,),
            weights=((2, 9), (3, 9), (9,)),
        ),
        _layer(
            name="StackedRNNCells",
            make=lambda tf, d: tf.keras.layers.RNN(
                tf.keras.layers.StackedRNNCells(
                    [tf.keras.layers.LSTMCell(3, dtype=d), tf.keras.layers.SimpleRNNCell(3, dtype=d)], dtype=d
                ),
                dtype=d,
            ),
            formula=_stacked,
            shapes=(_X,),
            weights=(*_LSTM, (3, 3), (3, 3), (3,)),
        ),
        _layer(
            name="TimeDistributed",
            make=lambda tf, d: tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(3, dtype=d), dtype=d),
            formula=lambda x, kernel, bias: x @ kernel + bias,
            shapes=(_X,),
            weights=((2, 3), (3,)),
        ),
        recipes={"plain": uniform},
        ops="Tanh;Sigmoid;MatMul",
    ),
    *(
        layers(
            f"api-keras-conv-lstm-{rank}d",
            _layer(
                name=f"ConvLSTM{rank}D",
                make=make,
                formula=convolution_lstm,
                shapes=((1, 2, *(4, 3, 3)[:rank], 1),),
                weights=((*(2,) * rank, 1, 8), (*(2,) * rank, 2, 8), (8,)),
                units=96,
            ),
            recipes={"plain": uniform},
            ops="Tanh;Sigmoid",
        )
        for rank, make in (
            (1, lambda tf, d: tf.keras.layers.ConvLSTM1D(2, 2, padding="same", dtype=d)),
            (2, lambda tf, d: tf.keras.layers.ConvLSTM2D(2, 2, padding="same", dtype=d)),
            (3, lambda tf, d: tf.keras.layers.ConvLSTM3D(2, 2, padding="same", dtype=d)),
        )
    ),
)
