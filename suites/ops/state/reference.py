"""Ops on reference variables: control flow that hands a reference on, and the life of a variable."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS, UNARY
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered, together
from tf_opdiff.suites.forms.recipes.pairs import shaped
from tf_opdiff.suites.forms.state.variables import REFERENCE, REFUSED, final, like

_RECIPES = {label: UNARY[label] for label in ("plain", "edges", "matrix", "scalar", "empty")}
#: The other dtypes that TensorFlow differentiates, and those that it does not; each has a kernel for references.
_SMOOTH = (*(dtype for dtype in FLOATS if dtype != "float32"), *COMPLEX)
_ROUGH = (*INTEGERS, "bool", "object")
#: The other dtypes for which a CPU and a GPU have kernels of variables.
_OTHERS = (*_SMOOTH, "int64", "uint32", "bool")
_PREDICATES = {
    label: lambda draw, dtype, label=label: (draw.values(dtype, 5), np.array(label == "true"))
    for label in ("false", "true")
}


def _identity(tf, state, x):
    return tf.identity(tf.raw_ops.RefIdentity(input=state["v"]))


def _frame(tf, state, x, *, constant=False):
    """Into a frame and out of it."""
    entered = tf.raw_ops.RefEnter(data=state["v"], frame_name="frame", is_constant=constant)
    return tf.identity(tf.raw_ops.RefExit(data=entered))


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


def _on_reference(recipes, *, rough=_ROUGH, in_function=None, vjp=None):
    """A part: a program on a reference variable, in graphs and in functions.

    Args:
      recipes: the recipes; dtypes other than float32 have the first one.
      rough: the dtypes that TensorFlow does not differentiate.
      vjp: the VJP in a graph, which has the variable's gradient.
      in_function: the VJP in a function, in which the program assigns the variable.
    """
    first = next(iter(recipes))
    twins = [lambda spec: [twin.but(vjp=spec.derivatives.vjp and in_function) for twin in REFERENCE.twins(spec)]]
    return together(
        part(
            recipes=recipes,
            vjp=vjp,
            twins=twins,
            dtypes=tiered(("float32", *_SMOOTH), ("float32",)),
            of_others=(first,),
        ),
        part("-rough", dtypes=rough, twins=twins, recipes={first: recipes[first]}, tier="full"),
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


def _destroyed(tf, x, name="t", destroyed="t"):
    """A temporary variable that has a name, is assigned, and is destroyed by a name."""
    ref = tf.raw_ops.TemporaryVariable(shape=x.shape, dtype=x.dtype, var_name=name)
    return tf.raw_ops.DestroyTemporaryVariable(ref=tf.raw_ops.Assign(ref=ref, value=x), var_name=destroyed)


_PLAIN = {"plain": UNARY["plain"]}
_WHOLE = {
    label: lambda draw, d, shape=shape: (draw.integers(*shape, low=0, high=9).astype(d),)
    for label, shape in {"whole": (3, 5), "one": (1,)}.items()
}
_IN_LOOP = "RefEnter;RefMerge;RefSwitch;RefNextIteration;RefExit"

SPECS = (
    *op(
        "ref-enter",
        "RefEnter;RefExit",
        _on_reference(_RECIPES),
        part("-constant", program=partial(_frame, constant=True), recipes=_PLAIN, twins=[REFERENCE.twins]),
        program=_frame,
        variables=REFERENCE,
        reference=final(lambda x: x),
    ),
    *op(
        "ref-identity",
        "RefIdentity;Identity",
        _on_reference(_RECIPES, vjp=lambda g, x: (None, g), in_function=lambda g, x: (None,)),
        program=_identity,
        variables=REFERENCE,
        reference=final(lambda x: x),
    ),
    *op(
        "ref-loop",
        _IN_LOOP,
        _on_reference(_WHOLE, rough=INTEGERS),
        part(
            "-assigning-rough",
            program=partial(_loop, "Assign"),
            reference=lambda x: (x, np.int32(3), {"v": x}),
            recipes={"values": shaped((3, 5))},
            dtypes=("bool", "object"),
            tier="full",
            twins=[REFERENCE.twins],
        ),
        program=partial(_loop, "AssignAdd"),
        variables=REFERENCE,
        reference=lambda x: (4 * x, np.int32(3), {"v": 4 * x}),
    ),
    *op(
        "ref-switch",
        "RefSwitch;RefMerge",
        _on_reference(_PREDICATES),
        program=_chosen,
        variables=REFERENCE,
        reference=lambda x, predicate: (x[::-1], np.int32(predicate), {"v": x[::-1]}),
    ),
    *op(
        "temporary-variable",
        "TemporaryVariable;DestroyTemporaryVariable",
        part(
            recipes=_RECIPES,
            dtypes=tiered(("float32", *(d for d in _OTHERS if d != "bool")), ("float32",)),
            of_others=_PLAIN,
        ),
        part("-bool", program=_destroyed, reference=lambda x: x, recipes=_PLAIN, dtypes=("bool",), tier="full"),
        part(
            "-of-other-name",
            program=partial(_destroyed, name="one", destroyed="other"),
            reference=raises("NOT_FOUND"),
            recipes=_PLAIN,
        ),
        program=_temporary,
        reference=lambda x: x + x,
        contract=REFUSED,
    ),
    *op(
        "variable-initialized",
        "Variable;IsVariableInitialized",
        part(recipes=_RECIPES, dtypes=tiered(("float32", *_OTHERS), ("float32",)), of_others=_PLAIN),
        program=_initialized,
        reference=lambda x: (np.False_, np.True_, x),
        constant=("output[0]", "output[1]"),
        contract=REFUSED,
    ),
    *op(
        "variable-without-value",
        "Variable;AddV2",
        part(recipes=_PLAIN),
        program=lambda tf, x: x + tf.raw_ops.Variable(**like("empty", x)),
        reference=raises("FAILED_PRECONDITION"),
        contract=REFUSED,
    ),
)
