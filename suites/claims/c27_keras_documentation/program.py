"""The issue's model of one layer and the sum of its result, another layer, and the moments of numbers far from zero."""


def model_of_a_convolution(tf, images, kernel, bias):
    inputs = tf.keras.layers.Input(shape=images.shape[1:])
    outputs = tf.keras.layers.Conv2D(bias.shape[0], kernel_size=(4, 7), padding="same", dilation_rate=(3, 2))(inputs)
    model = tf.keras.Model(inputs=[inputs], outputs=outputs)
    model.set_weights([kernel, bias])
    return {"_model": model}


def call_and_sum(tf, state, images, kernel, bias):
    outputs = state["_model"]([images])
    return outputs, tf.keras.ops.sum(outputs)


def dense_layer(tf, x, kernel):
    layer = tf.keras.layers.Dense(kernel.shape[1], use_bias=False)
    layer.build(x.shape)
    layer.set_weights([kernel])
    return {"_layer": layer}


def call_layer(tf, state, x, kernel):
    return state["_layer"](x)


def moments(tf, x):
    return tf.keras.ops.moments(x, axes=[0])


def mean_and_var(tf, x):
    return tf.keras.ops.mean(x, axis=0), tf.keras.ops.var(x, axis=0)
