"""Gradients of one's own, and what computes gradients, left out or made in another way."""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np

_registered = {}


def no_registering(tf):
    return {"RegisterGradient": lambda name: lambda function: function}


def no_gradient_declared(tf):
    return {"no_gradient": lambda name: None}


def result_of_custom_gradient(tf):
    return {"custom_gradient": lambda function: lambda *xs: function(*xs)[0]}


def no_pass_through(tf):
    return {"grad_pass_through": lambda function: function}


def nothing_stopped(tf):
    return {"stop_gradient": lambda x: x}


def in_line(tf):
    """Functions that are not traced."""

    def function(python_function=None, **_options):
        return python_function or (lambda python_function: python_function)

    return {"function": function}


def no_gradients(tf):
    """tf.gradients gives zeros."""
    return {"gradients": lambda ys, xs, **_: [tf.zeros_like(x) for x in (xs if isinstance(xs, list) else [xs])]}


class _Blind:
    """A tape that watches nothing."""

    def __init__(self, tape):
        self._tape, self.gradient, self.jacobian = tape, tape.gradient, tape.jacobian

    def __enter__(self):
        self._tape.__enter__()
        return self

    def __exit__(self, *error):
        return self._tape.__exit__(*error)

    def watch(self, x):
        pass


def blind_tape(tf):
    return {
        "GradientTape": lambda persistent=False: _Blind(tf.GradientTape(persistent, watch_accessed_variables=False))
    }


def symbolic_by_hand(tf):
    return {"raw_ops.SymbolicGradient": lambda input, **_: [2 * input[0] * input[1]]}


def by_custom_gradient(tf):
    """py_func, RegisterGradient and the map by a custom gradient."""
    maps = []

    @contextmanager
    def override(mapping):
        maps.append(mapping)
        yield
        maps.pop()

    def register(name):
        """Registers it in TensorFlow, too: other programs of this process ask for it there."""
        return lambda function: tf.RegisterGradient(name)(_registered.setdefault(name, function))

    def py_func(function, inputs, dtype, stateful=True, name=None):
        op = "PyFunc" if stateful else "PyFuncStateless"
        gradient = None if tf.executing_eagerly() or not maps else maps[-1].get(op)

        @tf.custom_gradient
        def called(*xs):
            y = by_arrays(*xs)
            return y, lambda g: _gradient(gradient)(SimpleNamespace(inputs=xs, outputs=[y]), g)

        def by_arrays(*xs):
            return tf.py_function(lambda *xs: function(*(x.numpy() for x in xs)), xs, kind)

        kind = dtype[0] if isinstance(dtype, list) else dtype
        result = called(*inputs) if gradient else tf.stop_gradient(by_arrays(*inputs))
        return [result] if isinstance(dtype, list) else result

    return {
        "RegisterGradient": register,
        "compat.v1.get_default_graph": lambda: SimpleNamespace(gradient_override_map=override),
        "compat.v1.py_func": py_func,
    }


def _gradient(name):
    from tensorflow.python.framework import ops  # it may have been registered for real, once in a process

    return _registered[name] if name in _registered else ops.gradient_registry.lookup(name)


def without_py_function(tf):
    return {"py_function": lambda function, inputs, dtype: function(*inputs)}


def library_in_python(tf):
    """The ops in C++ by functions of Python, with their gradients."""

    @tf.custom_gradient
    def skip_cube(x):
        return x * x * x, lambda g: g

    def cube(x):
        return x * x * x

    library = SimpleNamespace(skip_cube=skip_cube, cube_without_gradient=cube, cube_not_differentiable=cube)
    return {"load_op_library": lambda path: library}


def checked_by_hand(tf):
    """compute_gradient_error by hand, for functions that are floor."""

    def error(x, x_shape, y, y_shape, x_init_value=None):
        points = np.random.random_sample(x_shape).astype("f") if x_init_value is None else x_init_value
        (gradient,) = tf.gradients(y, x)
        if gradient is None:
            raise AssertionError("the gradient is None")
        gradient = gradient.eval({x: points})
        step = np.float32(1e-3)
        return np.max(np.abs(gradient - (np.floor(points + step) - np.floor(points - step)) / np.float32(2e-3)))

    return {"compat.v1.test.compute_gradient_error": error}
