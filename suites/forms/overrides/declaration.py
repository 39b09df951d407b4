"""Declarations: ops, and a gradient to put in place of each op's own; the programs of every mechanism use them.

A rule is the gradient of a quadratic function of the inputs, its `potential`. Three things follow. A rule is linear in
the inputs, so its derivative along tangents is the rule itself at the tangents. The stop_gradient trick can express it.
And rules differ from the gradients that the ops have by themselves, for any upstream that is not zero.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Raises
from tf_opdiff.suites.forms.recipes.quarters import quarters

#: The number of elements of every input that is a vector.
SIZE = 5


@dataclass(frozen=True, kw_only=True)
class Override:
    """An op and the gradient to put in place of its own.

    Inputs are vectors of floats, `floats` of them, and then inputs without a gradient.

    name                        the name of the op in the names of specs.
    title, formula              the op and the rule, for readers.
    op                          the OpDef in a graph; `eager_op` is that of an eager op, if it is another one.
    forward(tf, *inputs)        → the result, by one op of type `op`.
    numpy(*inputs)              → the result in NumPy, also from float32 arrays in a Python function.
    rule(g, *floats)            → the gradient of each float input. Arithmetic alone, so it takes arrays and tensors.
    potential(*floats)          → a number for each element whose gradient is the rule. Arithmetic alone.
    natural(g, *inputs)         → the gradient that the op has by itself, of each float input.
    compiled                    the name of the op in C++ with the same forward pass; empty if there can be none.
    recipe(draw, dtype)         → the inputs.
    refused                     the promise of an error in the forward pass; under XLA, `clamped` takes its place.
    updates                     whether the op is made under a control dependency on an update of a variable.
    smooth                      whether the op has a derivative of its own other than zero.
    has_gradient                whether the op has a gradient of its own other than None.
    branches                    whether the op is a conditional: eager mode runs one branch alone.
    python                      whether the op runs a Python function.
    """

    name: str
    title: str
    formula: str
    op: str
    forward: Callable[..., Any]
    numpy: Callable[..., Any]
    rule: Callable[..., Any]
    potential: Callable[..., Any]
    natural: Callable[..., Any]
    recipe: Callable[..., Any]
    compiled: str = ""
    floats: int = 1
    eager_op: str | None = None
    refused: Raises | None = None
    updates: bool = False
    smooth: bool = True
    has_gradient: bool = True
    branches: bool = False
    python: bool = False


def _vectors(count):
    """A recipe: vectors of quarters, whose products are exact in float32."""
    return lambda draw, dtype: tuple(quarters(draw, dtype, SIZE) for _ in range(count))


def _chosen(draw, dtype):
    """A recipe: two vectors, and a choice between their elements."""
    return *_vectors(2)(draw, dtype), np.array([True, False, False, True, False])


def _branched(draw, dtype):
    """A recipe: two vectors, and a predicate."""
    return *_vectors(2)(draw, dtype), np.array(True)


def _beyond(draw, dtype):
    """A recipe: a vector, and indices of which the fourth is out of range."""
    return *_vectors(1)(draw, dtype), np.array([0, 1, 1, SIZE + 1, 3], np.int32)


def _dropped(g, x, i):
    """The gradient of a gather under XLA: what belongs to an index out of range is dropped."""
    total = np.zeros_like(x)
    inside = (i >= 0) & (i < len(x))
    np.add.at(total, i[inside], g[inside])
    return (total,)


def _select(name, title, op, forward):
    """A choice between the elements of two vectors, by one of TensorFlow's two ops."""
    return Override(
        name=name,
        title=title,
        formula="2·y·g for x, 2·x·g for y, whichever was chosen",
        op=op,
        forward=forward,
        numpy=lambda x, y, c: np.where(c, x, y),
        rule=lambda g, x, y: (2 * y * g, 2 * x * g),
        potential=lambda x, y: 2 * x * y,
        natural=lambda g, x, y, c: (np.where(c, g, 0), np.where(c, 0, g)),
        recipe=_chosen,
        compiled="overridden_select",
        floats=2,
    )


OVERRIDES = (
    _select("select", "Select (tf.where)", "SelectV2", lambda tf, x, y, c: tf.where(c, x, y)),
    _select("select-v1", "Select (tf.compat.v1.where)", "Select", lambda tf, x, y, c: tf.compat.v1.where(c, x, y)),
    Override(
        name="cond",
        title="cond (tf.cond)",
        formula="y·g for x, x·g for y, whichever branch ran",
        op="StatelessIf",
        branches=True,
        eager_op="Mul",
        forward=lambda tf, x, y, p: tf.cond(p, lambda: 2 * x, lambda: 3 * y),
        numpy=lambda x, y, p: 2 * x if p else 3 * y,
        rule=lambda g, x, y: (y * g, x * g),
        potential=lambda x, y: x * y,
        natural=lambda g, x, y, p: (2 * g, np.zeros_like(y)) if p else (np.zeros_like(x), 3 * g),
        recipe=_branched,
        compiled="overridden_cond",
        floats=2,
    ),
    Override(
        name="floor",
        title="floor (tf.floor)",
        formula="-2·x·g",
        op="Floor",
        forward=lambda tf, x: tf.floor(x),
        numpy=lambda x: np.floor(x),
        rule=lambda g, x: (-2 * x * g,),
        potential=lambda x: -x * x,
        natural=lambda g, x: (None,),
        recipe=_vectors(1),
        compiled="overridden_floor",
        smooth=False,
        has_gradient=False,
    ),
    Override(
        name="sign",
        title="sign (tf.sign)",
        formula="4·x·g",
        op="Sign",
        forward=lambda tf, x: tf.sign(x),
        numpy=lambda x: np.sign(x),
        rule=lambda g, x: (4 * x * g,),
        potential=lambda x: 2 * x * x,
        natural=lambda g, x: (np.zeros_like(x),),
        recipe=_vectors(1),
        compiled="overridden_sign",
        smooth=False,
    ),
    Override(
        name="py-func",
        title="py_func (tf.numpy_function)",
        formula="-4·x·g",
        op="PyFunc",
        python=True,
        eager_op="",
        forward=lambda tf, x: tf.ensure_shape(tf.numpy_function(np.ceil, [x], x.dtype), x.shape),
        numpy=lambda x: np.ceil(x),
        rule=lambda g, x: (-4 * x * g,),
        potential=lambda x: -2 * x * x,
        natural=lambda g, x: (None,),
        recipe=_vectors(1),
        smooth=False,
        has_gradient=False,
    ),
    Override(
        name="gather",
        title="gather with an index out of range (tf.gather)",
        formula="8·x·g: element i of the upstream belongs to element i of x",
        op="GatherV2",
        forward=lambda tf, x, i: tf.gather(x, i),
        numpy=lambda x, i: x[i],
        rule=lambda g, x: (8 * x * g,),
        potential=lambda x: 4 * x * x,
        natural=_dropped,
        recipe=_beyond,
        compiled="overridden_gather",
        refused=Raises("INVALID_ARGUMENT", "[0, 5)"),
    ),
    Override(
        name="identity",
        title="identity under a control dependency (tf.identity)",
        formula="8·x·g",
        op="Identity",
        forward=lambda tf, x: tf.identity(x),
        numpy=lambda x: x,
        rule=lambda g, x: (8 * x * g,),
        potential=lambda x: 4 * x * x,
        natural=lambda g, x: (g,),
        recipe=_vectors(1),
        compiled="overridden_identity",
        updates=True,
    ),
)
