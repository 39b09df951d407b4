"""Ops on reference variables: control flow that hands a reference on, and the life of a variable."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, UNARY
from tf_opdiff.harness.spec.spec import Raises, Spec
from tf_opdiff.suites.forms.references import REFUSED, like, variables

_RECIPES = {label: UNARY[label] for label in ("plain", "edges", "matrix", "scalar", "empty")}
#: The dtypes of reference variables for which a CPU and a GPU have kernels, beside float32.
_OTHERS = (*(d for d in FLOATS if d != "float32"), *COMPLEX, "int64", "bool")
_PREDICATES = {
    label: lambda draw, dtype, label=label: (draw.values(dtype, 5), np.array(label == "true"))
    for label in ("false", "true")
}


_variable = variables(lambda x, *others: {"v": x})


def _identity(tf, state, x):
    return tf.identity(tf.raw_ops.RefIdentity(input=state["v"]))


def _frame(tf, state, x):
    """Into a frame and out of it."""
    return tf.identity(tf.raw_ops.RefExit(data=tf.raw_ops.RefEnter(data=state["v"], frame_name="frame")))


def _chosen(tf, state, x, predicate):
    """One side of a switch, its number, and the merged sides, to which one more is added."""
    sides = tf.raw_ops.RefSwitch(data=state["v"], pred=predicate)
    merged, number = tf.raw_ops.RefMerge(inputs=[sides.output_false, sides.output_true])
    return tf.identity(tf.raw_ops.Assign(ref=merged, value=x[::-1])), number


def _loop(tf, state, x):
    """Three turns of a loop that adds x to the variable through its reference."""
    raw, frame = tf.raw_ops, {"frame_name": "loop", "parallel_iterations": 1}
    start = raw.Enter(data=tf.constant(0), is_constant=False, **frame)
    one, three, added = (raw.Enter(data=t, is_constant=True, **frame) for t in (tf.constant(1), tf.constant(3), x))
    count = raw.Merge(inputs=[start, start])[0]
    entered = raw.RefEnter(data=state["v"], is_constant=False, **frame)
    reference = raw.RefMerge(inputs=[entered, entered])[0]
    going = raw.LoopCond(input=count < three)
    counter, sides = raw.Switch(data=count, pred=going), raw.RefSwitch(data=reference, pred=going)
    total = raw.AssignAdd(ref=sides.output_true, value=added)
    reference.op._update_input(1, raw.RefNextIteration(data=total))
    with tf.control_dependencies([total.op]):
        count.op._update_input(1, raw.NextIteration(data=counter.output_true + one))
    return tf.identity(raw.RefExit(data=sides.output_false)), raw.Exit(data=counter.output_false)


def _on_reference(name, ops, program, reference, recipes, vjp=None):
    """The specs of a program on a reference variable."""
    shared: dict[str, Any] = {"ops": ops, "program": program, "reference": reference, "recipes": recipes, "vjp": vjp}
    shared |= {"state": _variable, "modes": ("graph",)}
    smooth = tuple(d for d in _OTHERS if d not in ("int64", "bool"))
    rough = {**shared, "vjp": None}
    return (
        Spec(name=name, **shared),
        Spec(name=f"{name}-other", dtypes=smooth, tier="full", **shared),
        Spec(name=f"{name}-rough", dtypes=("int64",), tier="full", **rough),
    )


def _initialized(tf, x):
    """Whether a variable has a value before and after it gets one, and the value."""
    never = tf.raw_ops.Variable(**like("never", x))
    ref = tf.raw_ops.Variable(**like("assigned", x))
    value = tf.raw_ops.Assign(ref=ref, value=x)
    with tf.control_dependencies([value.op]):
        after = tf.raw_ops.IsVariableInitialized(ref=ref)
    return tf.raw_ops.IsVariableInitialized(ref=never), after, tf.identity(value)


def _temporary(tf, x):
    """A temporary variable that is assigned, added to, and destroyed."""
    ref = tf.raw_ops.TemporaryVariable(shape=x.shape, dtype=x.dtype, var_name="t")
    assigned = tf.raw_ops.Assign(ref=ref, value=x)
    return tf.raw_ops.DestroyTemporaryVariable(ref=tf.raw_ops.AssignAdd(ref=assigned, value=x), var_name="t")


_OF_GRAPHS: dict[str, Any] = {"contract": REFUSED}

SPECS = (
    *_on_reference(
        "ref-identity",
        "RefIdentity;Identity",
        _identity,
        lambda x: (x, {"v": x}),
        _RECIPES,
    ),
    *_on_reference("ref-enter", "RefEnter;RefExit", _frame, lambda x: (x, {"v": x}), _RECIPES),
    *_on_reference(
        "ref-switch",
        "RefSwitch;RefMerge",
        _chosen,
        lambda x, predicate: (x[::-1], np.int32(predicate), {"v": x[::-1]}),
        _PREDICATES,
    ),
    *_on_reference(
        "ref-loop",
        "RefEnter;RefMerge;RefSwitch;RefNextIteration;RefExit",
        _loop,
        lambda x: (4 * x, np.int32(3), {"v": 4 * x}),
        {"whole": lambda draw, dtype: (draw.integers(3, 5, low=0, high=9).astype(dtype),)},
    ),
    Spec(
        name="temporary-variable",
        ops="TemporaryVariable;DestroyTemporaryVariable",
        program=_temporary,
        reference=lambda x: x + x,
        recipes=_RECIPES,
        **_OF_GRAPHS,
    ),
    Spec(
        name="temporary-variable-other",
        ops="TemporaryVariable;DestroyTemporaryVariable",
        program=_temporary,
        reference=lambda x: x + x,
        recipes={"plain": UNARY["plain"]},
        dtypes=tuple(d for d in _OTHERS if d != "bool"),
        tier="full",
        **_OF_GRAPHS,
    ),
    Spec(
        name="temporary-variable-of-other-name",
        ops="TemporaryVariable;DestroyTemporaryVariable",
        program=lambda tf, x: tf.raw_ops.DestroyTemporaryVariable(
            ref=tf.raw_ops.Assign(
                ref=tf.raw_ops.TemporaryVariable(shape=x.shape, dtype=x.dtype, var_name="one"), value=x
            ),
            var_name="other",
        ),
        reference=lambda x: Raises("NOT_FOUND"),
        recipes={"plain": UNARY["plain"]},
        **_OF_GRAPHS,
    ),
    Spec(
        name="variable-initialized",
        ops="Variable;IsVariableInitialized",
        program=_initialized,
        reference=lambda x: (np.False_, np.True_, x),
        recipes=_RECIPES,
        constant=("output[0]", "output[1]"),
        **_OF_GRAPHS,
    ),
    Spec(
        name="variable-initialized-other",
        ops="Variable;IsVariableInitialized",
        program=_initialized,
        reference=lambda x: (np.False_, np.True_, x),
        recipes={"plain": UNARY["plain"]},
        dtypes=_OTHERS,
        tier="full",
        constant=("output[0]", "output[1]"),
        **_OF_GRAPHS,
    ),
    Spec(
        name="variable-without-value",
        ops="Variable;AddV2",
        program=lambda tf, x: x + tf.raw_ops.Variable(**like("empty", x)),
        reference=lambda x: Raises("FAILED_PRECONDITION"),
        recipes={"plain": UNARY["plain"]},
        **_OF_GRAPHS,
    ),
)
