"""Programs that change their process and leave it changed, and programs that leave nothing."""

import builtins
import ctypes
import faulthandler
import gc
import locale
import logging
import os
import platform
import resource
import signal
import socket
import sys
import tempfile
import threading
import warnings

import numpy as np

from tf_opdiff.harness.tests.planted_specs.planted import floor

_HELD = []


def _flush_subnormals(tf):
    """Sets flush-to-zero and denormals-are-zero of x86-64, or FZ of arm64, as libraries of `-ffast-math` do."""
    at, bits = {"x86_64": (28, 0x8040), "aarch64": (0, 1 << 24)}[platform.machine()]
    state = ctypes.create_string_buffer(64)
    library = ctypes.CDLL(None)
    library.fegetenv(state)
    control = int.from_bytes(state.raw[at : at + 4], "little") | bits
    state[at : at + 4] = control.to_bytes(4, "little")
    library.fesetenv(state)


def _enter_a_graph(tf):
    scope = tf.Graph().as_default()
    scope.__enter__()
    _HELD.append(scope)


def _replace_a_gradient_function(tf):
    from tensorflow.python.framework import ops

    ops.gradient_registry._registry["Relu"]["type"] = lambda op, g: g


def _lower_a_limit(tf):
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, most))


def _limit_to_one_processor(tf):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def _set_more_of_keras(tf):
    tf.keras.backend.set_epsilon(1e-3)
    tf.keras.backend.set_image_data_format("channels_first")
    tf.keras.mixed_precision.set_global_policy("mixed_float16")


#: What each change is, and the words that name it in a record.
CHANGES = {
    "functions that run eagerly": (lambda tf: tf.config.run_functions_eagerly(True), "RUN_FUNCTIONS_EAGERLY"),
    "soft placement": (lambda tf: tf.config.set_soft_device_placement(True), "_soft_device_placement"),
    "log of placement": (lambda tf: tf.debugging.set_log_device_placement(True), "_log_device_placement"),
    "XLA for all": (lambda tf: tf.config.optimizer.set_jit(True), "_optimizer_jit"),
    "optimizer options": (
        lambda tf: tf.config.optimizer.set_experimental_options({"constant_folding": False}),
        "_optimizer_experimental_options",
    ),
    "TF32": (lambda tf: tf.config.experimental.enable_tensor_float_32_execution(True), "tensor_float_32"),
    "op determinism": (lambda tf: tf.config.experimental.enable_op_determinism(), "op_determinism"),
    "numerics checks": (lambda tf: tf.debugging.enable_check_numerics(), "op_callbacks"),
    "asynchronous execution": (
        lambda tf: tf.config.experimental.set_synchronous_execution(False),
        "eager context",
    ),
    "seed": (lambda tf: tf.random.set_seed(3), "_seed"),
    "global generator": (
        lambda tf: tf.random.set_global_generator(tf.random.Generator.from_seed(3)),
        "tf.random global generator",
    ),
    "v1 control flow": (lambda tf: tf.compat.v1.disable_control_flow_v2(), "ENABLE_CONTROL_FLOW_V2"),
    "v1 variables": (lambda tf: tf.compat.v1.disable_resource_variables(), "_DEFAULT_USE_RESOURCE"),
    "equality of tensors": (lambda tf: tf.compat.v1.disable_tensor_equality(), "tf.Tensor: _USE_EQUALITY"),
    "debug mode of tf.data": (lambda tf: tf.data.experimental.enable_debug_mode(), "DEBUG_MODE"),
    "verbosity": (lambda tf: tf.autograph.set_verbosity(3), "tf.autograph verbosity: was None, is 3"),
    "TensorFlow's logger": (lambda tf: tf.get_logger().setLevel("CRITICAL"), "TensorFlow's logger"),
    "tracebacks": (lambda tf: tf.debugging.disable_traceback_filtering(), "traceback_filtering"),
    "graph": (_enter_a_graph, "graphs"),
    "name scope": (lambda tf: tf.name_scope("left").__enter__(), "scope_name"),
    "gradient function": (_replace_a_gradient_function, "gradient functions: Relu"),
    "function of TensorFlow": (lambda tf: setattr(tf.math, "ceil", tf.math.floor), "tf.math: ceil"),
    "operator of tensors": (lambda tf: setattr(tf.Tensor, "__add__", tf.math.subtract), "tf.Tensor: __add__"),
    "function of NumPy": (lambda tf: setattr(np, "floor", np.ceil), "np: floor"),
    "deleted function of NumPy": (lambda tf: vars(np).pop("trunc", None), "np: trunc"),
    "builtin function": (lambda tf: setattr(builtins, "round", abs), "builtins: round"),
    "floatx of Keras": (lambda tf: tf.keras.backend.set_floatx("float64"), "Keras: floatx"),
    "more of Keras": (_set_more_of_keras, "Keras: epsilon, image_data_format, dtype_policy"),
    "current directory": (lambda tf: os.chdir("/"), "current directory: was "),
    "umask": (lambda tf: os.umask(0o077), "umask: was "),
    "environment": (lambda tf: os.environ.update(PLANTED="1"), "environment variables: PLANTED"),
    "deleted variable": (lambda tf: os.environ.pop("TMPDIR", None), "environment variables: TMPDIR"),
    "recursion limit": (lambda tf: sys.setrecursionlimit(3000), "recursion limit: was 1000, is 3000"),
    "np.seterr": (lambda tf: np.seterr(all="raise"), "np.geterr: "),
    "np.seterrcall": (lambda tf: np.seterrcall(print), "np.geterrcall: was None"),
    "np.set_printoptions": (lambda tf: np.set_printoptions(precision=1), "np.get_printoptions: precision"),
    "flushed subnormals": (_flush_subnormals, "rounding and subnormals: was "),
    "rounding": (lambda tf: ctypes.CDLL(None).fesetround(_UPWARD), "rounding and subnormals: was "),
    "alarm": (lambda tf: signal.alarm(1), "timers: was (False, False, False), is (True, "),
    "profiling timer": (lambda tf: signal.setitimer(signal.ITIMER_PROF, 0.2), "timers: was "),
    "signal mask": (lambda tf: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]), "signal mask: was set()"),
    "signal handler": (lambda tf: signal.signal(signal.SIGUSR2, print), "signal handlers: 12"),
    "garbage collection": (lambda tf: gc.disable(), "garbage collection: was True, is False"),
    "threshold of collections": (lambda tf: gc.set_threshold(1), "gc.get_threshold: was "),
    "callback of collections": (lambda tf: gc.callbacks.append(lambda *_: None), "gc.callbacks: was ()"),
    "locale": (lambda tf: locale.setlocale(locale.LC_NUMERIC, "C.UTF-8"), "locale: was "),
    "sys.path": (lambda tf: sys.path.insert(0, "/nowhere"), "sys.path: was "),
    "import hook": (lambda tf: sys.meta_path.append(_NoFinder), "imports: was "),
    "resource limit": (_lower_a_limit, "resource limits: was "),
    "processors": (_limit_to_one_processor, "processors: was "),
    "priority": (lambda tf: os.nice(1), "priority: was "),
    "warnings as errors": (lambda tf: warnings.simplefilter("error", BytesWarning), "warnings that are errors: was ()"),
    "profile function": (lambda tf: threading.setprofile(print), "tracing: was "),
    "excepthook": (lambda tf: setattr(sys, "excepthook", print), "hooks: was "),
    "stdout": (lambda tf: setattr(sys, "stdout", sys.stderr), "streams: was "),
    "switch interval": (lambda tf: sys.setswitchinterval(1), "sys.getswitchinterval: was 0.005, is 1.0"),
    "digits of integers": (lambda tf: sys.set_int_max_str_digits(700), "int_max_str_digits: was 4300, is 700"),
    "dlopen": (lambda tf: sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL), "sys.getdlopenflags: was "),
    "stack of threads": (lambda tf: threading.stack_size(1 << 20), "threading.stack_size: was 0, is 1048576"),
    "logging": (lambda tf: logging.disable(), "logging: was "),
    "timeout of sockets": (lambda tf: socket.setdefaulttimeout(9), "socket.getdefaulttimeout: was None, is 9.0"),
    "temporary folder": (lambda tf: setattr(tempfile, "tempdir", "/nowhere"), "tempfile.tempdir: was "),
    "faulthandler": (lambda tf: faulthandler.enable(), "faulthandler: was False, is True"),
}
_UPWARD = {"x86_64": 0x800, "aarch64": 0x400000}.get(platform.machine(), 0)


class _NoFinder:
    find_spec = staticmethod(lambda *_: None)


def _then(change):
    def program(tf, x):
        y = tf.floor(x)
        change(tf)
        return y

    return program


def _use_and_restore(tf):
    """What well-behaved programs do: they import Keras, set what they need, draw numbers, and restore."""
    tf.keras.layers.Dense(2)(tf.ones([1, 2]))
    tf.config.run_functions_eagerly(True)
    tf.config.run_functions_eagerly(False)
    with np.errstate(all="raise"), tf.Graph().as_default(), tf.compat.v1.Session() as session:
        session.run(tf.constant(1.0))
    tf.function(tf.sin, jit_compile=True)(1.0)
    warnings.filterwarnings("ignore", "planted")
    np.random.rand()
    tf.random.normal([2])


def _outlive_alarms(tf):
    """Waits as long as an alarm is set, which ends the process."""
    while signal.getitimer(signal.ITIMER_REAL)[0]:
        threading.Event().wait(0.01)


SPECS = (
    *(
        floor(f"leaves-{n}", _then(change), modes=("eager",), vjp=None)
        for n, (change, _) in enumerate(CHANGES.values())
    ),
    floor("restores", _then(_use_and_restore), modes=("eager",), vjp=None),
    floor("neighbour", _then(_outlive_alarms), modes=("eager", "function"), vjp=None),
)
