"""Python functions as ops: what arrives at the function, in which memory, on which device, and what comes back."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS, bit_patterns, empty, matrix, plain, scalar
from tf_opdiff.harness.spec.plan import MODES, WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.forms.contracts import REFUSED_BY_XLA, STRINGS_REFUSED_BY_XLA
from tf_opdiff.suites.forms.programs.py_func import ALL, NUMPY, PY_FUNCTION, calls, counting, py_function
from tf_opdiff.suites.reference.control_flow.py_func import backwards


def arbitrary(draw, dtype):
    """Any bits at all; any text."""
    return plain(draw, dtype) if dtype.kind == "S" else bit_patterns(draw, dtype)


SHAPES = {"empty": empty, "scalar": scalar, "vector": arbitrary}
#: Refusing an empty tensor of strings, XLA may abort, depending on what the process compiled before: no contract can
#: hold it to that. https://github.com/tensorflow/tensorflow/issues/120244
STRINGS = {"scalar": scalar, "vector": arbitrary}


def reversing(tf, x):
    """`backwards` of an array or of a tensor."""
    return tf.reshape(x, [-1])[::-1] if tf.is_tensor(x) else backwards(x)


def borrowed(x):
    """Whether the function got an array, and whether that array's memory is not its own."""
    return np.array([isinstance(x, np.ndarray), not x.flags.owndata])


def on_host(tf, call, function, x):
    """A call pinned to the host."""
    with tf.device("CPU:0"):
        return call(tf, function, [x], x.dtype)


SPECS = (
    *(
        Spec(
            name=f"{api.name}-memory",
            ops=api.ops,
            program=lambda tf, x, call=api.call: call(tf, borrowed, [x], tf.bool),
            constant=("output[0]",),  # it tells of the array, not of what is in it
            reference=lambda x: np.array([True, True]),
            recipes={"matrix": matrix},
            contract=api.contract(lambda x: np.array([True, False])),
        )
        for api in NUMPY
    ),
    *(
        Spec(
            name=f"{api.name}-pinned",  # to the host, between ops on the plan's device
            ops="Neg",
            state=calls,
            program=lambda tf, state, x, call=api.call: -on_host(tf, call, counting(state, backwards), -x),
            reference=lambda x: (backwards(x), {"calls": np.int64(1)}),
            recipes={"matrix": matrix},
            contract=REFUSED_BY_XLA,
        )
        for api in NUMPY[:1]
    ),
    *(
        Spec(
            name=f"{api.name}-strings{suffix}",
            ops=api.ops,
            program=lambda tf, x, call=api.call: call(tf, lambda a: reversing(tf, a), [x], x.dtype),
            reference=backwards,
            recipes=recipes,
            modes=modes,
            dtypes=("bytes",),
            contract=STRINGS_REFUSED_BY_XLA,
        )
        for api in ALL
        for suffix, recipes, modes in (("", STRINGS, MODES), ("-empty", {"empty": empty}, WITHOUT_XLA))
    ),
    *(
        Spec(
            name=f"{api.name}-values",
            ops=api.ops,
            program=lambda tf, x, call=api.call: call(tf, backwards, [x], x.dtype),
            reference=backwards,
            vjp=lambda g, x: None,
            recipes=SHAPES,
            dtypes=(*FLOATS, *INTEGERS, *COMPLEX, "bool") if api is NUMPY[0] else ("float32",),
            contract=REFUSED_BY_XLA,
        )
        for api in NUMPY
    ),
    Spec(
        name="py-function-device",
        ops=PY_FUNCTION.ops,
        program=lambda tf, x: py_function(tf, lambda t: tf.constant("device:CPU" in t.backing_device), [x], tf.bool),
        reference=lambda x: np.array(True),
        recipes={"matrix": matrix},
        contract=REFUSED_BY_XLA
        | {
            "gpu/*": Side(
                reference=lambda x: np.array(False),
                why="tf.py_function can be placed on GPUs and wraps functions that take Tensors as inputs",
                link="https://www.tensorflow.org/api_docs/python/tf/py_function",
            )
        },
    ),
    *(
        Spec(
            name=name,
            ops=PY_FUNCTION.ops,
            program=lambda tf, x: py_function(tf, lambda t: reversing(tf, t), [x], x.dtype),
            reference=backwards,
            vjp=vjp,
            recipes=SHAPES,
            dtypes=dtypes,
            contract=REFUSED_BY_XLA,
        )
        for name, dtypes, vjp in (
            ("py-function-rough", (*INTEGERS, "bool"), lambda g, x: None),
            ("py-function-values", (*FLOATS, *COMPLEX), lambda g, x: g[::-1].reshape(x.shape)),
        )
    ),
)
