"""Copying variables between graphs and sessions: C24.

Of each way to copy it is seen whether the original's change shows in the copy, and then whether the copy's change shows
in the original.
"""

import numpy as np

from tf_opdiff.harness.spec.spec import Claim, Raises, Spec
from tf_opdiff.suites.claims import topics

IN_ORDER = ("eager", "function", "xla")


# By assign.
def assigned_state(tf, x, change):
    return {"original": tf.Variable(x), "copy": tf.Variable(np.zeros_like(x))}


def assign(tf, state, x, change):
    original, copy = state["original"], state["copy"]
    copy.assign(original)
    original.assign_add(change)
    copy_then = copy.read_value()
    copy.assign_sub(change)
    return copy_then, original.read_value()


def change_in_turn(s, original, copy, change):
    s.run(original.assign_add(change))
    copy_then = s.run(copy)
    s.run(copy.assign_sub(change))
    return copy_then, s.run(original)


def assign_between(tf, s, x, change, use_resource):
    original = tf.compat.v1.Variable(x, use_resource=use_resource)
    copy = tf.compat.v1.Variable(np.zeros_like(x), use_resource=use_resource)
    s.run(tf.compat.v1.global_variables_initializer())
    s.run(copy.assign(original))
    return change_in_turn(s, original, copy, change)


def assign_resource_variables(tf, session, x, change):
    with session() as s:
        return assign_between(tf, s, x, change, use_resource=True)


def assign_reference_variables(tf, session, x, change):
    with session() as s:
        return assign_between(tf, s, x, change, use_resource=False)


# By a new variable.
def new_state(tf, x, change):
    original = tf.Variable(x)
    return {"original": original, "copy": tf.Variable(original)}


def change_new(tf, state, x, change):
    original, copy = state["original"], state["copy"]
    original.assign_add(change)
    copy_then = copy.read_value()
    copy.assign_sub(change)
    return copy_then, original.read_value()


def new_variable(tf, s, x, change, use_resource):
    original = tf.compat.v1.Variable(np.zeros_like(x), use_resource=use_resource)
    s.run(original.initializer)
    s.run(original.assign(x))
    copy = tf.compat.v1.Variable(original, use_resource=use_resource)
    s.run(copy.initializer)
    return change_in_turn(s, original, copy, change)


def new_resource_variable(tf, session, x, change):
    with session() as s:
        return new_variable(tf, s, x, change, use_resource=True)


def new_reference_variable(tf, session, x, change):
    with session() as s:
        return new_variable(tf, s, x, change, use_resource=False)


def new_before_the_original(tf, s, x, use_resource):
    original = tf.compat.v1.Variable(x, use_resource=use_resource)
    copy = tf.compat.v1.Variable(original, use_resource=use_resource)
    s.run(copy.initializer)
    return s.run(tf.negative(copy))


def new_before_the_resource(tf, session, x, change):
    with session() as s:
        return new_before_the_original(tf, s, x, use_resource=True)


def new_before_the_reference(tf, session, x, change):
    with session() as s:
        return new_before_the_original(tf, s, x, use_resource=False)


def new_by_initial_value(tf, session, x, change):
    with session() as s:
        original = tf.compat.v1.Variable(x, use_resource=True)
        copy = tf.compat.v1.Variable(original.initial_value, use_resource=True)
        s.run(copy.initializer)
        return s.run(tf.negative(copy))


# By copying the graph.
def copy_graph(tf, session, x, change, use_resource):
    with session() as s:
        original = tf.compat.v1.get_variable("weights", initializer=x, use_resource=use_resource)
        train = original.assign_add(change)
        s.run(original.initializer)
        graph = tf.compat.v1.train.export_meta_graph()
        with session() as other:
            tf.compat.v1.train.import_meta_graph(graph)
            (copy,) = tf.compat.v1.global_variables()
            other.run(copy.initializer)
            s.run(train)
            copy_then = other.run(copy)
            other.run(copy.assign_sub(change))
        return copy_then, s.run(original)


def copy_graph_of_resource(tf, session, x, change):
    return copy_graph(tf, session, x, change, use_resource=True)


def copy_graph_of_reference(tf, session, x, change):
    return copy_graph(tf, session, x, change, use_resource=False)


def import_beside(tf, s, x, change, use_resource):
    original = tf.compat.v1.get_variable("weights", initializer=x, use_resource=use_resource)
    train = original.assign_add(change, read_value=False)
    value = tf.identity(original)
    initialize_copy, train_copy, copy = tf.graph_util.import_graph_def(
        s.graph.as_graph_def(), return_elements=[original.initializer.name, train.name, value.name], name="copy"
    )
    s.run(original.initializer)
    s.run(initialize_copy)
    s.run(train)
    copy_then = s.run(copy)
    s.run(train_copy)
    original_then = s.run(original)
    s.run(initialize_copy)
    return copy_then, original_then, s.run(original)


def import_resource_beside(tf, session, x, change):
    with session() as s:
        return import_beside(tf, s, x, change, use_resource=True)


def import_reference_beside(tf, session, x, change):
    with session() as s:
        return import_beside(tf, s, x, change, use_resource=False)


def two_sessions(tf, session, x, change):
    with session() as s:
        weights = tf.compat.v1.get_variable("weights", initializer=x)
        train = weights.assign_add(change)
        with session(s.graph) as other:
            s.run(weights.initializer)
            other.run(weights.initializer)
            s.run(train)
            other_then = other.run(weights)
            other.run(train)
        return other_then, s.run(weights)


# By load.
def load_between(tf, s, x, change, use_resource):
    original = tf.compat.v1.Variable(x, use_resource=use_resource)
    copy = tf.compat.v1.Variable(np.zeros_like(x), use_resource=use_resource)
    s.run(tf.compat.v1.global_variables_initializer())
    copy.load(s.run(original), s)
    return change_in_turn(s, original, copy, change)


def load_resource_variable(tf, session, x, change):
    with session() as s:
        return load_between(tf, s, x, change, use_resource=True)


def load_reference_variable(tf, session, x, change):
    with session() as s:
        return load_between(tf, s, x, change, use_resource=False)


def load_into_copied_graph(tf, session, x, change):
    with session() as s:
        original = tf.compat.v1.get_variable("weights", initializer=np.zeros_like(x))
        train = original.assign_add(x)
        s.run(original.initializer)
        s.run(train)
        graph = tf.compat.v1.train.export_meta_graph()
        with session() as other:
            tf.compat.v1.train.import_meta_graph(graph)
            (copy,) = tf.compat.v1.global_variables()
            copy.load(s.run(original), other)
            s.run(train)
            copy_then = other.run(copy)
            other.run(copy.assign_sub(change))
        return copy_then, s.run(original)


# What is a reference.
def reuse(tf, session, x, change):
    with session() as s:
        original = tf.compat.v1.get_variable("weights", initializer=x)
        with tf.compat.v1.variable_scope("", reuse=True):
            same = tf.compat.v1.get_variable("weights", x.shape, x.dtype)
        s.run(original.initializer)
        return change_in_turn(s, original, same, change)


def name_twice(tf, state, x, change):
    original = same = state["original"]
    original.assign_add(change)
    same_then = same.read_value()
    same.assign_sub(change)
    return same_then, original.read_value()


def one_variable(tf, x, change):
    return {"original": tf.Variable(x)}


def _apart(x, change):
    """What comes of two variables: a change of one does not show in the other."""
    return x, x + change


def _apart_in_the_end(x, change):
    return x, x + change, {"original": x + change, "copy": x - change}


def _one(x, change):
    """What comes of one variable under two names."""
    return x + change, x


def _quarters(draw, dtype):
    """Values and changes of which all sums are exact."""
    x, change = draw.integers(2, 9, low=-16, high=16) / 4 + 0.125
    return x.astype(dtype), (change + 1.125).astype(dtype)


def _claim(letter, says, **more):
    return Claim(topic=topics.C24, letter=letter, says=says, about=("output",), **more)


#: What each way of copying shows beside its values.
EVIDENCE = {
    "claim-c24-assign-resources": "called:Variable.assign",
    "claim-c24-assign-references": "called:Variable.assign",
    "claim-c24-copy-graph-of-resource": "called:compat.v1.train.import_meta_graph;graphs:2",
    "claim-c24-copy-graph-of-reference": "called:compat.v1.train.import_meta_graph;graphs:2",
    "claim-c24-import-resource-beside": "called:graph_util.import_graph_def;graphs:1",
    "claim-c24-import-reference-beside": "called:graph_util.import_graph_def;graphs:1",
    "claim-c24-two-sessions": "graphs:1;sessions:2",
    "claim-c24-load": "called:Variable.load",
    "claim-c24-load-references": "called:Variable.load",
    "claim-c24-load-into-copied-graph": "called:Variable.load;called:compat.v1.train.import_meta_graph;graphs:2",
    "claim-c24-reuse": "graphs:1;sessions:1",
    "claim-c24-assign": "called:Variable.assign",
}


def _in_session(name, program, reference, ops, *claims, **more):
    return Spec(
        name=name,
        program=program,
        reference=reference,
        recipes={"quarters": _quarters},
        ops=ops,
        evidence=EVIDENCE.get(name, ""),
        modes=("graph",),
        sessions=True,
        claims=claims,
        **more,
    )


def _in_order(name, program, reference, state, *claims):
    return Spec(
        name=name,
        program=program,
        reference=reference,
        recipes={"quarters": _quarters},
        ops="AssignAddVariableOp;AssignSubVariableOp",
        evidence=EVIDENCE.get(name, ""),
        modes=IN_ORDER,
        state=state,
        claims=claims,
    )


RESOURCE = "AssignAddVariableOp;AssignSubVariableOp"
REFERENCE = "AssignAdd;AssignSub"

BY_ASSIGN = "assign makes a reference: what becomes of the one variable afterwards shows in the other."
BY_NEW = "A new variable made of the old one is a reference to it: what becomes of the one shows in the other."
BY_GRAPH = (
    "Copying the graph makes a reference: what becomes of the variable shows in its copy, and the other way round."
)
BY_LOAD = "load makes a deep copy: what becomes of the one variable afterwards does not touch the other."
BEFORE = "A new variable can be made of one that is not initialised yet, and is given what that one would start from."
ASSIGN = _claim(
    "a",
    BY_ASSIGN,
    reference=_one,
    refuted={"*/*": "assign stores the value that the other variable has then; each keeps a value of its own"},
    instead="claim-c24-reuse",
)
NEW = _claim(
    "b",
    BY_NEW,
    reference=_one,
    refuted={"*/*": "the old variable is read once, when the new one is initialised: that value is where it starts"},
    instead="claim-c24-reuse",
)
GRAPH = _claim(
    "c",
    BY_GRAPH,
    reference=_one,
    refuted={"*/*": "a graph holds no values: a session of its own has a variable of its own, initialised anew"},
    instead="claim-c24-load-into-copied-graph",
)
LOAD = _claim("d", BY_LOAD)

SPECS = (
    _in_order("claim-c24-assign", assign, _apart_in_the_end, assigned_state, ASSIGN),
    _in_session("claim-c24-assign-resources", assign_resource_variables, _apart, RESOURCE, ASSIGN),
    _in_session("claim-c24-assign-references", assign_reference_variables, _apart, REFERENCE, ASSIGN),
    _in_order("claim-c24-new-variable", change_new, _apart_in_the_end, new_state, NEW),
    _in_session("claim-c24-new-resource", new_resource_variable, _apart, RESOURCE, NEW),
    _in_session("claim-c24-new-reference", new_reference_variable, _apart, REFERENCE, NEW),
    _in_session(
        "claim-c24-new-before-the-resource",
        new_before_the_resource,
        lambda x, change: Raises("FAILED_PRECONDITION", "variable is uninitialized"),
        "",
        _claim(
            "e",
            BEFORE,
            reference=lambda x, change: -x,
            refuted={
                "*/*": "the guard around an initial value that is read of a variable knows reference variables only"
            },
            instead="claim-c24-new-by-initial-value",
        ),
    ),
    _in_session(
        "claim-c24-new-before-the-reference",
        new_before_the_reference,
        lambda x, change: Raises("FAILED_PRECONDITION", "Attempting to use uninitialized value"),
        "",
        _claim(
            "e",
            BEFORE,
            reference=lambda x, change: -x,
            refuted={
                "*/*": "the guard is a tf.cond, which since TensorFlow 2 is handed the value whichever branch it takes"
            },
            instead="claim-c24-new-by-initial-value",
        ),
    ),
    _in_session(
        "claim-c24-new-by-initial-value",
        new_by_initial_value,
        lambda x, change: -x,
        "Neg;AssignVariableOp",
    ),
    _in_session("claim-c24-copy-graph-of-resource", copy_graph_of_resource, _apart, RESOURCE, GRAPH),
    _in_session("claim-c24-copy-graph-of-reference", copy_graph_of_reference, _apart, REFERENCE, GRAPH),
    _in_session(
        "claim-c24-import-resource-beside",
        import_resource_beside,
        lambda x, change: (x + change, x + 2 * change, x),
        "AssignAddVariableOp;AssignVariableOp",
        _claim("c", BY_GRAPH),
    ),
    _in_session(
        "claim-c24-import-reference-beside",
        import_reference_beside,
        lambda x, change: (x, x + change, x + change),
        "AssignAdd;Assign",
        _claim(
            "c",
            BY_GRAPH,
            reference=lambda x, change: (x + change, x + 2 * change, x),
            refuted={"*/*": "a reference variable is known by its node's name, and the copied node has another one"},
            instead="claim-c24-reuse",
        ),
    ),
    _in_session(
        "claim-c24-two-sessions",
        two_sessions,
        _apart,
        "AssignAddVariableOp",
        _claim(
            "c",
            BY_GRAPH,
            reference=lambda x, change: (x + change, x + 2 * change),
            refuted={"*/*": "each session has variables of its own, also where two share a graph"},
            instead="claim-c24-load-into-copied-graph",
        ),
    ),
    _in_session("claim-c24-load", load_resource_variable, _apart, RESOURCE, LOAD, tier="smoke"),
    _in_session("claim-c24-load-references", load_reference_variable, _apart, REFERENCE, LOAD),
    _in_session(
        "claim-c24-load-into-copied-graph",
        load_into_copied_graph,
        lambda x, change: (x, 2 * x),
        RESOURCE,
        LOAD,
    ),
    _in_session("claim-c24-reuse", reuse, _one, RESOURCE),
    _in_order("claim-c24-name-twice", name_twice, lambda x, c: (x + c, x, {"original": x}), one_variable),
)
