"""TensorFlow state: what an op can change in its device server and leave changed for the ops after it.

Imported in device servers only.
"""

from __future__ import annotations

import builtins
import contextlib
import logging
import sys
from collections.abc import Callable, Mapping
from operator import itemgetter
from types import ModuleType
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.autograph.utils import ag_logging
from tensorflow.python.eager import context
from tensorflow.python.framework import config, ops, stack, tensor
from tensorflow.python.ops import stateful_random_ops
from tensorflow.python.util import traceback_utils

from tf_opdiff.harness.device.programs.call_counts import is_counting
from tf_opdiff.harness.system import process_state
from tf_opdiff.harness.system.changes import Names, Values

#: Attributes of the eager context, and switches of modules, that change while TensorFlow works: these are no settings.
_WORKING = {"_tensor_cache_deleter", "_initialize_lock", "_device_lock", "_context_handle", "_context_devices", "_rng"}
_NOTES = {"_non_mixed_precision_session_created", "_creating_default_strategy_singleton", "_logged_compatibility_check"}
#: Settings that are dicts or lists: only a copy shows what was in them.
_CONTAINERS = [name for name, value in vars(context.context()).items() if isinstance(value, (dict, list))]
_Read = Mapping[str, Callable[[], Any]]


def _context() -> dict[str, Any]:
    """The settings of the eager context."""
    now = {"context": context.context(), **vars(context.context())}
    for name in _WORKING:
        now.pop(name, None)
    for name in _CONTAINERS:
        now[name] = now[name].copy()
    return now


def _of_thread() -> dict[str, Any]:
    """The settings of the eager context for this thread; and the graphs, sessions and modes that are entered."""
    data: Any = context.context()._thread_local_data
    graphs: Any = ops._default_graph_stack
    sessions: Any = stack._default_session_stack
    modes: Any = context.context().context_switches
    return {
        "is_eager": data.is_eager,
        "device_name": data.device_name,
        "scope_name": data.scope_name,
        "executor": data.executor,
        "op_callbacks": list(data.op_callbacks),
        "graphs": list(graphs.stack),
        "sessions": list(sessions.stack),
        "modes": len(modes.stack),
    }


def _switches() -> Callable[[], dict[str, bool]]:
    """A function that reads the switches of TensorFlow: variables of its modules that are true or false."""
    places = [
        (f"{module}.{name}", variables, name)
        for module, variables in ((m, vars(sys.modules[m])) for m in sys.modules if m.startswith("tensorflow.python."))
        for name, value in variables.items()
        if isinstance(value, bool) and not (name.startswith("_tfmw") or name.endswith("warned") or name in _NOTES)
    ]
    return lambda: {label: variables[name] for label, variables, name in places}


def _keras() -> dict[str, Any]:
    """The settings of Keras that are others than after its import; a server imports it for the first op that needs it.

    The import reads them from a file, and keeps what it read.
    """
    settings: Any = sys.modules.get("keras.src.backend.config")
    state: Any = sys.modules.get("keras.src.backend.common.global_state")
    if settings is None or state is None:
        return {}
    read = {"floatx": "float32", "epsilon": 1e-7, "image_data_format": "channels_last"}
    read = {name: getattr(settings, f"_{name}", default) for name, default in read.items()}
    now = {name: getattr(settings, f"_{name.upper()}") for name in read}
    policy = getattr(state.GLOBAL_STATE_TRACKER, "dtype_policy", None)
    if policy is not None:  # without one, Keras makes that of floatx when a layer needs it
        read["dtype_policy"], now["dtype_policy"] = read["floatx"], policy.name
    return {name: value for name, value in now.items() if value != read[name]}


def _gradients() -> Mapping[str, Any]:
    registry: Any = ops.gradient_registry._registry
    return registry


def _gradient_functions(registry: Mapping[str, Any]) -> list[Any]:
    """The gradient function of each type of op; who replaces one changes its entry, or makes another entry."""
    return list(map(itemgetter("type"), registry.values()))


def _is_ours(replacement: Any) -> bool:
    """Whether the harness or TensorFlow itself replaced a function or module: by a counting or a loaded one."""
    return is_counting(replacement) or isinstance(replacement, ModuleType)


_OF_TENSORFLOW: _Read = {
    "eager context": _context,
    "eager context of the thread": _of_thread,
    "tf.config tensor_float_32_execution": tf.config.experimental.tensor_float_32_execution_enabled,
    "tf.config op_determinism": config.is_op_determinism_enabled,
    "tf.debugging traceback_filtering": traceback_utils.is_traceback_filtering_enabled,
    "tf.autograph verbosity": lambda: ag_logging.verbosity_level,
    "tf.random global generator": lambda: stateful_random_ops.global_generator,
    "TensorFlow's logger": lambda: logging.getLogger("tensorflow").level,
    "Keras": _keras,
}

#: Names by which programs call functions, and the objects that they stand for.
_NAMESPACES: Mapping[str, Callable[[], Mapping[str, Any]]] = {
    "builtins": lambda: vars(builtins),
    "np": lambda: vars(np),
    "np.linalg": lambda: vars(np.linalg),
    "tf": lambda: vars(tf),
    "tf.math": lambda: vars(tf.math),
    "tf.nn": lambda: vars(tf.nn),
    "tf.Tensor": lambda: vars(tensor.Tensor),
}


class ServerState:
    """The settings of a device server and of its TensorFlow, as they were before its first op."""

    def __init__(self) -> None:
        """Starts TensorFlow's devices, which sets a few of them."""
        with contextlib.suppress(Exception):  # the first op raises it again
            context.ensure_initialized()
        shared = {name: setting.read for name, setting in process_state.SHARED.items()}
        switches = {"switches of TensorFlow": _switches()}
        self._values = Values({**shared, **process_state.OF_SERVERS, **_OF_TENSORFLOW, **switches})
        self._names = [Names(about, namespace, meant=_is_ours) for about, namespace in _NAMESPACES.items()]
        self._names.append(Names("gradient functions", _gradients, _gradient_functions))

    def left_behind(self) -> str:
        """The changes that ops left since the start, in words; empty if there are none. Cancels their timers.

        An alarm would end the process in the middle of an answer.
        """
        changes = self._values.changes() + [change for names in self._names for change in names.changes()]
        if changes:
            process_state.cancel_timers()
        return "; ".join(changes)
