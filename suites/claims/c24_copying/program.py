"""Variables copied by assign, by a new variable, by copying the graph, and by load."""

import numpy as np


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


# One variable under two names.
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
