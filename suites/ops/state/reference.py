"""Ops on reference variables: control flow that hands a reference on, and the life of a variable."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS, UNARY
from tf_opdiff.harness.spec.spec import Raises, Spec
from tf_opdiff.suites.forms.references import REFUSED, in_functions, like, variables

_RECIPES = {label: UNARY[label] for label in ("plain", "edges", "matrix", "scalar", "empty")}
#: The dtypes beside float32 that TensorFlow differentiates, and the others; each has a kernel for references.
_SMOOTH = (*(dtype for dtype in FLOATS if dtype != "float32"), *COMPLEX)
_ROUGH = (*INTEGERS, "bool", "object")
#: The dtypes beside float32 for which a CPU and a GPU have kernels of variables.
_OTHERS = (*_SMOOTH, "int64", "uint32", "bool")
_PREDICATES = {
    label: lambda draw, dtype, label=label: (draw.values(dtype, 5), np.array(label == "true"))
    for label in ("false", "true")
}


def _first(x, *others):
    return {"v": x}


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


def _loop(update, tf, state, x):
    """Three turns of a loop that updates the variable by x through its reference; `update` is the name of an op."""
    raw, frame = tf.raw_ops, {"frame_name": "loop", "parallel_iterations": 1}
    start = raw.Enter(data=tf.constant(0), is_constant=False, **frame)
    one, three, added = (raw.Enter(data=t, is_constant=True, **frame) for t in (tf.constant(1), tf.constant(3), x))
    count = raw.Merge(inputs=[start, start])[0]
    entered = raw.RefEnter(data=state["v"], is_constant=False, **frame)
    reference = raw.RefMerge(inputs=[entered, entered])[0]
    going = raw.LoopCond(input=count < three)
    counter, sides = raw.Switch(data=count, pred=going), raw.RefSwitch(data=reference, pred=going)
    updated = getattr(raw, update)(ref=sides.output_true, value=added)
    reference.op._update_input(1, raw.RefNextIteration(data=updated))
    with tf.control_dependencies([updated.op]):
        count.op._update_input(1, raw.NextIteration(data=counter.output_true + one))
    return tf.identity(raw.RefExit(data=sides.output_false)), raw.Exit(data=counter.output_false)


def _on_reference(name, *, rough=_ROUGH, in_function=None, **fields):
    """The specs of a program on a reference variable, in graphs and in functions.

    Args:
      name: the name of the first spec.
      rough: the dtypes that TensorFlow does not differentiate.
      in_function: the VJP in a function, in which the program assigns the variable.
      fields: further fields of the specs; their VJP, which has the variable's gradient, is that in a graph.
    """
    vjp = fields.pop("vjp", None)
    main = Spec(name=name, state=variables(_first), modes=("graph",), **fields)
    others = replace(main, recipes=dict([next(iter(main.recipes.items()))]), tier="full")
    for spec, smooth in (
        (main, True),
        (replace(others, name=f"{name}-other", dtypes=_SMOOTH), True),
        (replace(others, name=f"{name}-rough", dtypes=rough), False),
    ):
        yield replace(spec, vjp=vjp if smooth else None)
        yield replace(*in_functions(spec, _first), vjp=in_function if smooth else None)


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
        ops="RefIdentity;Identity",
        program=_identity,
        reference=lambda x: (x, {"v": x}),
        recipes=_RECIPES,
        vjp=lambda g, x: (None, g),
        in_function=lambda g, x: (None,),
    ),
    *_on_reference(
        "ref-enter",
        ops="RefEnter;RefExit",
        program=_frame,
        reference=lambda x: (x, {"v": x}),
        recipes=_RECIPES,
    ),
    *_on_reference(
        "ref-switch",
        ops="RefSwitch;RefMerge",
        program=_chosen,
        reference=lambda x, predicate: (x[::-1], np.int32(predicate), {"v": x[::-1]}),
        recipes=_PREDICATES,
    ),
    *_on_reference(
        "ref-loop",
        rough=INTEGERS,
        ops="RefEnter;RefMerge;RefSwitch;RefNextIteration;RefExit",
        program=partial(_loop, "AssignAdd"),
        reference=lambda x: (4 * x, np.int32(3), {"v": 4 * x}),
        recipes={"whole": lambda draw, dtype: (draw.integers(3, 5, low=0, high=9).astype(dtype),)},
    ),
    *(
        spec
        for spec in _on_reference(
            "ref-loop-assigning",
            rough=("bool", "object"),
            ops="RefEnter;RefMerge;RefSwitch;RefNextIteration;RefExit",
            program=partial(_loop, "Assign"),
            reference=lambda x: (x, np.int32(3), {"v": x}),
            recipes={"values": lambda draw, dtype: (draw.values(dtype, 3, 5),)},
        )
        if "rough" in spec.name
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
        name="temporary-variable-bool",
        ops="TemporaryVariable;DestroyTemporaryVariable",
        program=lambda tf, x: tf.raw_ops.DestroyTemporaryVariable(
            ref=tf.raw_ops.Assign(
                ref=tf.raw_ops.TemporaryVariable(shape=x.shape, dtype=x.dtype, var_name="t"), value=x
            ),
            var_name="t",
        ),
        reference=lambda x: x,
        recipes={"plain": UNARY["plain"]},
        dtypes=("bool",),
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
