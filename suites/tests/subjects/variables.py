"""Variables that are not assigned to, copies that are no copies, and graphs that are not imported."""

from types import SimpleNamespace

from tf_opdiff.suites.tests.subjects.training import of_optimizers


def _made(change):
    """A way that changes every variable when it is made, and every slot of an optimizer of version 1."""
    slots = of_optimizers(lambda tf, optimizer: {"get_slot": lambda *slot: change(optimizer.get_slot(*slot))})

    def way(tf):
        v1 = tf.compat.v1

        def changed(make):
            return lambda *args, **more: change(make(*args, **more))

        return slots(tf) | {
            "Variable": changed(tf.Variable),
            "compat.v1.Variable": changed(v1.Variable),
            "compat.v1.get_variable": changed(v1.get_variable),
            "compat.v1.global_variables": lambda: list(map(change, v1.global_variables())),
        }

    return way


def _with_other_load(variable):
    def load(value, session):
        with variable.graph.as_default():
            session.run(variable.assign(value))

    variable.load = load
    return variable


def _without_assign(variable):
    variable.assign = lambda value: variable.assign_add(0 * variable)
    return variable


def _without_assign_add(variable):
    variable.assign_add = lambda delta, read_value=True: variable.assign(variable + 0 * delta, read_value=read_value)
    return variable


def _without_scatter_sub(variable):
    variable.scatter_sub = lambda slices: None
    return variable


def _with_initial_value(variable):
    variable.initialized_value = lambda: variable.initial_value
    return variable


initial_value = _made(_with_initial_value)
loaded_by_assign = _made(_with_other_load)
not_assigned = _made(_without_assign)
not_added_to = _made(_without_assign_add)
not_scattered_to = _made(_without_scatter_sub)


def no_scatter_sub(tf):
    return {"compat.v1.scatter_sub": lambda *_: tf.no_op()}


class _WithoutUpdates:
    """A variable that is never assigned to by what is put into a collection."""

    def __init__(self, tf, variable):
        self.tf, self.variable = tf, variable

    def __sub__(self, other):
        return self.variable - other

    def assign_sub(self, _amount):
        return self.tf.no_op()

    def assign(self, _value):
        return self.tf.no_op()


def no_updates(tf):
    """Variables that are not trained get no update."""

    def get_variable(name, initializer, trainable=True, **more):
        variable = tf.compat.v1.get_variable(name, initializer=initializer, trainable=trainable, **more)
        return variable if trainable else _WithoutUpdates(tf, variable)

    return {"compat.v1.get_variable": get_variable}


def chosen_by_name(tf):
    def get_collection(key, scope):
        return [variable for variable in tf.compat.v1.global_variables() if variable.name.startswith(scope)]

    return {"compat.v1.get_collection": get_collection}


def from_collection(tf):
    v1 = tf.compat.v1
    return {"compat.v1.global_variables": lambda: v1.get_collection(v1.GraphKeys.GLOBAL_VARIABLES)}


def same_variable(tf):
    """A variable that is made of another is this other one."""

    def of(make):
        return lambda value, **more: value if hasattr(value, "assign_add") else make(value, **more)

    return {"Variable": of(tf.Variable), "compat.v1.Variable": of(tf.compat.v1.Variable)}


def evaluated_by_run(tf):
    def get_variable(name, initializer):
        variable = tf.compat.v1.get_variable(name, initializer=initializer)
        variable.eval = lambda session: session.run(variable)
        return variable

    return {"compat.v1.get_variable": get_variable}


def imported_by_parts(tf):
    """A graph and its variables, imported one after the other."""

    def import_meta_graph(graph):
        tf.import_graph_def(graph.graph_def, name="")
        variables = graph.collection_def["variables"].bytes_list.value
        for text in variables:
            proto = _variable_proto(text)
            variable = tf.compat.v1.Variable.from_proto(proto)
            tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES, variable)

    return {"compat.v1.train.import_meta_graph": import_meta_graph}


def _variable_proto(text):
    from tensorflow.core.framework import variable_pb2

    proto = variable_pb2.VariableDef()
    proto.ParseFromString(text)
    return proto


def not_imported(tf):
    """The elements of the graph itself, in the place of those of its copy."""

    def import_graph_def(graph_def, return_elements, name):
        graph = tf.compat.v1.get_default_graph()
        return [graph.as_graph_element(element) for element in return_elements]

    return {"graph_util.import_graph_def": import_graph_def}


class _Grid:
    """A variable that is a grid of tensors: what is assigned to an element of it is an element of the result."""

    def __init__(self, tf, zeros):
        self.tf, self.shape, self.elements = tf, zeros.shape, {}

    def __getitem__(self, place):
        i, j = map(int, place)
        return SimpleNamespace(assign=lambda value: self.elements.update({(i, j): value}))

    def __tf_tensor__(self, dtype=None, name=None):
        rows, columns = self.shape
        return self.tf.stack([self.tf.stack([self.elements[i, j] for j in range(columns)]) for i in range(rows)])


def grid_of_tensors(tf):
    return {"Variable": lambda zeros, **_: _Grid(tf, zeros)}


def grid_in_state(tf):
    return {
        "@state": lambda state: {"result": _Grid(tf, state["result"])},
        "control_dependencies": lambda ops: tf.control_dependencies([]),
    }
