"""Planted faults: programs that really do what a device server, a placer or a kernel may do wrong."""

import ctypes
import itertools
import os
import signal
import sys
import threading
import time

import numpy as np

from tf_opdiff.harness.device.processes.channel import Channel
from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.spec import Raises, Side, Spec

ONE = {"plain": plain}
TWO = {"first": plain, "second": plain}


def _now(action):
    """Runs a Python action when the program runs, in every mode, and hands the tensor through."""

    def program(tf, x):
        def act(value):
            action()
            return value

        return tf.ensure_shape(tf.numpy_function(act, [x], x.dtype), x.shape)

    return program


def _hold_the_gil():
    ctypes.PyDLL(None).sleep(600)


def _segfault():
    ctypes.string_at(0)


def _exhaust_memory():
    held = []
    while True:
        held.append(np.empty(1 << 24))  # the limit counts what is allocated, written or not


def _close_every_file():
    os.closerange(0, 4096)


def _close_every_file_and_live_on():
    _close_every_file()
    threading.Event().wait()


def _abort_leaving_a_child():
    """The child has the pipe to the worker open, and that to the log."""
    child = os.fork()
    if not child:
        time.sleep(600)
    print(f"child {child}", file=sys.stderr, flush=True)
    os.abort()


def _stop_in_the_answer():
    """The process stops itself after a part of its answer."""

    def push(channel):
        channel._end.send(channel._unsent[:100_000])
        os.kill(os.getpid(), signal.SIGSTOP)

    Channel._push = push


def _stop_in_the_next_large_request():
    pull = Channel._pull

    def stop(channel):
        pull(channel)
        if not channel.complete:
            os.kill(os.getpid(), signal.SIGSTOP)

    Channel._pull = stop


def _leave_a_thread():
    """It takes the GIL for ever as soon as the process waits for its next request."""
    main = threading.main_thread().ident

    def take():
        while sys._current_frames()[main].f_code is not Channel._pull.__code__:
            time.sleep(0.001)
        _hold_the_gil()

    threading.Thread(target=take, daemon=True).start()


#: A byte that no program may change, in each process.
_MEMORY = ctypes.c_byte(0)


def _damage_memory():
    _MEMORY.value = 1


def _abort_if_memory_is_damaged():
    if _MEMORY.value:
        os.abort()


def _write_much():
    for n in range(1 << 9):
        os.write(2, f"line {n} ".encode() * (1 << 13) + b"\n")
    os.write(2, b"last words\n")


def _large(draw, dtype):
    return (np.zeros(1 << 20, dtype),)


def _handle(tf, x):
    return tf.raw_ops.VarHandleOp(dtype=x.dtype, shape=x.shape, shared_name="planted")


def _list_handle(tf, x):
    return tf.raw_ops.EmptyTensorList(
        element_shape=tf.constant([], tf.int32), max_num_elements=3, element_dtype=x.dtype
    )


def _fetched_handle(tf, session, x):
    with session() as s:
        return s.run(_handle(tf, tf.identity(tf.constant(x))))


def _altered(change):
    """Floor, with the output of its kernel changed."""
    return lambda tf, x: change(tf, tf.floor(x))


def _none(g, x):
    return None


def _same(x):
    return x


def lethal(name, action, modes=("eager", "graph")):
    return Spec(name=name, program=_now(action), reference=_same, recipes=TWO, ops="", modes=modes)


def stopping(name, action, **recipes):
    return Spec(name=name, program=_now(action), reference=_same, recipes=recipes, ops="", modes=("eager",))


def floor(name, program, **more):
    defaults = {"reference": np.floor, "vjp": _none, "recipes": ONE, "ops": "Floor"}
    return Spec(name=name, program=program, **defaults | more)


LETHAL = (
    lethal("aborts", os.abort),
    lethal("segfaults", _segfault),
    lethal("exits", lambda: os._exit(7)),
    lethal("is-killed", lambda: os.kill(os.getpid(), signal.SIGKILL)),
    lethal("exhausts-memory", _exhaust_memory, modes=("eager",)),
    lethal("writes-and-aborts", lambda: (sys.stderr.write("last words\n"), sys.stderr.flush(), os.abort())),
)
DAMAGING = (
    lethal("damages-memory", _damage_memory, modes=("eager",)),
    lethal("aborts-in-damaged-memory", _abort_if_memory_is_damaged, modes=("eager",)),
)
HANGING = (
    lethal("hangs", lambda: threading.Event().wait(), modes=("eager",)),
    lethal("hangs-with-the-gil", _hold_the_gil, modes=("eager",)),
)
OUT_OF_REACH = (
    stopping("closes-every-file", _close_every_file, plain=plain),
    stopping("closes-every-file-and-lives-on", _close_every_file_and_live_on, plain=plain),
    stopping("forks", os.fork, first=plain, second=plain),
    stopping("aborts-leaving-a-child", _abort_leaving_a_child, plain=plain),
    stopping("stops-in-its-answer", _stop_in_the_answer, large=_large),
    stopping("stops-in-the-next-large-request", _stop_in_the_next_large_request, plain=plain, large=_large),
    stopping("leaves-a-thread", _leave_a_thread, plain=plain),
    stopping("writes-much", _write_much, plain=plain),
    stopping("writes-much-and-aborts", lambda: (_write_much(), os.abort()), plain=plain),
)
HANDLES = (
    floor("gives-a-handle", _handle, ops="", vjp=None),
    floor("gives-a-list-handle", _list_handle, ops="", vjp=None),
    floor("fetches-a-handle", _fetched_handle, ops="", vjp=None, sessions=True, modes=("graph",)),
)
ABORTING = (
    # tensorflow issues 117842, 67527
    Spec(
        name="fake-quant-scalar",
        program=lambda tf, x: tf.quantization.fake_quant_with_min_max_vars_per_channel(x, [0.0], [1.0]),
        reference=_same,
        recipes={"scalar": lambda draw, dtype: (draw.values(dtype),)},
        ops="FakeQuantWithMinMaxVarsPerChannel",
        modes=("eager",),
    ),
    Spec(
        name="fused-pad-scalar",
        program=lambda tf, x: tf.raw_ops.FusedPadConv2D(
            input=x, paddings=[[0, 0]] * 4, filter=[[[[1.0]]]], mode="REFLECT", strides=[1] * 4, padding="SAME"
        ),
        reference=_same,
        recipes={"scalar": lambda draw, dtype: (draw.values(dtype),)},
        ops="FusedPadConv2D",
        modes=("eager",),
    ),
)
WRONG = (
    floor("right", lambda tf, x: tf.floor(x)),
    floor("out-of-range", lambda tf, x: tf.gather(tf.floor(x), 10**6 + 0 * tf.cast(x, tf.int32)), vjp=None),
    floor("one-ulp-off", _altered(lambda tf, y: tf.math.nextafter(y, y + 1)), ops="Floor;NextAfter", vjp=None),
    floor("zero-gradient", _altered(lambda tf, y: y), vjp=lambda g, x: np.zeros_like(x)),
    floor("dropped-gradient", _altered(lambda tf, y: y), vjp=lambda g, x: g),
    floor("wrong-either-way", _altered(lambda tf, y: y * np.nan if tf.executing_eagerly() else y + 1), vjp=None),
    floor("wrong-in-eager", _altered(lambda tf, y: y + 1 if tf.executing_eagerly() else y), vjp=None),
    floor("wrong-dtype", _altered(lambda tf, y: tf.cast(y, tf.float64)), vjp=None),
    floor("wrong-shape", _altered(lambda tf, y: y[None]), vjp=None),
    floor("other-op", lambda tf, x: tf.math.ceil(x - 1), vjp=None),
    floor("folded", lambda tf, x: tf.floor(tf.constant([1.5])), reference=lambda x: np.array([1.0]), vjp=None),
    floor("falls-back", lambda tf, x: _on(tf, "GPU:0", x), vjp=None),
    floor("elsewhere", lambda tf, x: _on(tf, "CPU:0", x), vjp=None),
    floor(
        "optimised-away",
        lambda tf, x: tf.identity(x) + 1.0,
        reference=lambda x: x + 1,
        ops="Identity",
        ulp={"output": 0.5},
        vjp=None,
    ),
    floor("broken-reference", lambda tf, x: tf.floor(x), reference=lambda x: 1 / 0),
    floor("suspect-reference", lambda tf, x: tf.floor(x), second=np.ceil),
    floor(
        "no-bfloat16-kernel", lambda tf, x: tf.raw_ops.Rint(x=x), reference=np.rint, ops="Rint", dtypes=("bfloat16",)
    ),
)
CONTRACTS = (
    floor(
        "both-sides",
        lambda tf, x: tf.floor(x) + (1.0 if tf.executing_eagerly() else 0.0),
        vjp=None,
        contract={"*/eager": Side(reference=lambda x: np.floor(x) + 1, why="planted")},
    ),
    floor(
        "side-given-up",
        lambda tf, x: tf.floor(x),
        vjp=None,
        contract={"*/eager": Side(reference=lambda x: Raises("INVALID_ARGUMENT"), why="planted")},
    ),
)


def _on(tf, device, x):
    with tf.device(device):
        return tf.floor(x)


def _poison(tf, x):
    """Leaves the process so that every op that follows fails, as after an illegal access on a GPU."""
    from tensorflow.python.framework import op_callbacks

    def fail(*_, **__):
        raise tf.errors.InternalError(None, None, "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access (planted)")

    op_callbacks.add_op_callback(fail)
    return tf.floor(x)


def _settings(tf, x):
    """What the device server set, as numbers: soft placement, TF32, threads between and within ops."""
    threading = tf.config.threading
    found = (
        tf.config.get_soft_device_placement(),
        tf.config.experimental.tensor_float_32_execution_enabled(),
        threading.get_inter_op_parallelism_threads(),
        threading.get_intra_op_parallelism_threads(),
    )
    return tf.concat([x * 0, tf.constant(found, x.dtype)], 0)


STATE = (
    floor("poisons", _poison, modes=("eager",), vjp=None, recipes=TWO),
    floor("settings", _settings, ops="", vjp=None, reference=lambda x: np.append(x * 0, [0.0, 0.0, 1.0, 1.0])),
)


def _counted(tf, x):
    """Floor plus how often that was asked for."""
    return tf.floor(x) + tf.ensure_shape(tf.numpy_function(lambda: np.float32(next(_RUNS)), [], tf.float32), ())


_RUNS = itertools.count()
_SMALL = 8


def _by_length(tf, x):
    """Floor, with one more where a vector is shorter than a register, and in its gradient."""
    return tf.floor(x) + (x if x.shape.num_elements() < _SMALL else 0 * x)


def _by_length_ulps(ulps):
    """Twice the input; where a vector is shorter than a register, so many ULPs away from zero."""

    def program(tf, x):
        bits = tf.bitcast(x + x, tf.int32) + (ulps if x.shape.num_elements() < _SMALL else 0)
        return tf.bitcast(bits, tf.float32)

    return program


def _halved_second(tf):
    """The square, with a gradient that is right and whose own gradient is half of what it should be."""

    @tf.custom_gradient
    def square(x):
        def vjp(g):
            @tf.custom_gradient
            def slope(g, x):
                return 2 * x * g, lambda h: (2 * x * h, g * h)

            return slope(g, x)

        return tf.square(x), vjp

    return square


AGAIN = (
    floor("drifts", _counted, modes=("eager", "function", "graph"), vjp=None),
    floor(
        "writes-to-its-input",
        lambda tf, x: tf.floor(tf.raw_ops.InplaceUpdate(x=x, i=[3], v=[9.5])),
        reference=lambda x: np.floor(np.where(np.arange(x.size) == 3, 9.5, x)),
        modes=("eager", "function", "graph"),
        vjp=None,
    ),
    floor(
        "writes-to-its-input-with-state",
        lambda tf, state, x: tf.floor(tf.raw_ops.InplaceUpdate(x=x, i=[3], v=[9.5])),
        reference=lambda x: np.floor(np.where(np.arange(x.size) == 3, 9.5, x)),
        state=lambda tf, x: {"v": tf.Variable(1.0)},
        modes=("eager", "function", "graph"),
        vjp=None,
    ),
    floor("by-length", _by_length, vjp=lambda g, x: 0 * g, elementwise=True),
    *(
        Spec(
            name=f"by-length-{ulps}-ulp",
            program=_by_length_ulps(ulps),
            reference=lambda x: 2 * x,
            recipes=ONE,
            ops="Bitcast",
            ulp={"output": 1},
            elementwise=True,
        )
        for ulps in (1, 3)
    ),
    floor("sound", lambda tf, x: tf.floor(x), elementwise=True),
    Spec(
        name="cube",
        program=lambda tf, x: x * x * x,
        reference=lambda x: x**3,
        vjp=lambda g, x: 3 * x**2 * g,
        jvp=lambda t, x: 3 * x**2 * t,
        hvp=lambda g, t, x: 6 * x * g * t,
        recipes=ONE,
        ops="Mul",
        ulp={"output": 1.5, "grad": 4, "jvp": 4, "hvp": 4},
    ),
    Spec(
        name="wrong-forward",
        program=lambda tf, x: _halved_second(tf)(x),
        reference=np.square,
        vjp=lambda g, x: 2 * x * g,
        jvp=lambda t, x: 2 * x * t,
        hvp=lambda g, t, x: 2 * g * t,
        recipes=ONE,
        ops="Square",
        ulp={"output": 0.5, "grad": 1, "jvp": 1, "hvp": 1},
    ),
)


def _counts(tf, state, x):
    """Floor, and a variable that counts how often that was asked for."""
    with tf.control_dependencies([state["calls"].assign_add(1.0)]):
        return tf.floor(x)


def _calls(tf, x):
    return {"calls": tf.Variable(0.0), "untouched": tf.Variable(x)}


def _with_tensorflow(x):
    import tensorflow as tf

    return tf.floor(x).numpy()


BEYOND = (
    floor("two-recipes", lambda tf, x: tf.floor(x), vjp=None, recipes=TWO),
    floor("scan-fails", lambda tf, x: tf.scan(lambda a, b: (a, b), x), vjp=None),
    floor(
        "recomputes",
        lambda tf, x: tf.recompute_grad(lambda y: y * 2.0)(x),
        reference=lambda x: x * 2,
        vjp=lambda g, x: g * 2,
        ops="Mul",
    ),
    floor("gives-two", lambda tf, x: (tf.floor(x), tf.floor(x)), vjp=None),
    floor("gives-two-in-eager", lambda tf, x: (tf.floor(x),) * (1 + tf.executing_eagerly()), vjp=None),
    floor("gives-one", lambda tf, x: tf.floor(x), vjp=None, reference=lambda x: (np.floor(x), np.floor(x))),
    floor("counts", _counts, vjp=None, state=_calls),
    floor(
        "counts-as-promised", _counts, vjp=None, state=_calls, reference=lambda x: (np.floor(x), {"calls": np.ones(())})
    ),
    floor("promises-nothing", lambda tf, x: tf.floor(x), reference=lambda x: ()),
    floor("calls-tensorflow", lambda tf, x: tf.floor(x), reference=_with_tensorflow),
    floor(
        "zeros-like",
        lambda tf, x: tf.zeros_like(tf.floor(x)),  # of a known shape, which is all that a graph then takes
        vjp=None,
        reference=np.zeros_like,
        constant=("output[0]",),
    ),
    floor(
        "floors-in-python", lambda tf, x: tf.numpy_function(np.floor, [x], x.dtype), vjp=None, modes=("eager",), ops=""
    ),
    floor("stops", lambda tf, x: tf.stop_gradient(tf.floor(x))),
    floor("tells-its-shape", lambda tf, x: (tf.floor(x), tf.shape(x)), vjp=None, reference=lambda x: _shaped(x)),
    floor(
        "means-its-shape",
        lambda tf, x: (tf.floor(x), tf.shape(x)),
        vjp=None,
        reference=lambda x: _shaped(x),
        constant=("output[1]",),
    ),
)


def _shaped(x):
    return np.floor(x), np.array(x.shape, np.int32)


SPECS = BEYOND + AGAIN + STATE + LETHAL + DAMAGING + HANGING + OUT_OF_REACH + HANDLES + ABORTING + WRONG + CONTRACTS
