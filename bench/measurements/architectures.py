"""Architectures: Keras models with random weights, as programs for `tf-opdiff model`.

Each function without parameters gives a model. `NAME_changed` gives the model with another attribute when traced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Those that run a step of training with Adam; the others predict.
TRAINED = ("mlp", "lstm", "transformer", "mobilenet_v2", "resnet50")
#: The side of the images of most models of `keras.applications`, in pixels.
SIDE = 64


@dataclass(frozen=True)
class Changed:
    """An attribute of a layer that is another when the model is traced; `op` is the type of the op to name."""

    layer: str
    attribute: str
    value: Any
    op: str


CHANGED = {
    "autoencoder": Changed("image_norm", "epsilon", 0.1, "AddV2"),
    "conv1d": Changed("conv1", "dilation_rate", (1,), "SpaceToBatchND"),
    "efficientnet_b0": Changed("block3a_bn", "epsilon", 0.1, "AddV2"),
    "gru": Changed("norm", "epsilon", 0.1, "AddV2"),
    "lstm": Changed("norm", "epsilon", 0.1, "AddV2"),
    "mlp": Changed("leaky1", "negative_slope", 0.2, "LeakyRelu"),
    "mobilenet_v2": Changed("block_6_project_BN", "epsilon", 0.1, "AddV2"),
    "resnet50": Changed("conv3_block1_1_bn", "epsilon", 0.1, "AddV2"),
    "transformer": Changed("norm0", "epsilon", 0.1, "AddV2"),
    "xception": Changed("block5_sepconv1_bn", "epsilon", 0.1, "AddV2"),
}


def _calibrated(model: Any) -> Any:
    """The model, whose batch normalisations have the statistics of a batch: with others, its signal vanishes."""
    from keras import layers

    norms = [layer for layer in model.layers if isinstance(layer, layers.BatchNormalization)]
    usual = [layer.momentum for layer in norms]
    for layer in norms:
        layer.momentum = 0.0
    model(np.random.default_rng(1).normal(size=(4, *model.input_shape[1:])).astype("f4"), training=True)
    for layer, momentum in zip(norms, usual, strict=True):
        layer.momentum = momentum
    return model


def _trained(model: Any) -> Any:
    model.compile("adam", "mse")
    return model


def autoencoder() -> Any:
    """Convolutions with strides, then transposed ones."""
    from keras import Sequential, layers

    down = [layers.Conv2D(n, 3, 2, "same", activation="relu", name=f"down{n}") for n in (16, 32)]
    up = [layers.Conv2DTranspose(n, 3, 2, "same", activation="relu", name=f"up{n}") for n in (32, 16)]
    code = [layers.Flatten(), layers.Dense(20, name="code"), layers.Dense(8 * 8 * 32, activation="relu", name="decode")]
    last = [layers.Conv2D(3, 3, padding="same", activation="sigmoid", name="image")]
    return Sequential(
        [
            layers.Input((32, 32, 3)),
            *down,
            *code,
            layers.Reshape((8, 8, 32)),
            *up,
            layers.LayerNormalization(name="image_norm"),
            *last,
        ]
    )


def conv1d() -> Any:
    """Convolutions of a series, with dilation, pooling and batch normalisation."""
    from keras import Sequential, layers

    blocks: list[Any] = []
    for n, filters in enumerate((16, 32)):
        blocks += [
            layers.Conv1D(filters, 5, padding="same", dilation_rate=n + 1, name=f"conv{n}"),
            layers.BatchNormalization(name=f"norm{n}"),
            layers.LeakyReLU(name=f"leaky{n}"),
            layers.MaxPooling1D(name=f"pool{n}"),
        ]
    return Sequential([layers.Input((64, 3)), *blocks, layers.GlobalAveragePooling1D(), layers.Dense(5, "softmax")])


def efficientnet_b0() -> Any:
    """`keras.applications.EfficientNetB0`, up to the logits."""
    from keras import applications

    options = {"weights": None, "classes": 10, "classifier_activation": None}
    return _calibrated(applications.EfficientNetB0(input_shape=(SIDE, SIDE, 3), **options))


def gru() -> Any:
    """Two recurrent layers of gates, unrolled."""
    from keras import Sequential, layers

    recurrent = [layers.GRU(16, return_sequences=n == 0, unroll=True, name=f"gru{n}") for n in range(2)]
    return Sequential([layers.Input((8, 12)), *recurrent, layers.LayerNormalization(name="norm"), layers.Dense(4)])


def lstm() -> Any:
    """An embedding, and an unrolled layer of long short-term memory."""
    from keras import Sequential, layers

    return _trained(
        Sequential(
            [
                layers.Input((8,)),
                layers.Embedding(50, 12, name="words"),
                layers.LSTM(16, unroll=True, name="lstm"),
                layers.LayerNormalization(name="norm"),
                layers.Dense(4),
            ]
        )
    )


def mlp() -> Any:
    """Dense layers with batch normalisation."""
    from keras import Sequential, layers

    hidden: list[Any] = []
    for n in range(3):
        hidden += [
            layers.Dense(32, name=f"dense{n}"),
            layers.BatchNormalization(name=f"norm{n}"),
            layers.LeakyReLU(name=f"leaky{n}"),
        ]
    return _trained(Sequential([layers.Input((20,)), *hidden, layers.Dense(4)]))


def mobilenet_v2() -> Any:
    """`keras.applications.MobileNetV2`."""
    from keras import applications

    return _trained(applications.MobileNetV2(weights=None, input_shape=(SIDE, SIDE, 3), classes=10))


def resnet50() -> Any:
    """`keras.applications.ResNet50`."""
    return _resnet50(SIDE)


def resnet50_224() -> Any:
    """`keras.applications.ResNet50` for images of the size that it is made for."""
    return _resnet50(224)


def _resnet50(side: int) -> Any:
    from keras import applications

    return _trained(applications.ResNet50(weights=None, input_shape=(side, side, 3), classes=10))


def transformer() -> Any:
    """A block of attention and a block of dense layers, each with a residual and layer normalisation."""
    from keras import Input, Model, layers

    x = tokens = Input((10, 32))
    attended = layers.MultiHeadAttention(4, 8, name="attention")(x, x)
    x = layers.LayerNormalization(name="norm0")(layers.Add()([x, attended]))
    wide = layers.Dense(64, activation="gelu", name="wide")(x)
    x = layers.LayerNormalization(name="norm1")(layers.Add()([x, layers.Dense(32, name="narrow")(wide)]))
    return _trained(Model(tokens, layers.Dense(4)(layers.GlobalAveragePooling1D()(x))))


def xception() -> Any:
    """`keras.applications.Xception`, whose convolutions are separable."""
    from keras import applications

    return _calibrated(applications.Xception(weights=None, input_shape=(71, 71, 3), classes=10))


MODELS: dict[str, Callable[[], Any]] = {
    f.__name__: f
    for f in (
        *(autoencoder, conv1d, efficientnet_b0, gru, lstm),
        *(mlp, mobilenet_v2, resnet50, transformer, xception),
    )
}


def __getattr__(name: str) -> Callable[[], Any]:
    """`mlp_changed`: see the module."""
    if not name.endswith("_changed") or name.removesuffix("_changed") not in MODELS:
        raise AttributeError(name)

    def build() -> Any:
        import tensorflow as tf

        changed = CHANGED[name.removesuffix("_changed")]
        model = MODELS[name.removesuffix("_changed")]()
        layer = model.get_layer(changed.layer)
        usual, original = getattr(layer, changed.attribute), layer.call

        def call(*arguments: Any, **keywords: Any) -> Any:
            setattr(layer, changed.attribute, usual if tf.executing_eagerly() else changed.value)
            return original(*arguments, **keywords)

        layer.call = call
        return model

    return build


_SHAPES = {
    "autoencoder": (32, 32, 3),
    "conv1d": (64, 3),
    "gru": (8, 12),
    "lstm": (8,),
    "mlp": (20,),
    "resnet50_224": (224, 224, 3),
    "transformer": (10, 32),
    "xception": (71, 71, 3),
}


def inputs(name: str) -> dict[str, np.ndarray]:
    """The arrays of a model: a batch of two, of small models eight; with a target for those that learn."""
    rng = np.random.default_rng(0)
    shape = _SHAPES.get(name, (SIDE, SIDE, 3))
    batch = 2 if len(shape) == 3 else 8
    x = rng.integers(0, 50, (batch, *shape)) if name == "lstm" else rng.normal(size=(batch, *shape)).astype("f4")
    if name.partition("_224")[0] not in TRAINED:
        return {"x": x}
    return {"x": x, "y": rng.normal(size=(batch, 4 if shape[0] < 32 else 10)).astype("f4")}
