"""cond: v1 control flow (Switch, Merge), v2 (If, StatelessIf), and the branch that an eager program runs.

The gradient of an input that only the branch not taken uses is zeros where the graph holds both branches. In eager mode
it is unconnected, since the tape has one branch alone. An input that no branch uses is unconnected everywhere.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.plan import MODES, WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.forms.programs.branches import ROUNDED, either
from tf_opdiff.suites.reference.control_flow import cond as ref


def v2(tf, predicate, then, otherwise):
    """`tf.cond`: If or StatelessIf in any graph."""
    return tf.cond(predicate, then, otherwise)


def v1(tf, predicate, then, otherwise):
    """v1's cond: Switch and Merge in a v1 graph; in a `tf.function` v2 all the same, and one branch in eager mode."""
    tf.compat.v1.disable_control_flow_v2()
    try:
        return tf.compat.v1.cond(predicate, then, otherwise)
    finally:
        tf.compat.v1.enable_control_flow_v2()


def _conds(name, program, *, runs, op="StatelessIf", eager=None, **fields):
    """Two specs of a program(tf, cond, *inputs): `name` with v2's cond, in every mode, and `name-v1` with v1's.

    v1 control flow exists in v1 graphs alone: in a `tf.function`, v1's cond gives If as well, as `cond-captured` shows.

    Args:
      name: of the spec with v2's cond.
      program: program(tf, cond, *inputs).
      runs: an op that either branch runs in eager mode, where there is no If.
      op: the OpDef of v2's cond in a graph: If where a branch has side effects.
      eager: the side of the contract for eager mode, if it differs.
      fields: those of `Spec`.
    """
    contract = {"*/eager": eager} if eager else {}
    for suffix, cond, modes in (("", v2, MODES), ("-v1", v1, ("graph",))):
        yield Spec(
            name=name + suffix,
            program=lambda tf, *a, c=cond: program(tf, c, *a),
            ops={"eager": runs, "function": op, "xla": op, "graph": op if cond is v2 else "Switch;Merge"},
            modes=modes,
            contract=contract,
            **fields,
        )


def _one_branch(reference, vjp=None):
    """The side of the contract for eager mode; a VJP that takes `zeros` goes without them."""
    alone = partial(vjp, zeros=False) if vjp else None
    return Side(reference=reference, vjp=alone, why="an eager cond runs one branch, and only that is on the tape")


def _nested(p, q):
    """A recipe: two predicates of these values, and two vectors."""
    return lambda draw, d: (np.array(p), np.array(q), draw.values(d, 5), draw.values(d, 5))


def nested(tf, cond, p, q, x, y):
    """x is used by the branches under p alone, y by one of them and by those under not p."""
    then = lambda: cond(tf, q, lambda: x * y, lambda: x * x)  # noqa: E731
    return cond(tf, p, then, lambda: cond(tf, q, lambda: y * y, lambda: y * 2))


def counted(tf, cond, state, p, x):
    """Either branch counts its runs in a variable of its own, and its traces in a list."""

    def then():
        state["then_traced"].append(1)
        count = state["then"].assign_add(1)
        with tf.control_dependencies([count]):
            return x * 2

    def otherwise():
        state["else_traced"].append(1)
        count = state["else"].assign_add(10)
        with tf.control_dependencies([count]):
            return x * 3

    return cond(tf, p, then, otherwise)


def counters(tf, *_):
    """For either branch, a variable that counts its runs and a list of its traces."""
    return {"then": tf.Variable(0), "else": tf.Variable(0), "then_traced": [], "else_traced": []}


def converted(tf, _, p, x, y):
    """A Python `if` on a tensor, as AutoGraph converts it."""
    return tf.autograph.to_graph(python_if)(p, x, y)


def python_if(p, x, y):
    """A statement, not an expression: that is what AutoGraph converts."""
    if p:  # noqa: SIM108
        z = x * y
    else:
        z = x * x
    return z


#: The value of the variable of cond-variable.
_V = np.array([2.0, 3.0, 5.0])


def _variable_vjp(g, p, x, zeros=True):
    """The VJP of x * v where p is true, else x * 2; v is a variable."""
    return None, g * (_V if p else 2), g * x if p else np.zeros_like(x) if zeros else None


_NUMBERS = {"positive": 4, "zero": 0, "negative": -3, "nan": np.nan}
_SCALARS = {k: lambda draw, d, v=v: (np.array(v, d),) for k, v in _NUMBERS.items()}


SPECS = (
    next(  # AutoGraph knows v2's cond alone
        _conds(
            "cond-autograph",
            converted,
            runs="Mul",
            reference=lambda p, x, y: x * y if p else x * x,
            vjp=ref.if_vjp,
            eager=_one_branch(lambda p, x, y: x * y if p else x * x, ref.if_vjp),
            recipes=either((7,), (7,)),
            ulp=ROUNDED,
        )
    ),
    *(
        replace(spec, modes=MODES)
        for spec in _conds(
            "cond-captured",
            lambda tf, cond, p, x, y, z, w: cond(tf, p, lambda: x * y, lambda: x * z),
            runs="Mul",
            reference=lambda p, x, y, z, w: x * (y if p else z),
            vjp=ref.captured_vjp,
            eager=_one_branch(lambda p, x, y, z, w: x * (y if p else z), ref.captured_vjp),
            recipes=either((7,), (7,), (7,), (7,)),
            dtypes=FLOATS,
            ulp=ROUNDED,
        )
    ),
    *_conds(
        "cond-dead-sqrt",  # unlike where, cond keeps a dead branch out of the gradient too
        lambda tf, cond, x: cond(tf, x > 0, lambda: tf.sqrt(x), lambda: x * 0.5),
        runs="Greater",
        reference=lambda x: np.sqrt(x) if x > 0 else x * 0.5,
        vjp=lambda g, x: g * 0.5 / np.sqrt(x) if x > 0 else g * 0.5,
        recipes=_SCALARS,
        dtypes=FLOATS,
    ),
    *_conds(
        "cond-dtypes",
        lambda tf, cond, p, x, y: cond(tf, p, lambda: tf.reverse(x, [0]), lambda: tf.reverse(y, [0])),
        runs="ReverseV2",
        reference=ref.reverse,
        recipes=either((7,), (7,)),
        dtypes=(*COMPLEX, *INTEGERS, "bool"),
    ),
    *_conds(
        "cond-nested",
        nested,
        runs="Mul",
        reference=ref.nested_reference,
        vjp=ref.nested_vjp,
        eager=_one_branch(ref.nested_reference, ref.nested_vjp),
        recipes={f"{p}_{q}".lower(): _nested(p, q) for p in (False, True) for q in (False, True)},
        ulp=ROUNDED,
    ),
    *_conds(
        "cond-side-effects",
        counted,
        runs="AssignAddVariableOp",
        op="If",
        reference=ref.counts(3, True),
        eager=_one_branch(ref.counts(3, False)),
        recipes=either((3,)),
        state=counters,
        steps=3,
        ulp=ROUNDED,
    ),
    *_conds(
        "cond-side-effects-gradient",  # asking for the gradient does not run the updates again
        counted,
        runs="AssignAddVariableOp",
        op="If",
        reference=ref.counts(1, True),
        eager=_one_branch(ref.counts(1, False)),
        vjp=lambda g, p, x: (None, g * (2 if p else 3), None, None),
        recipes=either((3,)),
        state=counters,
        ulp=ROUNDED,
    ),
    Spec(
        name="cond-string",
        program=lambda tf, p, x, y: tf.cond(p, lambda: tf.reverse(x, [0]), lambda: tf.reverse(y, [0])),
        reference=ref.reverse,
        recipes=either((7,), (7,)),
        ops={"eager": "ReverseV2", "function": "StatelessIf", "graph": "StatelessIf"},
        dtypes=("object",),
        modes=WITHOUT_XLA,  # XLA has no strings
    ),
    *_conds(
        "cond-variable",
        lambda tf, cond, state, p, x: cond(tf, p, lambda: x * state["v"], lambda: x * 2),
        runs="Mul",
        op="If",
        reference=lambda p, x: x * (_V if p else 2),
        vjp=_variable_vjp,
        eager=_one_branch(lambda p, x: x * (_V if p else 2), _variable_vjp),
        recipes=either((3,)),
        state=lambda tf, *_: {"v": tf.Variable(_V.astype(np.float32))},
        ulp=ROUNDED,
    ),
)
