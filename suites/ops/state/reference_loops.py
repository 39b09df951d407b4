"""Gradients of loops that hand a reference variable on, in v1 graphs and in functions.

A function builds no loop of v1. It imports one, with its gradient, from a v1 graph, as it would from a SavedModel.
"""

from dataclasses import replace

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.programs.control_flow import in_function_of_v1, with_v1
from tf_opdiff.suites.forms.recipes.pairs import shaped
from tf_opdiff.suites.forms.state.variables import REFERENCE, final, like


def _loop(tf, v1, reference):
    """Three turns of a loop of v1; v1's function tells gradients of the loop."""
    turn = lambda n, reference: (n + 1, tf.raw_ops.RefIdentity(input=reference))  # noqa: E731
    return tf.identity(v1.while_loop(lambda n, _: n < 3, turn, [tf.constant(0), reference])[1])


def _loop_or_gradient(tf, v1, x, g=None):
    """The result of the loop on a new reference variable; with an upstream, the gradient by the reference."""
    reference = tf.raw_ops.Assign(ref=tf.raw_ops.VariableV2(**like("turned", x)), value=x)
    y = _loop(tf, v1, reference)
    return y if g is None else tf.gradients(y, reference, grad_ys=g)[0]


_BUILT = with_v1(_loop_or_gradient)


def _imported(tf, *xs):
    """The loop, or its gradient, imported from a v1 graph."""
    with tf.Graph().as_default() as graph:
        places = [tf.compat.v1.placeholder(x.dtype, x.shape) for x in xs]
        y = _BUILT(tf, *places)
    inputs = dict(zip([place.name for place in places], xs, strict=True))
    return tf.import_graph_def(graph.as_graph_def(), inputs, [y.name])[0]


_RUN = in_function_of_v1(_imported)


def _in_function(tf, x):
    """The imported loop, with the imported gradient as its own."""
    return tf.custom_gradient(lambda x: (_RUN(tf, x), lambda g: _RUN(tf, x, g)))(x)


def _in_functions(spec):
    """The twin of a spec in functions, which make the variable."""
    twin = replace(
        spec,
        name=f"{spec.name}-in-functions",
        ops=f"VariableV2;Assign;{spec.ops}",
        program=_in_function,
        reference=lambda x: x,
        vjp=lambda g, x: (g,),
        state=None,
        modes=("function",),
    )
    return (twin,)


SPECS = op(
    "ref-loop-gradient",
    "RefEnter;RefMerge;RefSwitch;RefNextIteration;RefExit;RefIdentity",
    part(
        program=with_v1(lambda tf, v1, state, x: _loop(tf, v1, state["v"]._ref())),
        reference=final(lambda x: x),
        vjp=lambda g, x: (None, g),
        recipes={"values": shaped((3, 5))},
        twins=[_in_functions],
    ),
    variables=REFERENCE,
    dtypes=tiered((*FLOATS, *COMPLEX)),
)
