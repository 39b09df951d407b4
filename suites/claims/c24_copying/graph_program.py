"""Variables copied to another graph as tf.contrib.copy_graph did, chosen by their scope, and loaded across sessions."""


# tf.contrib.copy_graph.copy_variable_to_graph: it runs initialized_value() in a session of its own.
def copy_variable_to_graph(tf, session, variable, graph, scope):
    with session(variable.graph) as temporary:
        value = temporary.run(variable.initialized_value())
    with graph.as_default():
        return tf.compat.v1.Variable(value, name=f"{scope}/{variable.op.name}", use_resource=False)


def copy_by_contrib(tf, session, x, change):
    tf.compat.v1.disable_control_flow_v2()  # as TensorFlow 1 had it: initialized_value() is a cond
    try:
        return copy_from(tf, session, x, change, use_resource=False)
    finally:
        tf.compat.v1.enable_control_flow_v2()


def copy_resource_by_contrib(tf, session, x, change):
    return copy_from(tf, session, x, change, use_resource=True)


def copy_from(tf, session, x, change, use_resource):
    with session() as s:
        original = tf.compat.v1.get_variable("weights", initializer=x, use_resource=use_resource)
        s.run(original.initializer)
        s.run(original.assign_add(change))
        with session() as other:
            copy = copy_variable_to_graph(tf, session, original, other.graph, "copied")
            other.run(copy.initializer)
            copy_then = other.run(copy)
            other.run(copy.assign_sub(change))
            copy_in_the_end = other.run(copy)
        return copy_then, copy_in_the_end, s.run(original)


# Variables of a scope.
def change_in_scope(tf, session, x, change, scope):
    with session() as s:
        with tf.compat.v1.variable_scope("net"):
            inside = tf.compat.v1.get_variable("weights", initializer=x)
        with tf.compat.v1.variable_scope("network"):
            outside = tf.compat.v1.get_variable("weights", initializer=x)
        s.run(tf.compat.v1.global_variables_initializer())
        chosen = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES, scope=scope)
        s.run([variable.assign_add(change) for variable in chosen])
        return s.run((inside, outside))


def change_by_filter(tf, session, x, change):
    with session() as s:
        with tf.compat.v1.variable_scope("net"):
            inside = tf.compat.v1.get_variable("weights", initializer=x)
        with tf.compat.v1.variable_scope("subnet"):
            outside = tf.compat.v1.get_variable("weights", initializer=x)
        s.run(tf.compat.v1.global_variables_initializer())
        chosen = [variable for variable in tf.compat.v1.global_variables() if "net/" in variable.name]
        s.run([variable.assign_add(change) for variable in chosen])
        return s.run((inside, outside))


def change_by_name(tf, session, x, change):
    return change_in_scope(tf, session, x, change, "net")


def change_by_name_and_slash(tf, session, x, change):
    return change_in_scope(tf, session, x, change, "net/")


# load, with the value that eval gives in another session.
def load_evaluated(tf, session, x, change):
    with session() as s:
        original = tf.compat.v1.get_variable("weights", initializer=x)
        train = original.assign_add(change)
        s.run(original.initializer)
        with session() as other:
            copy = tf.compat.v1.get_variable("weights", initializer=0 * x)
            copy.load(original.eval(session=s), other)
            s.run(train)
            copy_then = other.run(copy)
            other.run(copy.assign_sub(change))
        return copy_then, s.run(original)
