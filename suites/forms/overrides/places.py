"""Places: where in a program an overridden op stands.

A place is place(tf, call, floats, *inputs) → the program's result; `call(*inputs)` makes the op, and the first `floats`
inputs have a gradient.
"""

#: The number of iterations of a loop.
ITERATIONS = 2
#: The gradient of the function around a nested override, in upstreams.
OUTER = 16
#: The learning rate of the fitted model: a power of two, so that a step is exact.
RATE = 0.25


def plain(tf, call, floats, *inputs):
    """The op as it is."""
    return call(*inputs)


def called(tf, call, floats, *inputs):
    """The op in a `tf.function` that the program calls."""
    return tf.function(call, autograph=False)(*inputs)


def in_cond(tf, call, floats, *inputs):
    """The op in the branch of a `tf.cond` that is taken."""
    x = inputs[0]
    return tf.cond(tf.reduce_all(tf.abs(x) < 1e6), lambda: call(*inputs), lambda: tf.zeros_like(x))


def in_loop(tf, call, floats, *inputs):
    """The op in the body of a `tf.while_loop` that adds up its results."""
    start = (tf.constant(0), tf.zeros_like(inputs[0]))
    return tf.while_loop(
        lambda i, total: i < ITERATIONS,
        lambda i, total: (i + 1, total + call(*inputs)),
        start,
        maximum_iterations=ITERATIONS,
    )[1]


def in_cond_v1(tf, call, floats, *inputs):
    """The op in a branch of v1's cond: Switch and Merge."""
    tf.compat.v1.disable_control_flow_v2()
    try:
        return in_cond(tf, call, floats, *inputs)
    finally:
        tf.compat.v1.enable_control_flow_v2()


def in_loop_v1(tf, call, floats, *inputs):
    """The op in the body of v1's while loop: Enter, Exit and their like."""
    tf.compat.v1.disable_control_flow_v2()
    try:
        return in_loop(tf, call, floats, *inputs)
    finally:
        tf.compat.v1.enable_control_flow_v2()


def nested(tf, call, floats, *inputs):
    """The op in a function that has a `tf.custom_gradient` of its own."""

    @tf.custom_gradient
    def outer(*xs):
        return call(*xs, *inputs[floats:]), lambda g: [OUTER * g for _ in xs]

    return outer(*inputs[:floats])


def second_order(tf, call, floats, *inputs):
    """The gradient of the op, as the program's result: the gradient of the program is the second derivative."""
    xs = list(inputs[:floats])
    if not tf.executing_eagerly() and not tf.compat.v1.get_default_graph().building_function:
        return [tf.convert_to_tensor(g) for g in tf.gradients(call(*inputs), xs, unconnected_gradients="zero")]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = call(*inputs)
    return [tf.convert_to_tensor(g) for g in tape.gradient(y, xs, unconnected_gradients="zero")]


def forward_mode(tf, call, floats, *inputs):
    """The op's directional derivative along ones, by `tf.autodiff.ForwardAccumulator`."""
    xs = list(inputs[:floats])
    with tf.autodiff.ForwardAccumulator(xs, [tf.ones_like(x) for x in xs]) as accumulator:
        y = call(*inputs)
    return accumulator.jvp(y, unconnected_gradients="zero")


def _fitted(tf, call, floats, inputs, **how):
    """By how much one step of `fit` moves the float inputs, as weights of a layer with the op, over minus `RATE`."""

    def build(layer, shape):
        layer.held = [layer.add_weight(shape=x.shape, name=f"w{i}") for i, x in enumerate(inputs[:floats])]

    def call_layer(layer, ones):
        return ones * call(*map(tf.convert_to_tensor, layer.held), *inputs[floats:])

    layer = type("Layer", (tf.keras.layers.Layer,), {"build": build, "call": call_layer})()
    model = tf.keras.Sequential([layer])
    ones = tf.ones([1, *inputs[0].shape])
    model.build(ones.shape)
    model.set_weights([x.numpy() for x in inputs[:floats]])
    model.compile(optimizer=tf.keras.optimizers.SGD(RATE), loss=lambda labels, y: tf.reduce_sum(y), **how)
    model.fit(ones.numpy(), ones.numpy(), verbose=0)
    return [(x - w) / RATE for x, w in zip(inputs[:floats], model.get_weights(), strict=True)]


def fitted_eagerly(tf, call, floats, *inputs):
    """The op in a Keras layer of a model that is fitted with `run_eagerly=True`."""
    return _fitted(tf, call, floats, inputs, run_eagerly=True)


def fitted_in_function(tf, call, floats, *inputs):
    """The op in a Keras layer of a model that is fitted in a `tf.function`."""
    return _fitted(tf, call, floats, inputs, jit_compile=False)


def fitted_by_xla(tf, call, floats, *inputs):
    """The op in a Keras layer of a model that is fitted with `jit_compile=True`."""
    return _fitted(tf, call, floats, inputs, jit_compile=True)
