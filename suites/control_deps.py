"""Control dependencies: what a read under `tf.control_dependencies([assign_add])` sees, and how often the update ran.

Only ops *constructed* in the context wait for the update. Returning the variable, or a tensor made outside, constructs
none: a v1 graph then prunes the update away, while eager execution and `tf.function` keep the order of the program.
"""

from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS, SIZE
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.references import control_deps as r

IN_ORDER = ("eager", "function", "xla")  # a v1 graph orders nothing unless told to: what it gives would be a race
CONTEXT = "https://www.tensorflow.org/api_docs/python/tf/Graph#control_dependencies"
CALLABLES = "https://www.tensorflow.org/api_docs/python/tf/control_dependencies"
MEMORY_MODEL = "https://www.tensorflow.org/api_docs/python/tf/compat/v1/enable_resource_variables"
# Both branches are in a graph; eager execution has only the one taken.
BOTH = {"eager": "ReadVariableOp", **dict.fromkeys(MODES[1:], "AssignAddVariableOp;AssignSubVariableOp")}
TRACED = "https://www.tensorflow.org/guide/function#executing_python_side_effects"


# Inputs: where the variable starts, and what is added. Quarters and small integers: sums stay exact in every dtype.
def _pair(draw, dtype, *shape):
    dtype = np.dtype(dtype)
    low = 0 if dtype.kind == "u" else -8
    start, delta = (draw.integers(*shape, low=low, high=8) for _ in range(2))
    if dtype.kind not in "iu":
        start, delta = start + 0.25, delta + 0.5
    turn = 1 + 2j if dtype.kind == "c" else 1
    return (start * turn).astype(dtype), (delta * turn).astype(dtype)


def _vector(draw, dtype):
    """Exact sums; at the end infinities, NaN and zeros, or integers that wrap around."""
    start, delta = _pair(draw, dtype, SIZE)
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        start[-3:], delta[-3:] = [limits.max, limits.min, limits.max], [1, limits.max, limits.max]
    else:
        start[-6:], delta[-6:] = [np.inf, np.inf, np.nan, -0.0, 0.0, 1.0], [1.0, -np.inf, 1.0, -0.0, -0.0, -1.0]
    return start, delta


def _rising(draw, dtype):
    """A positive first sum, for programs that branch on it."""
    return tuple(np.abs(x) for x in _pair(draw, dtype, 3, 5))


def _falling(draw, dtype):
    """A negative first sum."""
    return tuple(-np.abs(x) for x in _pair(draw, dtype, 3, 5))


VECTOR = {"vector": _vector}
MATRIX = {"matrix": lambda draw, dtype: _pair(draw, dtype, 3, 5)}
SHAPES = {"scalar": _pair, "empty": lambda draw, dtype: _pair(draw, dtype, 0, 3), **MATRIX}
BRANCHES = {"rising": _rising, "falling": _falling}


# States.
def _resource(tf, start, delta):
    return {"v": tf.Variable(start)}


def _ref(tf, start, delta):
    return {"v": tf.compat.v1.Variable(start, use_resource=False)}


def _two(tf, start, delta):
    return {"v": tf.Variable(start), "w": tf.Variable(delta)}


def _counted(tf, start, delta):
    return {"v": tf.Variable(start), "calls": []}


# Programs.
FORMS = {
    "assign": lambda tf, v, update: update,  # what assign_add returned
    "identity": lambda tf, v, update: tf.identity(v),
    "read-value": lambda tf, v, update: v.read_value(),
    "variable": lambda tf, v, update: v,
}


def _under(form):
    def program(tf, state, start, delta):
        update = state["v"].assign_add(delta)
        with tf.control_dependencies([update]):
            return FORMS[form](tf, state["v"], update)

    return program


def _around(tf, state, start, delta):
    before = state["v"].read_value()
    with tf.control_dependencies([before]):
        update = state["v"].assign_add(delta)
    with tf.control_dependencies([update]):
        return tf.identity(before), state["v"].read_value()


def _callables(tf, state, start, delta):
    with tf.control_dependencies([lambda: state["v"].assign_add(delta)]):
        return tf.identity(state["v"])


def _called(tf, state, start, delta):
    state["calls"].append("called")
    return _under("identity")(tf, state, start, delta)


def _cleared(tf, state, start, delta):
    with tf.control_dependencies([state["v"].assign_add(delta)]), tf.control_dependencies(None):
        return state["v"].read_value()


def _in_cond(tf, state, start, delta):
    def branch(update, taken):
        def run():
            with tf.control_dependencies([update(delta)]):
                return tf.constant(taken)

        return run

    v = state["v"]
    positive = tf.reduce_sum(start) + tf.reduce_sum(delta) > 0
    taken = tf.cond(positive, branch(v.assign_add, 1), branch(v.assign_sub, 2))
    with tf.control_dependencies([taken]):
        return v.read_value(), tf.identity(taken)


def _in_loop(tf, state, start, delta):
    def body(i):
        with tf.control_dependencies([state["v"].assign_add(delta)]):
            return (i + 1,)

    (times,) = tf.while_loop(lambda i: i < 3, body, (tf.constant(0),))
    with tf.control_dependencies([times]):
        return state["v"].read_value()


def _made_outside(tf, state, start, delta):
    before = state["v"].read_value()
    with tf.control_dependencies([state["v"].assign_add(delta)]):
        return before


def _shared(tf, state, start, delta):
    update = state["v"].assign_add(delta)
    with tf.control_dependencies([update]):
        return tf.identity(state["v"]), state["v"].read_value(), tf.convert_to_tensor(update)


def _twice(tf, state, start, delta):
    with tf.control_dependencies([state["v"].assign_add(delta)]):
        update = state["v"].assign_add(delta)
    with tf.control_dependencies([update]):
        return tf.identity(state["v"])


# Programs without a word on order: what `tf.function` does by itself.
def _order_cond(tf, state, start, delta):
    v = state["v"]
    tf.cond(
        tf.reduce_sum(v.read_value()) > 0,
        lambda: v.assign_add(delta).read_value(),
        lambda: v.assign_sub(delta).read_value(),
    )
    return v.read_value()


def _order_loop(tf, state, start, delta):
    def body(i):
        state["v"].assign_add(delta)
        return (i + 1,)

    tf.while_loop(lambda i: i < 3, body, (tf.constant(0),))
    return state["v"].read_value()


def _order_nested(tf, state, start, delta):
    @tf.function(autograph=False)
    def add():
        state["v"].assign_add(delta)

    add()
    middle = state["v"].read_value()
    add()
    return middle, state["v"].read_value()


def _order_reads(tf, state, start, delta):
    v = state["v"]
    first = v.read_value()
    v.assign_add(delta)
    second = v.read_value()
    v.assign(second + second)
    third = tf.identity(v)
    v.assign_sub(delta)
    return first, second, third, v.read_value()


def _order_sequence(tf, state, start, delta):
    first, _, _, last = _order_reads(tf, state, start, delta)
    return first, last


def _order_two(tf, state, start, delta):
    v, w = state["v"], state["w"]
    v.assign_add(w)
    w.assign_sub(v)
    v.assign_add(w.read_value())
    return v.read_value(), w.read_value()


def _order_unused(tf, state, start, delta):
    state["v"].assign_add(delta)
    return state["v"].read_value()


PRUNED = "Only ops constructed in the context wait for the update; nothing fetched needs it, and it never runs."
NOT_RUN = {"*/graph": Side(reference=r.pruned, why=PRUNED, link=CONTEXT)}
NOT_RUN_FIVE = {"*/graph": Side(reference=r.pruned_five, why=PRUNED, link=CONTEXT)}
ALIAS = "Reference variables lack the memory model of resource ones: what was read before shows the write after it."
ALIASED = {"*/graph": Side(reference=r.aliased, why=ALIAS, link=MEMORY_MODEL)}
CALLED = "Callables in the list are called if eager execution is enabled."
CALLED_EAGERLY = {"*/eager": Side(reference=r.updated, vjp=r.to_variable, why=CALLED, link=CALLABLES)}
TRACE = Side(
    reference=r.counted_five(1), why="The Python function runs when traced, the update at each step.", link=TRACED
)
ONE_TRACE = dict.fromkeys(("*/function", "*/xla", "*/graph"), TRACE)

Add = partial(Spec, state=_resource, recipes=MATRIX, ops="AssignAddVariableOp")

KINDS: dict[str, dict[str, Any]] = {
    "": {"state": _resource, "ops": "AssignAddVariableOp"},
    # `use_resource=False` means something in a v1 graph only: elsewhere it gives a resource variable all the same.
    "-ref": {"state": _ref, "ops": "VariableV2;AssignAdd", "modes": ("graph",)},
}


def _gradient(form, kind, dtype):
    """To the variable, but for two cuts: AssignAdd, of reference variables, and Identity of integers have no gradient.

    What AssignAddVariableOp returned is read anew, with no Identity, and so is a resource variable as it is.
    """
    if form == "assign" and kind == "-ref":
        return r.unconnected
    cut = kind == "-ref" or form in ("identity", "read-value")
    return r.unconnected if dtype in INTEGERS and cut else r.to_variable


SPECS = (
    *(
        Spec(
            name=f"control-deps-{form}{kind}{suffix}",
            program=_under(form),
            reference=r.updated,
            vjp=_gradient(form, kind, dtypes[0]),
            recipes=VECTOR,
            dtypes=dtypes,
            contract=NOT_RUN if form == "variable" else {},
            **how,
        )
        for form in FORMS
        for kind, how in KINDS.items()
        for suffix, dtypes in (("", (*FLOATS, *COMPLEX)), ("-int", INTEGERS))
    ),
    *(
        Spec(
            name=f"control-deps-{form}{kind}-steps",
            program=_under(form),
            reference=r.updated_five,
            recipes=SHAPES,
            steps=5,
            contract=NOT_RUN_FIVE if form == "variable" else {},
            tier="smoke" if form == "identity" else "default",
            **how,
        )
        for form in FORMS
        for kind, how in KINDS.items()
    ),
    *(
        Spec(
            name=f"control-deps-around{kind}",
            program=_around,
            reference=r.around,
            vjp=r.summed,
            ulp={"grad": 0.5},
            recipes=MATRIX,
            dtypes=FLOATS,
            contract=ALIASED if kind == "-ref" else {},
            **how,
        )
        for kind, how in KINDS.items()
    ),
    Add(
        name="control-deps-callable",
        program=_callables,
        reference=lambda start, delta: Raises("TypeError"),
        contract=CALLED_EAGERLY,
    ),
    Add(
        name="control-deps-cleared",
        program=_cleared,
        reference=r.updated,
        vjp=r.to_variable,
        contract=NOT_RUN,
    ),
    Add(
        name="control-deps-cond",
        program=_in_cond,
        reference=r.cond,
        vjp=lambda g, start, delta: (None, None, g[0]),
        recipes=BRANCHES,
        ops=BOTH,
    ),
    Add(name="control-deps-loop", program=_in_loop, reference=r.looped, vjp=r.to_variable),
    Add(
        name="control-deps-outside",
        program=_made_outside,
        reference=lambda start, delta: (start, {"v": start + delta}),
        vjp=r.to_variable,
        contract=NOT_RUN,
    ),
    Add(
        name="control-deps-python-calls",
        program=_called,
        reference=r.counted_five(5),
        state=_counted,
        steps=5,
        contract=ONE_TRACE,
    ),
    Add(name="control-deps-shared-steps", program=_shared, reference=r.shared_five, steps=5),
    Add(name="control-deps-twice-steps", program=_twice, reference=r.twice_five, steps=5),
    Add(
        name="order-cond",
        program=_order_cond,
        reference=r.order_cond,
        vjp=r.to_variable,
        recipes=BRANCHES,
        modes=IN_ORDER,
        ops=BOTH,
    ),
    Add(name="order-loop", program=_order_loop, reference=r.looped, vjp=r.to_variable, modes=IN_ORDER),
    Add(
        name="order-nested",
        program=_order_nested,
        reference=r.nested,
        vjp=r.summed,
        modes=IN_ORDER,
        ulp={"grad": 0.5},
    ),
    Add(
        name="order-reads-steps",
        program=_order_reads,
        reference=r.reads_five,
        steps=5,
        modes=IN_ORDER,
        dtypes=("float64", "int32", "complex64"),
        ops="AssignAddVariableOp;AssignVariableOp;AssignSubVariableOp",
    ),
    Add(
        name="order-sequence",
        program=_order_sequence,
        reference=r.sequence,
        vjp=r.summed,
        ulp={"grad": 0.5},
        modes=IN_ORDER,
        dtypes=(*FLOATS, *COMPLEX),
        ops="AssignAddVariableOp;AssignVariableOp;AssignSubVariableOp",
    ),
    Add(
        name="order-two-steps",
        program=_order_two,
        reference=r.two_five,
        state=_two,
        steps=5,
        modes=IN_ORDER,
        dtypes=("float64", "int32"),
        ops="AssignAddVariableOp;AssignSubVariableOp",
    ),
    Add(
        name="order-unused",
        program=_order_unused,
        reference=r.updated,
        vjp=r.to_variable,
        recipes=SHAPES,
        contract=NOT_RUN,
    ),
)
