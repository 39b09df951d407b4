"""Control dependencies: what a read under `tf.control_dependencies([assign_add])` sees, and how often the update ran.

Only ops *constructed* in the context wait for the update. Returning the variable, or a tensor made outside, constructs
none: a v1 graph then prunes the update away, while eager execution and `tf.function` keep the order of the program.
"""

from functools import partial
from typing import Any

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.state.updates import (
    BOTH_BRANCHES,
    BRANCHES,
    CONTEXT,
    MATRIX,
    NOT_RUN,
    PRUNED,
    SHAPES,
    SIZES,
    VECTOR,
)
from tf_opdiff.suites.reference.control_flow import control_dependencies as ref

CALLABLES = "https://www.tensorflow.org/api_docs/python/tf/control_dependencies"
MEMORY_MODEL = "https://www.tensorflow.org/api_docs/python/tf/compat/v1/enable_resource_variables"
TRACED = "https://www.tensorflow.org/guide/function#executing_python_side_effects"


# States.
def _resource(tf, start, delta):
    return {"v": tf.Variable(start)}


def _ref(tf, start, delta):
    return {"v": tf.compat.v1.Variable(start, use_resource=False)}


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


NOT_RUN_FIVE = {"*/graph": Side(reference=ref.pruned_five, why=PRUNED, link=CONTEXT)}
ALIAS = "Reference variables lack the memory model of resource ones: what was read before shows the write after it."
ALIASED = {"*/graph": Side(reference=ref.aliased, why=ALIAS, link=MEMORY_MODEL)}
CALLED = "Callables in the list are called if eager execution is enabled."
CALLED_EAGERLY = {"*/eager": Side(reference=ref.updated, vjp=ref.to_variable, why=CALLED, link=CALLABLES)}
TRACE = Side(
    reference=ref.counted_five(1), why="The Python function runs when traced, the update at each step.", link=TRACED
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
        return ref.unconnected
    cut = kind == "-ref" or form in ("identity", "read-value")
    return ref.unconnected if dtype in INTEGERS and cut else ref.to_variable


def _updated(form, kind, suffix, dtypes):
    """A spec of one update of one kind of variable."""
    return Spec(
        name=f"control-deps-{form}{kind}{suffix}",
        program=_under(form),
        reference=ref.updated,
        vjp=_gradient(form, kind, dtypes[0]),
        recipes=VECTOR,
        dtypes=dtypes,
        contract=NOT_RUN if form == "variable" else {},
        **KINDS[kind],
    )


SPECS = (
    *(
        _updated(form, kind, suffix, dtypes)
        for form in FORMS
        for kind in KINDS
        for suffix, dtypes in (("", (*FLOATS, *COMPLEX)), ("-int", INTEGERS))
    ),
    *(twin for kind in KINDS for twin in sizes(_updated("identity", kind, "", (*FLOATS, *COMPLEX)), SIZES)),
    *(
        Spec(
            name=f"control-deps-{form}{kind}-steps",
            program=_under(form),
            reference=ref.updated_five,
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
            reference=ref.around,
            vjp=ref.summed,
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
        reference=ref.updated,
        vjp=ref.to_variable,
        contract=NOT_RUN,
    ),
    Add(
        name="control-deps-cond",
        program=_in_cond,
        reference=ref.cond,
        vjp=lambda g, start, delta: (None, None, g[0]),
        recipes=BRANCHES,
        ops=BOTH_BRANCHES,
    ),
    Add(name="control-deps-loop", program=_in_loop, reference=ref.looped, vjp=ref.to_variable),
    Add(
        name="control-deps-outside",
        program=_made_outside,
        reference=lambda start, delta: (start, {"v": start + delta}),
        vjp=ref.to_variable,
        contract=NOT_RUN,
    ),
    Add(
        name="control-deps-python-calls",
        program=_called,
        reference=ref.counted_five(5),
        state=_counted,
        steps=5,
        contract=ONE_TRACE,
    ),
    Add(name="control-deps-shared-steps", program=_shared, reference=ref.shared_five, steps=5),
    Add(name="control-deps-twice-steps", program=_twice, reference=ref.twice_five, steps=5),
)
