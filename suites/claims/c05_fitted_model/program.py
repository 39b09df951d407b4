"""A Lambda inside a Keras model that is fitted: its function has a gradient of its own, by each of three means."""

from tf_opdiff.suites.reference.registered import registered

RATE = 0.125
EPOCHS = 2


def fitted(tf, layer, eagerly, x, labels, before, after):
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(before.shape[1], use_bias=False),
            tf.keras.layers.Lambda(layer, dtype="float32"),
            tf.keras.layers.Dense(after.shape[1], use_bias=False),
        ]
    )
    model.build(x.shape)
    model.set_weights([before.numpy(), after.numpy()])
    sgd = tf.keras.optimizers.SGD(RATE)
    model.compile(optimizer=sgd, loss="mse", run_eagerly=eagerly, jit_compile=False)
    model.fit(x.numpy(), labels.numpy(), batch_size=len(x), epochs=EPOCHS, shuffle=False, verbose=0)
    trained_before, trained_after = model.get_weights()
    return tf.subtract(trained_before, before), tf.subtract(trained_after, after)


def cube(z):
    return z * z * z


def upstream(op, grad):
    return grad


def python_cube(tf, z):
    registered(tf, "SkipFittedLayer", upstream)
    gradient_map = {"PyFunc": "SkipFittedLayer"}
    with tf.compat.v1.get_default_graph().gradient_override_map(gradient_map), tf.device("CPU:0"):
        y = tf.compat.v1.py_func(cube, [z], z.dtype)
    return tf.ensure_shape(y, z.shape)


def fit_by_py_func(tf, x, labels, before, after, eagerly):
    def skipped(z):
        return python_cube(tf, z)

    with tf.Graph().as_default():  # a control: in a v1 graph, the same function has the gradient of the map
        z = tf.zeros([1])
        has_gradient = tf.gradients(skipped(z), z)[0] is not None
    return *fitted(tf, skipped, eagerly, x, labels, before, after), tf.constant(has_gradient)


def fit_by_called_py_func(tf, x, labels, before, after, eagerly):
    @tf.function(autograph=False)
    def skipped(z):
        return python_cube(tf, z)

    return fitted(tf, skipped, eagerly, x, labels, before, after)


def fit_by_custom_gradient(tf, x, labels, before, after, eagerly):
    @tf.custom_gradient
    def skipped(z):
        return cube(z), lambda grad: grad

    return fitted(tf, skipped, eagerly, x, labels, before, after)
