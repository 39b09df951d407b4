"""Evidence that a program runs the subject of its claim; see `evidence` in `harness.spec.spec`."""

from tf_opdiff.harness.spec.plan import MODES, WITHOUT_XLA

PY_FUNC = "called:compat.v1.py_func"
PY_FUNCTION = "called:py_function"
CUSTOM_GRADIENT = "called:custom_gradient"
CONTROL_DEPENDENCIES = "called:control_dependencies"
MINIMIZE = "called:compat.v1.train.Optimizer.minimize"
GRADIENT_CHECK = "called:compat.v1.test.compute_gradient_error"
FIFO_QUEUE = "called:queue.FIFOQueue"


def map_of(op, gradient):
    """The program entered the context of this map."""
    return f"called:Graph.gradient_override_map(op_type_map={ {op: gradient} })"


def mapped(op, gradient, *more):
    """A map replaces the gradient of an op. An eager op has no node to mark: there, the call is all the evidence."""
    called = map_of(op, gradient)
    marked = ";".join((called, f"replaced:{op}={gradient}", *more))
    return dict.fromkeys(MODES, marked) | {"eager": ";".join((called, *more))}


def by_py_func(*more):
    """py_func: in eager mode it calls the function at once; XLA refuses it, and calls nothing."""
    called = ";".join((PY_FUNC, *more))
    return {"eager": called, "xla": PY_FUNC} | dict.fromkeys(("function", "graph"), f"{called};ran:PyFunc")


def by_py_function(*more):
    """py_function: an op in every mode; XLA refuses it, and calls nothing."""
    called = ";".join((PY_FUNCTION, *more))
    return {"xla": PY_FUNCTION} | dict.fromkeys(WITHOUT_XLA, f"{called};ran:EagerPyFunc")


def py_func_mapped(gradient, *more):
    """py_func, and a map that replaces its gradient."""
    by_mode = mapped("PyFunc", gradient, *more)
    return {mode: f"{by_mode[mode]};{called}" for mode, called in by_py_func().items()}


def waiting_for(update):
    """A program enters a context of control dependencies; in a v1 graph, an op made there waits for the update."""
    return dict.fromkeys(MODES, CONTROL_DEPENDENCIES) | {"graph": f"{CONTROL_DEPENDENCIES};waits:NoOp={update}"}
