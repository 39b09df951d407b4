"""Attention layers: https://keras.io/api/layers/attention_layers/."""

from functools import partial

import numpy as np

from tf_opdiff.suites.forms.programs.keras_layers import Layer, layers
from tf_opdiff.suites.forms.recipes.elements import uniform

#: The roundings of the scores, of the exponentials and of the sums.
_UNITS = 32


def _shares(scores):
    """The softmax over the last axis."""
    e = np.exp(scores)
    return e / np.sum(e, axis=-1, keepdims=True)


def _attended(query, value, key, scale):
    """The values, weighted by the softmax of the scaled products of query and key."""
    return _shares(scale * (query @ np.swapaxes(key, -1, -2))) @ value


def _causal(query, value):
    """A query sees the values up to its own place only."""
    scores = query @ np.swapaxes(value, -1, -2)
    seen = np.tri(*scores.shape[-2:]) == 1
    return _shares(np.where(seen, scores, -np.inf)) @ value


def _added(query, value, scale):
    """Bahdanau's scores: https://arxiv.org/abs/1409.0473."""
    return _shares(np.sum(scale * np.tanh(query[:, :, None] + value[:, None]), axis=-1)) @ value


def _projected(x, kernel, bias):
    """The heads of a tensor, with the axis of heads before that of places."""
    return np.einsum("btf,fhk->bhtk", x, kernel) + bias[:, None]


def _of_heads(repeats, biased, scale_in, query, value, *weights):
    """Heads that attend, and a projection of all: https://arxiv.org/abs/1706.03762.

    Each head of keys and values serves `repeats` heads of queries: https://arxiv.org/abs/2305.13245. The scale of the
    products is 1 / √(size of a head), as a number of the dtype `scale_in`.
    """
    pairs = weights if biased else [w for kernel in weights for w in (kernel, np.zeros(kernel.shape[1:]))]
    q, k, v = (_projected(x, *pairs[2 * i : 2 * i + 2]) for i, x in enumerate((query, value, value)))
    k, v = (np.repeat(x, repeats, axis=1) for x in (k, v))
    heads = _attended(q, v, k, np.longdouble(scale_in(1 / np.sqrt(np.longdouble(q.shape[-1])))))
    return np.einsum("bhtk,hkf->btf", heads, pairs[6]) + (pairs[7] if biased else 0)


def _on_two(layer, query, value):
    return layer(query, value)


def _heads(name, repeats, make, biased, kernels, biases):
    """A layer of heads; its weights are a kernel, and a bias after each."""
    pairs = [pair if biased else pair[:1] for pair in zip(kernels, biases, strict=True)]
    return Layer(
        name=name,
        make=make,
        call=_on_two,
        built=2,
        formula=partial(_of_heads, repeats, biased, np.longdouble),
        mistaken=partial(_of_heads, repeats, biased, np.float32),
        shapes=((1, 3, 4), (1, 2, 4)),
        weights=tuple(shape for pair in pairs for shape in pair),
        units=_UNITS,
    )


#: The name of a layer, the heads of queries for each head of keys, the layer, and the shapes of kernels and biases.
HEADS = (
    (
        "MultiHeadAttention",
        1,
        lambda use_bias: lambda tf, d: tf.keras.layers.MultiHeadAttention(2, 3, use_bias=use_bias, dtype=d),
        (*((4, 2, 3),) * 3, (2, 3, 4)),
        (*((2, 3),) * 3, (4,)),
    ),
    (
        "GroupQueryAttention",
        2,
        lambda use_bias: lambda tf, d: tf.keras.layers.GroupQueryAttention(2, 4, 2, use_bias=use_bias, dtype=d),
        ((4, 4, 2), (4, 2, 2), (4, 2, 2), (4, 2, 4)),
        ((4, 2), (2, 2), (2, 2), (4,)),
    ),
)

_layer = partial(Layer, units=_UNITS)

SPECS = (
    layers(
        "api-keras-attention",
        _layer(
            name="Attention",
            make=lambda tf, d: tf.keras.layers.Attention(use_scale=True, dtype=d),
            formula=_attended,
            shapes=((2, 3, 4), (2, 5, 4), (2, 5, 4)),
            weights=((),),
        ),
        _layer(
            name="Attention",
            label="causal",
            make=lambda tf, d: tf.keras.layers.Attention(dtype=d),
            options={"use_causal_mask": True},
            formula=_causal,
            shapes=((2, 4, 3), (2, 4, 3)),
        ),
        _layer(
            name="AdditiveAttention",
            make=lambda tf, d: tf.keras.layers.AdditiveAttention(dtype=d),
            formula=_added,
            shapes=((2, 3, 4), (2, 5, 4)),
            weights=((4,),),
        ),
        recipes={"plain": uniform},
        ops="Softmax;Tanh",
    ),
    *(
        layers(
            f"api-keras-attention-heads{suffix}",
            *(_heads(name, repeats, make(use_bias), use_bias, *shapes) for name, repeats, make, *shapes in HEADS),
            recipes={"plain": uniform},
            gradient=not use_bias,  # the gradient by the bias of a key is a zero, which rounding hides
            ops="Softmax;Einsum",
        )
        for suffix, use_bias in (("", False), ("-biased", True))
    ),
)
