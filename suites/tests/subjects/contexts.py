"""Contexts, left out, empty, or around nothing: override maps, control dependencies, graphs, sessions."""

from contextlib import contextmanager, nullcontext

from tf_opdiff.suites.tests.subjects.replaced import Replaced


def _map(override):
    """A default graph whose override map is `override(graph, mapping)`."""

    def way(tf):
        def get_default_graph():
            graph = tf.compat.v1.get_default_graph()
            return Replaced(graph, {"gradient_override_map": lambda mapping: override(graph, mapping)})

        return {"compat.v1.get_default_graph": get_default_graph}

    return way


def _around_nothing(context):
    with context:
        pass
    return nullcontext()


without_map = _map(lambda graph, mapping: nullcontext())
empty_map = _map(lambda graph, mapping: graph.gradient_override_map({}))
map_around_nothing = _map(lambda graph, mapping: _around_nothing(graph.gradient_override_map(mapping)))


def no_dependencies(tf):
    return {"control_dependencies": lambda ops: nullcontext()}


def dependencies_on_nothing(tf):
    return {"control_dependencies": lambda ops: tf.control_dependencies([])}


def dependencies_of_nothing(tf):
    return {"control_dependencies": lambda ops: _around_nothing(tf.control_dependencies(ops))}


def graph_not_entered(tf):
    """A graph that is made, and whose context is that of the graph before."""

    def graph():
        def as_default():
            return nullcontext(tf.compat.v1.get_default_graph())

        return Replaced(tf.Graph(), {"as_default": as_default})

    return {"Graph": graph}


def one_session(tf):
    """Every session is the first one, on the first one's graph."""

    def shared(session):
        open_sessions = []

        @contextmanager
        def opened(graph=None):
            if open_sessions:
                yield open_sessions[0]
                return
            with session(graph) as first:
                open_sessions.append(first)
                yield first
            open_sessions.clear()

        return opened

    return {"@session": shared}
