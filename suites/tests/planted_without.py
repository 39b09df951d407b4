"""The specs of `suites.claims`, each with its subject taken out of its program.

What takes the subject's place gives the same values where that can be: nothing but the evidence shows that it is gone.
A spec appears once for each thing that its program uses, as `SPEC--THING`.
"""

import re
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from tf_opdiff.harness.repro.listing import listing
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.suites.tests.same_values import flip, loaded_by_assign


class Without:
    """TensorFlow, or a module of it, with other functions in the place of some, by their paths."""

    def __init__(self, real, others, path=""):
        self._real, self._others, self._path = real, others, path

    def __getattr__(self, name):
        path = f"{self._path}{name}"
        if path in self._others:
            return self._others[path]
        value = getattr(self._real, name)
        inside = any(other.startswith(f"{path}.") for other in self._others)
        return Without(value, self._others, f"{path}.") if inside else value


_gradients = {}


def python_function(tf):
    """py_func, RegisterGradient and the map by a custom gradient."""
    maps = []

    @contextmanager
    def override(mapping):
        maps.append(mapping)
        yield
        maps.pop()

    def register(name):
        return lambda function: _gradients.setdefault(name, function)

    def py_func(function, inputs, dtype, stateful=True, name=None):
        op = "PyFunc" if stateful else "PyFuncStateless"
        gradient = None if tf.executing_eagerly() or not maps else maps[-1].get(op)

        @tf.custom_gradient
        def called(*xs):
            y = function(*xs)
            return y, lambda g: _gradient(tf, gradient)(SimpleNamespace(inputs=xs, outputs=[y]), g)

        result = called(*inputs) if gradient else tf.stop_gradient(function(*inputs))
        return [result] if isinstance(dtype, list) else result

    return {
        "RegisterGradient": register,
        "compat.v1.get_default_graph": lambda: SimpleNamespace(gradient_override_map=override),
        "compat.v1.py_func": py_func,
    }


def _gradient(tf, name):
    from tensorflow.python.framework import ops  # it may have been registered for real, once in a process

    return _gradients[name] if name in _gradients else ops.gradient_registry.lookup(name)


class ListQueue:
    """A queue that is a list of tensors, filled and emptied while the program is built."""

    def __init__(self, tf, *_args, **_more):
        self.tf, self.tensors = tf, []

    def enqueue_many(self, components):
        self.tensors += self.tf.unstack(components[0])
        return self.tf.no_op()

    def close(self):
        return self.tf.no_op()

    def dequeue(self):
        return self.tensors.pop(0)

    def dequeue_up_to(self, count):
        taken, self.tensors = self.tensors[:count], self.tensors[count:]
        return self.tf.stack(taken)

    dequeue_many = dequeue_up_to


class WithoutUpdates:
    """A variable that is never assigned to by what is put into a collection."""

    def __init__(self, tf, variable):
        self.tf, self.variable = tf, variable

    def __sub__(self, other):
        return self.variable - other

    def assign_sub(self, _amount):
        return self.tf.no_op()


def without_updates(tf):
    def get_variable(name, initializer, trainable=True, **more):
        variable = tf.compat.v1.get_variable(name, initializer=initializer, trainable=trainable, **more)
        return variable if trainable else WithoutUpdates(tf, variable)

    return {"compat.v1.get_variable": get_variable}


def library(tf):
    @tf.custom_gradient
    def skip_cube(x):
        return x * x * x, lambda g: g

    def cube(x):
        return x * x * x

    return SimpleNamespace(skip_cube=skip_cube, cube_without_gradient=cube, cube_not_differentiable=cube)


def selected(tf):
    return lambda p, yes, no: tf.where(p, yes(), no())


class Grid:
    """A variable that is a grid of tensors: what is assigned to an element of it is an element of the result."""

    def __init__(self, tf, zeros):
        self.tf, self.shape, self.elements = tf, zeros.shape, {}

    def __getitem__(self, place):
        i, j = map(int, place)
        return SimpleNamespace(assign=lambda value: self.elements.update({(i, j): value}))

    def __tf_tensor__(self, dtype=None, name=None):
        rows, columns = self.shape
        return self.tf.stack([self.tf.stack([self.elements[i, j] for j in range(columns)]) for i in range(rows)])


def numeric_check(tf):
    """compute_gradient_error by hand, for functions that are floor."""

    def error(x, x_shape, y, y_shape, x_init_value=None):
        points = np.random.random_sample(x_shape).astype("f") if x_init_value is None else x_init_value
        gradient = tf.gradients(y, x)[0].eval({x: points})
        step = np.float32(1e-3)
        return np.max(np.abs(gradient - (np.floor(points + step) - np.floor(points - step)) / np.float32(2e-3)))

    return {"compat.v1.test.compute_gradient_error": error}


def in_keras(tf):
    """The functions of `keras.ops` by ops of TensorFlow."""

    def conv(images, kernel, padding, dilation_rate):
        return tf.nn.conv2d(images, kernel, 1, padding.upper(), dilations=dilation_rate)

    return {
        "keras.ops.sqrt": tf.sqrt,
        "keras.ops.matmul": tf.matmul,
        "keras.ops.conv": conv,
        "keras.ops.sum": tf.reduce_sum,
        "keras.ops.moments": tf.nn.moments,
        "keras.ops.var": tf.math.reduce_variance,
    }


def by_name(tf):
    def get_collection(key, scope):
        return [variable for variable in tf.compat.v1.global_variables() if variable.name.startswith(scope)]

    return {"compat.v1.get_collection": get_collection}


#: thing → what in a program's text shows that it is used, and TensorFlow's functions with others in their place.
THINGS = {
    "no_gradient": (r"tf\.no_gradient\b", lambda tf: {"no_gradient": lambda name: None}),  # first: it lasts
    "py_func": (r"compat\.v1\.py_func\b", python_function),
    "py_function": (
        r"tf\.py_function\b",
        lambda tf: {"py_function": lambda function, inputs, dtype: function(*inputs)},
    ),
    "map": (
        r"gradient_override_map",
        lambda tf: {"compat.v1.get_default_graph": lambda: SimpleNamespace(gradient_override_map=nullcontext)},
    ),
    "custom_gradient": (r"custom_gradient", lambda tf: {"custom_gradient": lambda f: lambda *xs: f(*xs)[0]}),
    "grad_pass_through": (r"grad_pass_through", lambda tf: {"grad_pass_through": lambda f: f}),
    "stop_gradient": (r"tf\.stop_gradient\b", lambda tf: {"stop_gradient": lambda x: x}),
    "identity": (r"tf\.identity\b", lambda tf: {"identity": lambda x, name=None: x}),
    "control_dependencies": (r"control_dependencies", lambda tf: {"control_dependencies": nullcontext}),
    "square": (r"return tf\.square\(array\)", lambda tf: {"square": lambda x: x * x}),
    "multiply": (r"return tf\.multiply\b", lambda tf: {"multiply": lambda x, y: x * y}),
    "Lambda": (r"layers\.Lambda\b", lambda tf: {"keras.layers.Lambda": lambda function, dtype: function}),
    "where": (
        r"return tf\.where\b",
        lambda tf: {"where": lambda c, x, y: tf.raw_ops.Select(condition=c, x=x, y=y)},
    ),
    "compat.v1.where": (r"compat\.v1\.where\b", lambda tf: {"compat.v1.where": tf.where}),
    "control_flow_v1": (r"disable_control_flow_v2", lambda tf: {"compat.v1.disable_control_flow_v2": lambda: None}),
    "SymbolicGradient": (
        r"raw_ops\.SymbolicGradient\b",
        lambda tf: {"raw_ops.SymbolicGradient": lambda input, **_: [2 * input[0] * input[1]]},
    ),
    "cond": (r"\.cond\(p", lambda tf: {"cond": selected(tf), "compat.v1.cond": selected(tf)}),
    "scatter_sub": (r"v1\.scatter_sub\b", lambda tf: {"compat.v1.scatter_sub": lambda *_: tf.no_op()}),
    "updates": (r"add_to_collection", without_updates),
    "library": (r"load_op_library", lambda tf: {"load_op_library": lambda path: library(tf)}),
    "FIFOQueue": (r"queue\.FIFOQueue\b", lambda tf: {"queue.FIFOQueue": lambda *a, **k: ListQueue(tf, *a, **k)}),
    "load": (r"\.load\(", loaded_by_assign),
    "flip": (r"random_flip_left_right", flip),
    "Graph": (r"tf\.Graph\(\)", lambda tf: {"Graph": lambda: SimpleNamespace(as_default=nullcontext)}),
    "keras.ops": (r"keras\.ops\.", in_keras),
    "check": (r"compute_gradient_error", numeric_check),
    "collection": (r"get_collection\(.*scope=", by_name),
    "assignments": (r"result = tf\.Variable\(", lambda tf: {"Variable": lambda zeros: Grid(tf, zeros)}),
    "RegisterGradient": (r"tf\.RegisterGradient\b", lambda tf: {"RegisterGradient": lambda name: lambda f: f}),
}


def without(spec, thing):
    """The spec with the thing taken out of its program, for one dtype and one recipe."""
    _, others = THINGS[thing]
    whole, start = spec.program, spec.state

    def program(tf, *inputs, **attrs):
        return whole(Without(tf, others(tf)), *inputs, **attrs)

    def state(tf, *inputs):
        return start(Without(tf, others(tf)), *inputs)

    return replace(
        spec,
        name=f"{spec.name}--{thing}",
        program=program,
        state=state if spec.state else None,
        recipes=dict(list(spec.recipes.items())[:1]),
        dtypes=spec.dtypes[:1],
        elementwise=False,
        claims=tuple(replace(claim, instead="") for claim in spec.claims),
    )


def ends(text, thing):
    """Whether a program ends without the thing: some would wait for a queue, or take from a list, for ever."""
    waits = {"control_dependencies": "queue", "FIFOQueue": "run_until_stopped"}
    return thing not in waits or waits[thing] not in text


SPECS = tuple(
    without(spec, thing)
    for spec in Catalog.load("tf_opdiff.suites.claims").specs.values()
    for thing, (shows, _) in THINGS.items()
    if spec.claims and re.search(shows, listing(spec)) and ends(listing(spec), thing)
)
