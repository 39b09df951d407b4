"""Pickling: callables as bytes, with what they need of the user's own modules, of Keras and of TensorFlow."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import cloudpickle
import numpy as np

from tf_opdiff.checking.own_files import is_own_file


def pickled(function: Callable[..., Any]) -> tuple[bytes, bool]:
    """A callable as bytes, and whether it holds variables of TensorFlow.

    The modules of the user that it needs go with it: another process may lack them.

    Raises:
      TypeError: it holds an object that can't be sent to another process.
    """
    __tracebackhide__ = True
    file = io.BytesIO()
    pickler = _Pickler(file)
    try:
        with _own_modules_by_value():
            pickler.dump(function)
    except (TypeError, pickle.PicklingError, ValueError) as why:
        name = getattr(function, "__name__", type(function).__name__)
        raise TypeError(f"check: {name} can't be sent to another process: {why}") from None
    return file.getvalue(), pickler.variables


@dataclass(frozen=True)
class WithGradients:
    """A callable of tensors that needs gradients registered by name; `gradients` has them, pickled, by that name."""

    function: Callable[..., Any]
    gradients: dict[str, bytes]

    def __call__(self, *inputs: Any) -> Any:
        """Registers the gradients that this process lacks, then calls the callable."""
        import tensorflow as tf

        registry = sys.modules["tensorflow.python.framework.ops"].gradient_registry
        for name in self.gradients.keys() - set(registry.list()):
            tf.RegisterGradient(name)(pickle.loads(self.gradients[name]))
        return self.function(*inputs)


def pickled_program(function: Callable[..., Any]) -> tuple[bytes, bool]:
    """As `pickled`; the gradients that the user's modules have registered by `tf.RegisterGradient` go with it.

    Raises:
      TypeError: the callable holds an object that can't be sent to another process.
    """
    __tracebackhide__ = True
    program, variables = pickled(function)
    gradients = {}
    for name, gradient in _own_gradients():
        with suppress(TypeError):  # another callable's gradient must not stop this check
            gradients[name] = pickled(gradient)[0]
    return (pickled(WithGradients(function, gradients))[0] if gradients else program), variables


def _own_gradients() -> Iterator[tuple[str, Callable[..., Any]]]:
    """The gradients in TensorFlow's registry whose source is a file of the user, by name."""
    if "tensorflow" not in sys.modules:
        return
    registry: Any = sys.modules["tensorflow.python.framework.ops"].gradient_registry
    for name in list(registry.list()):
        gradient = registry.lookup(name)
        path = getattr(getattr(gradient, "__code__", None), "co_filename", "")
        if is_own_file(path) and not (getattr(gradient, "__module__", "") or "").startswith("tf_opdiff."):
            yield name, gradient


class _Pickler(cloudpickle.Pickler):
    """Pickles layers of Keras with their classes, and a `tf.function` as its Python function.

    `variables` says whether a variable was among the objects.
    """

    variables = False

    def reducer_override(self, obj: Any) -> Any:
        """How to rebuild an object, where pickle alone cannot."""
        keras, tf = sys.modules.get("keras"), sys.modules.get("tensorflow")
        if tf is not None and isinstance(obj, tf.Variable):
            self.variables = True
        if keras is not None and isinstance(obj, keras.Layer):
            if not obj.built:  # another process would draw other weights
                raise TypeError(f"the Keras layer {obj.name!r} is not built; call it once, so that it has its weights")
            layers = [layer for layer in obj._flatten_layers() if not layer.__module__.startswith("keras.")]
            customs = {type(layer).__name__: type(layer) for layer in layers}
            self.variables |= bool(obj.variables)
            weights = [np.asarray(weight) for weight in obj.get_weights()]
            return rebuilt_layer, (type(obj), obj.get_config(), obj.get_build_config(), weights, customs)
        if type(obj).__module__.startswith("tensorflow.") and hasattr(obj, "python_function"):
            return rebuilt_function, (obj.python_function, bool(getattr(obj, "_jit_compile", None)))
        return super().reducer_override(obj)


def rebuilt_layer(cls: Any, config: Any, build: Any, weights: Any, customs: dict[str, Any]) -> Any:
    """A layer of Keras with the same configuration and weights; called where it is unpickled."""
    import keras

    with keras.saving.custom_object_scope(customs):
        layer = cls.from_config(config)
        if build and not layer.built:
            layer.build_from_config(build)
    layer.set_weights(weights)
    return layer


def rebuilt_function(function: Callable[..., Any], jit_compile: bool) -> Any:
    """A `tf.function`; called where it is unpickled."""
    import tensorflow as tf

    return tf.function(function, jit_compile=jit_compile or None)


@contextmanager
def _own_modules_by_value() -> Iterator[None]:
    """Pickles what modules outside of the installed packages define by its value."""
    already = cloudpickle.list_registry_pickle_by_value()
    own = [module for module in list(sys.modules.values()) if _is_own(module) and module.__name__ not in already]
    for module in own:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in own:
            cloudpickle.unregister_pickle_by_value(module)


def _is_own(module: Any) -> bool:
    """Whether a module belongs to the user, and to no package that is installed or comes with Python."""
    path, name = getattr(module, "__file__", None) or "", getattr(module, "__name__", "")
    return is_own_file(path) and name.partition(".")[0] not in ("__main__", "__mp_main__", "tf_opdiff")
