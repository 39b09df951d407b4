"""Python functions as ops: PyFunc, PyFuncStateless, EagerPyFunc. They run on the host, and XLA refuses them; executed
eagerly, `py_func` and `numpy_function` are no op at all but a call of the function."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS, bit_patterns, empty, matrix, plain, scalar
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.references.overrides import registered


def arbitrary(draw, dtype):
    """Any bits at all; any text."""
    return plain(draw, dtype) if dtype.kind == "S" else bit_patterns(draw, dtype)


SHAPES = {"empty": empty, "scalar": scalar, "vector": arbitrary}
#: Refusing an empty tensor of strings, XLA may abort, depending on what the process compiled before: no contract can
#: hold it to that. https://github.com/tensorflow/tensorflow/issues/120244
STRINGS = {"scalar": scalar, "vector": arbitrary}
EXCEPT_XLA = ("eager", "function", "graph")


def numpy_function(tf, function, inputs, dtypes):
    """`tf.numpy_function`."""
    return tf.numpy_function(function, inputs, dtypes)


def py_func(tf, function, inputs, dtypes):
    """`tf.compat.v1.py_func`, stateful."""
    return tf.compat.v1.py_func(function, inputs, dtypes)


def py_func_stateless(tf, function, inputs, dtypes):
    """`tf.compat.v1.py_func`, stateless."""
    return tf.compat.v1.py_func(function, inputs, dtypes, stateful=False)


def py_function(tf, function, inputs, dtypes):
    """`tf.py_function`."""
    return tf.py_function(function, inputs, dtypes)


def op(name, eager=""):
    """The OpDef by mode: none in eager mode, unless said; XLA refuses before there is a graph to look at."""
    return {"eager": eager, "function": name, "graph": name}


#: name, how to call it, the OpDef by mode: those whose function takes and gives NumPy arrays, and all of them.
NUMPY = (
    ("numpy-function", numpy_function, op("PyFunc")),
    ("py-func", py_func, op("PyFunc")),
    ("py-func-stateless", py_func_stateless, op("PyFuncStateless")),
)
ALL = (*NUMPY, ("py-function", py_function, op("EagerPyFunc", "EagerPyFunc")))

XLA = {
    "*/xla": Side(
        reference=lambda *inputs: Raises("INVALID_ARGUMENT", "unsupported operations"),
        why="not compatible with XLA: calling it inside tf.function(jit_compile=True) raises an error",
        link="https://www.tensorflow.org/api_docs/python/tf/numpy_function",
    )
}
SOURCE = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/ops/script_ops.py"
PY_FUNC = "https://www.tensorflow.org/api_docs/python/tf/compat/v1/py_func"
PY_FUNCTION = "https://www.tensorflow.org/api_docs/python/tf/py_function"
SESSION = "https://www.tensorflow.org/api_docs/python/tf/compat/v1/Session#run"
ON_DEVICE = "tf.py_function can be placed on GPUs and wraps functions that take Tensors as inputs"


def eagerly(reference, vjp=None, name="numpy-function"):
    """The contract of what eager mode does otherwise, for functions that are not an op there."""
    why = "executed eagerly, the function is called, and its result converted: there is no op"
    side = {"*/eager": Side(reference=reference, vjp=vjp, why=why, link=SOURCE)}
    return XLA if name == "py-function" else XLA | side


def backwards(x):
    """A function of any dtype, whose result shows what arrived and in which order."""
    return np.ravel(x)[::-1]


def reversing(tf, x):
    """`backwards` of an array or of a tensor."""
    return tf.reshape(x, [-1])[::-1] if tf.is_tensor(x) else backwards(x)


def square(x):
    """A function whose derivative is 2x, for `half` to override."""
    return x * x


def half(g, x):
    """The overriding gradient: half the true one."""
    return g * x


def squaring(call):
    """A program that squares."""
    return lambda tf, x: tf.ensure_shape(call(tf, square, [x], x.dtype), x.shape)


TAPE = "a tape records an op by its type and never sees the mark that the map left on the node"
TAPE_LINK = "https://github.com/tensorflow/tensorflow/issues/36870"


def taped(vjp):
    """The contract of a map where a tape sees the op itself: the gradient is what it is without a map."""
    side = Side(reference=square, vjp=vjp, why=TAPE, link=TAPE_LINK)
    return XLA | {"*/eager": side, "*/function": side}


def mapped(call, name):
    """A program that squares under a gradient override map."""

    def program(tf, x):
        gradient = registered(tf, "HalfSquare", lambda op, g: half(g, op.inputs[0]))
        with tf.compat.v1.get_default_graph().gradient_override_map({name: gradient}):
            return squaring(call)(tf, x)

    return program


def called(program):
    """The program as a `tf.function` of its own, whose graph is then what gets differentiated."""
    return lambda tf, x: tf.function(lambda x: program(tf, x), autograph=False)(x)


def wrapped(call):
    """A program that squares within `tf.custom_gradient`."""

    def program(tf, x):
        @tf.custom_gradient
        def squared(x):
            return squaring(call)(tf, x), lambda g: half(g, x)

        return squared(x)

    return program


#: What becomes of an exception, by the class that TensorFlow looks for; a subclass counts as its base.
#: https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/lib/core/py_func.cc
ERRORS = (
    (MemoryError, "RESOURCE_EXHAUSTED"),
    (NotImplementedError, "UNIMPLEMENTED"),
    (StopIteration, "OUT_OF_RANGE"),
    (TypeError, "INVALID_ARGUMENT"),
    (UnicodeError, "INVALID_ARGUMENT"),
    (ValueError, "INVALID_ARGUMENT"),
    (ArithmeticError, "UNKNOWN"),
    (AssertionError, "UNKNOWN"),
    (KeyError, "UNKNOWN"),
    (OSError, "UNKNOWN"),
    (RecursionError, "UNKNOWN"),
    (RuntimeError, "UNKNOWN"),
    (TimeoutError, "UNKNOWN"),
)
RAISING: dict[str, Any] = {
    e.__name__.lower(): lambda draw, d, i=i: (draw.values(d, 3), np.int32(i)) for i, (e, _) in enumerate(ERRORS)
}


def failing(x, which):
    """Raises the exception of that number."""
    raise ERRORS[int(which)][0]("planted")


def failing_op(tf):
    """Raises an error of TensorFlow's own, as an op inside the function would."""
    raise tf.errors.NotFoundError(None, None, "planted")


def borrowed(x):
    """Whether the function got an array, and whether that array's memory is not its own."""
    return np.array([isinstance(x, np.ndarray), not x.flags.owndata])


def on_host(tf, call, function, x):
    """A call pinned to the host."""
    with tf.device("CPU:0"):
        return call(tf, function, [x], x.dtype)


def positive(draw, dtype):
    """Numbers away from zero, whose integer parts differ from them."""
    return (draw.uniform(3, 5, low=1.25, high=9.75).astype(dtype),)


def counting(state, function):
    """The function, noting each call."""

    def called(*inputs):
        state["calls"].append(None)
        return function(*inputs)

    return called


def calls(tf, x):
    """The state of a program that counts calls."""
    return {"calls": []}


def unused(call):
    """A program that calls a function three times, two of them alike, and uses the result of two."""

    def program(tf, state, x):
        function = counting(state, lambda x: x + x)
        call(tf, function, [x], x.dtype)
        return tf.stack([call(tf, function, [x], x.dtype) for _ in range(2)])

    return program


def constant(call):
    """A program that calls a function of a constant."""
    return lambda tf, state, x: x * call(tf, counting(state, lambda x: x + x), [tf.constant(1, x.dtype)], x.dtype)


def shared(call):
    """A program that runs one traced call twice, on the same argument."""

    def program(tf, state, x):
        traced = tf.function(lambda x: call(tf, counting(state, lambda x: x + x), [x], x.dtype), autograph=False)
        return tf.stack([traced(x), traced(x)])

    return program


def counted(output, number):
    """A reference for three runs of a program: its output each time, and how often Python was called in all."""
    return lambda x: (np.stack([output(x)] * 3), {"calls": np.int64(number)})


#: For each program that counts calls: the op that takes the results, the output, the calls by three runs, and by those
#: of a stateless function in a `tf.function` and in a session: Grappler folds, merges and prunes what is not stateful.
COUNTS = (
    ("constant", constant, "Mul", lambda x: 2 * x, 3, 1, 1),
    ("shared", shared, "Pack", lambda x: np.stack([2 * x, 2 * x]), 6, 3, 3),
    ("unused", unused, "Pack", lambda x: np.stack([2 * x, 2 * x]), 9, 6, 6),
)
OPTIMIZED = "optimizations such as common sub-expression elimination are only performed on stateless operations"
PRUNED = "a session runs only what its fetches need"


def counts(name, call, ops, what, program, taker, output, all_of_them, in_function, in_graph):
    """The spec of how often a Python function is called by three runs."""
    fewer = {}
    if name == "py-func-stateless":
        fewer["*/function"] = Side(reference=counted(output, in_function), why=OPTIMIZED, link=PY_FUNC)
        fewer["*/graph"] = Side(reference=counted(output, in_graph), why=OPTIMIZED, link=PY_FUNC)
    elif what == "unused":
        fewer["*/graph"] = Side(reference=counted(output, in_graph), why=PRUNED, link=SESSION)
    return Spec(
        name=f"{name}-calls-{what}",
        ops={mode: f"{name};{taker}" for mode, name in ops.items()},
        state=calls,
        steps=3,
        program=program(call),
        reference=counted(output, all_of_them),
        recipes={"matrix": matrix},
        contract=XLA | fewer,
    )


def declares(name, call, ops, what, gives, says, eager, declared=lambda t: t):
    """The spec of a function that gives something else than `Tout` declares."""
    return Spec(
        name=f"{name}-tout-{what}",
        ops=ops,
        program=lambda tf, x: call(tf, lambda a: gives(tf, a), [x], declared(x.dtype)),
        reference=lambda x: Raises("INVALID_ARGUMENT", says),
        recipes={"matrix": matrix},
        contract=eagerly(eager, name=name),
    )


def given_none(tf, call, x):
    """What becomes of None where a tensor was declared; the input stands for None, which is no tensor."""
    y = call(tf, lambda a: None, [x], x.dtype)
    return x if y is None else y


SPECS = (
    *(
        Spec(
            name=f"{name}-calls-gradient",
            ops=ops,
            state=calls,
            program=lambda tf, state, x, call=call: squaring(
                lambda tf, function, *rest: call(tf, counting(state, function), *rest)
            )(tf, x),
            reference=lambda x: (x * x, {"calls": np.int64(1)}),
            vjp=lambda g, x: 2 * x * g,
            ulp={"output[0]": 0.5, "grad": 0.5},
            recipes={"matrix": matrix},
            contract=XLA,
        )
        for name, call, ops in ALL[3:]
    ),
    *(counts(*each, *counting_what) for each in ALL for counting_what in COUNTS),
    *(
        Spec(
            name=f"{name}-custom-gradient",
            ops=ops,
            program=wrapped(call),
            reference=square,
            vjp=half,
            ulp={"output": 0.5, "grad": 0.5},
            recipes={"matrix": matrix},
            dtypes=FLOATS,
            contract=XLA,
        )
        for name, call, ops in ALL
    ),
    *(
        Spec(
            name=f"{name}-error",
            ops=ops,
            program=lambda tf, x, which, call=call: call(tf, failing, [x, which], x.dtype),
            reference=lambda x, which: Raises(ERRORS[which][1], ERRORS[which][0].__name__),
            recipes=RAISING,
            contract=eagerly(lambda x, which: Raises(ERRORS[which][0].__name__, "planted"), name=name),
            tier="smoke" if name == "numpy-function" else "default",
        )
        for name, call, ops in ALL
    ),
    *(
        Spec(
            name=f"{name}-error-of-tensorflow",  # which loses its code
            ops=ops,
            program=lambda tf, x, call=call: call(tf, lambda a: failing_op(tf), [x], x.dtype),
            reference=lambda x: Raises("UNKNOWN", "NotFoundError: planted"),
            recipes={"matrix": matrix},
            contract=eagerly(lambda x: Raises("NOT_FOUND", "planted"), name=name),
        )
        for name, call, ops in ALL
    ),
    *(
        Spec(
            name=f"{name}-memory",
            ops=ops,
            program=lambda tf, x, call=call: call(tf, borrowed, [x], tf.bool),
            constant=("output[0]",),  # it tells of the array, not of what is in it
            reference=lambda x: np.array([True, True]),
            recipes={"matrix": matrix},
            contract=eagerly(lambda x: np.array([True, False])),
        )
        for name, call, ops in NUMPY
    ),
    *(
        Spec(
            name=f"{name}-override-called-map",
            ops=op(ops["graph"], ops["graph"]),
            program=called(mapped(call, ops["graph"])),
            reference=square,
            vjp=half,
            ulp={"output": 0.5, "grad": 0.5},
            recipes={"matrix": matrix},
            dtypes=FLOATS,
            contract=XLA,
        )
        for name, call, ops in ALL
    ),
    *(
        Spec(
            name=f"{name}-override-map",
            ops=ops,
            program=mapped(call, ops["graph"]),
            reference=square,
            vjp=half,
            ulp={"output": 0.5, "grad": 0.5},
            recipes={"matrix": matrix},
            contract=taped((lambda g, x: 2 * x * g) if call == py_function else lambda g, x: None),
        )
        for name, call, ops in ALL
    ),
    *(
        Spec(
            name=f"{name}-pinned",  # to the host, between ops on the plan's device
            ops="Neg",
            state=calls,
            program=lambda tf, state, x, call=call: -on_host(tf, call, counting(state, backwards), -x),
            reference=lambda x: (backwards(x), {"calls": np.int64(1)}),
            recipes={"matrix": matrix},
            contract=XLA,
        )
        for name, call, _ in NUMPY[:1]
    ),
    *(
        declares(
            *each,
            "dtype",
            lambda tf, a: a.astype(np.int32),
            "is int32, but expects float",
            lambda x: x.astype(np.int32),
        )
        for each in NUMPY
    ),
    *(
        declares(
            *each,
            "too-few",
            lambda tf, a: a + a,
            "returns 1 values, but expects to see 2",
            lambda x: x + x,
            lambda t: [t, t],
        )
        for each in ALL
    ),
    *(
        declares(
            *each, "too-many", lambda tf, a: [a, a + a], "returns 2 values, but expects to see 1", lambda x: (x, x + x)
        )
        for each in ALL
    ),
    *(
        Spec(
            name=f"{name}-tout-none",
            ops=ops,
            program=lambda tf, x, call=call: given_none(tf, call, x),
            reference=lambda x: Raises("INVALID_ARGUMENT", "returns 0 values, but expects to see 1"),
            recipes={"matrix": matrix},
            contract=eagerly(lambda x: x, name=name),
        )
        for name, call, ops in ALL
    ),
    *(
        Spec(
            name=f"{name}-strings{suffix}",
            ops=ops,
            program=lambda tf, x, call=call: call(tf, lambda a: reversing(tf, a), [x], x.dtype),
            reference=backwards,
            recipes=recipes,
            modes=modes,
            dtypes=("bytes",),
            contract=XLA,
        )
        for name, call, ops in ALL
        for suffix, recipes, modes in (("", STRINGS, MODES), ("-empty", {"empty": empty}, EXCEPT_XLA))
    ),
    *(
        Spec(
            name=f"{name}-values",
            ops=ops,
            program=lambda tf, x, call=call: call(tf, backwards, [x], x.dtype),
            reference=backwards,
            vjp=lambda g, x: None,
            recipes=SHAPES,
            dtypes=(*FLOATS, *INTEGERS, *COMPLEX, "bool") if name == "numpy-function" else ("float32",),
            contract=XLA,
        )
        for name, call, ops in NUMPY
    ),
    Spec(
        name="py-function-device",
        ops=op("EagerPyFunc", "EagerPyFunc"),
        program=lambda tf, x: py_function(tf, lambda t: tf.constant("device:CPU" in t.backing_device), [x], tf.bool),
        reference=lambda x: np.array(True),
        recipes={"matrix": matrix},
        contract=XLA | {"gpu/*": Side(reference=lambda x: np.array(False), why=ON_DEVICE, link=PY_FUNCTION)},
    ),
    Spec(
        name="py-function-gradient",
        ops=op("EagerPyFunc", "EagerPyFunc"),
        program=squaring(py_function),
        reference=square,
        vjp=lambda g, x: 2 * x * g,
        ulp={"output": 0.5, "grad": 0.5},
        recipes={"empty": empty, "matrix": matrix, "scalar": scalar},
        dtypes=FLOATS,
        contract=XLA,
        tier="smoke",
    ),
    declares(
        *ALL[3],
        "dtype",
        lambda tf, a: tf.cast(a, tf.int32),
        "requested dtype float32 for Tensor with dtype int32",
        None,
    ),
    Spec(
        name="py-function-tout-numpy",  # an array, unlike a tensor, is converted to what was declared
        ops=op("EagerPyFunc", "EagerPyFunc"),
        program=lambda tf, x: py_function(tf, lambda t: t.numpy().astype(np.int32), [x], x.dtype),
        reference=np.trunc,
        recipes={"matrix": positive},
        contract=XLA,
    ),
    *(
        Spec(
            name=name,
            ops=op("EagerPyFunc", "EagerPyFunc"),
            program=lambda tf, x: py_function(tf, lambda t: reversing(tf, t), [x], x.dtype),
            reference=backwards,
            vjp=vjp,
            recipes=SHAPES,
            dtypes=dtypes,
            contract=XLA,
        )
        for name, dtypes, vjp in (
            ("py-function-rough", (*INTEGERS, "bool"), lambda g, x: None),
            ("py-function-values", (*FLOATS, *COMPLEX), lambda g, x: g[::-1].reshape(x.shape)),
        )
    ),
)
