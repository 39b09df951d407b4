"""The order of updates and reads where a program states none: eager mode and `tf.function` keep that of the text."""

from functools import partial

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS
from tf_opdiff.harness.spec.plan import without_modes
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.state.updates import BOTH_BRANCHES, BRANCHES, MATRIX, NOT_RUN, SHAPES
from tf_opdiff.suites.reference.control_flow import control_dependencies as ref

#: A v1 graph orders nothing unless told to: what it gives would be a race.
IN_ORDER = without_modes("graph")


def _resource(tf, start, delta):
    return {"v": tf.Variable(start)}


def _two(tf, start, delta):
    return {"v": tf.Variable(start), "w": tf.Variable(delta)}


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


Add = partial(Spec, state=_resource, recipes=MATRIX, ops="AssignAddVariableOp")


SPECS = (
    Add(
        name="order-cond",
        program=_order_cond,
        reference=ref.order_cond,
        vjp=ref.to_variable,
        recipes=BRANCHES,
        modes=IN_ORDER,
        ops=BOTH_BRANCHES,
    ),
    Add(name="order-loop", program=_order_loop, reference=ref.looped, vjp=ref.to_variable, modes=IN_ORDER),
    Add(
        name="order-nested",
        program=_order_nested,
        reference=ref.nested,
        vjp=ref.summed,
        modes=IN_ORDER,
        ulp={"grad": 0.5},
    ),
    Add(
        name="order-reads-steps",
        program=_order_reads,
        reference=ref.reads_five,
        steps=5,
        modes=IN_ORDER,
        dtypes=("float64", "int32", "complex64"),
        ops="AssignAddVariableOp;AssignVariableOp;AssignSubVariableOp",
    ),
    Add(
        name="order-sequence",
        program=_order_sequence,
        reference=ref.sequence,
        vjp=ref.summed,
        ulp={"grad": 0.5},
        modes=IN_ORDER,
        dtypes=(*FLOATS, *COMPLEX),
        ops="AssignAddVariableOp;AssignVariableOp;AssignSubVariableOp",
    ),
    Add(
        name="order-two-steps",
        program=_order_two,
        reference=ref.two_five,
        state=_two,
        steps=5,
        modes=IN_ORDER,
        dtypes=("float64", "int32"),
        ops="AssignAddVariableOp;AssignSubVariableOp",
    ),
    Add(
        name="order-unused",
        program=_order_unused,
        reference=ref.updated,
        vjp=ref.to_variable,
        recipes=SHAPES,
        contract=NOT_RUN,
    ),
)
