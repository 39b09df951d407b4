"""cond: v1 control flow (Switch, Merge), v2 (If, StatelessIf), and what an eager program does with `tf.cond`.

The gradient of what only the branch not taken uses is zeros wherever the graph holds both branches, and unconnected in
eager mode, where one branch alone is ever on the tape; what no branch uses is unconnected everywhere.
"""

import numpy as np

from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.spec import Raises, Side, Spec

_VALUES = {"positive": 4, "zero": 0, "negative": -3, "nan": np.nan}
_ONE_TAPE = "an eager cond runs one branch, and only that is on the tape"


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


def _conds(name, program, *, reference, runs, vjp=None, stateful=False, eager=None, **fields):
    """Two specs of a program(tf, cond, *inputs): `name` with v2's cond, in every mode, and `name-v1` with v1's.

    v1 control flow exists in v1 graphs alone: in a `tf.function`, v1's cond gives If as well, as `cond-captured` shows.
    `runs` names an op that either branch runs in eager mode, where there is no If. A `vjp` that takes `zeros=False`
    says by it what is unconnected in eager mode; `eager` is a reference of its own for that mode.
    """
    op = "If" if stateful else "StatelessIf"
    unconnected = vjp and "zeros" in vjp.__code__.co_varnames
    if unconnected or eager:
        side = (lambda *a: vjp(*a, zeros=False)) if unconnected else None
        fields["contract"] = {"*/eager": Side(reference=eager or reference, vjp=side, why=_ONE_TAPE)}
    for suffix, cond, modes in (("", v2, MODES), ("-v1", v1, MODES if name == "cond-captured" else ("graph",))):
        yield Spec(
            name=name + suffix,
            program=lambda tf, *a, c=cond: program(tf, c, *a),
            reference=reference,
            vjp=vjp,
            ops={"eager": runs, "function": op, "xla": op, "graph": op if cond is v2 else "Switch;Merge"},
            modes=modes,
            **fields,
        )


def _either(*shapes):
    """Recipes: a predicate of either value, then inputs of these shapes. Both run the same compiled program."""
    return {
        name: lambda draw, d, p=p: (np.array(p), *(draw.values(d, *shape) for shape in shapes))
        for name, p in (("false", False), ("true", True))
    }


def _nested(p, q):
    return lambda draw, d: (np.array(p), np.array(q), draw.values(d, 5), draw.values(d, 5))


def _when(p, taken, zeros=True):
    """The gradients of two inputs of which one branch uses the first and the other the second."""
    chosen, other = taken
    dead = np.zeros_like(other) if zeros else None
    return (chosen, dead) if p else (dead, chosen)


def captured_vjp(g, p, x, y, z, w, zeros=True):
    """x is used by both branches, y by the first, z by the second, w by none."""
    return None, g * (y if p else z), *_when(p, (g * x, z if p else y), zeros), None


def nested(tf, cond, p, q, x, y):
    """x is used by the branches under p alone, y by one of them and by those under not p."""
    then = lambda: cond(tf, q, lambda: x * y, lambda: x * x)  # noqa: E731
    return cond(tf, p, then, lambda: cond(tf, q, lambda: y * y, lambda: y * 2))


def nested_reference(p, q, x, y):
    """The four leaves."""
    return (x * y if q else x * x) if p else (y * y if q else y * 2)


def nested_vjp(g, p, q, x, y, zeros=True):
    """The VJP of the leaf that was taken; zeros, or nothing, to what it does not use."""
    dead = np.zeros_like(x) if zeros else None
    if p:
        return None, None, g * (y if q else 2 * x), g * x if q else dead
    return None, None, dead, g * (2 * y if q else 2)


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


def counts(steps, traced_both):
    """Results of so many steps; a graph traces each branch once, an eager program calls the taken one every time."""

    def reference(p, x):
        y = x * (2 if p else 3)
        ran = {"then": np.int32(steps * p), "else": np.int32(10 * steps * (not p))}
        calls = (1, 1) if traced_both else (steps * int(p), steps * int(not p))
        return np.stack([y] * steps) if steps > 1 else y, ran | {
            "then_traced": np.int64(calls[0]),
            "else_traced": np.int64(calls[1]),
        }

    return reference


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


def raw_if(op, then, otherwise):
    """raw_ops.If or StatelessIf over traced branches of two inputs."""

    def program(tf, p, x, y):
        traced = [
            tf.function(f, autograph=False).get_concrete_function(
                tf.TensorSpec(x.shape, x.dtype), tf.TensorSpec(y.shape, y.dtype)
            )
            for f in (lambda x, y: [then(x, y)], lambda x, y: [otherwise(x, y)])
        ]
        attributes = {"Tout": [x.dtype], "output_shapes": [x.shape]}
        return getattr(tf.raw_ops, op)(
            cond=p, input=[x, y], then_branch=traced[0], else_branch=traced[1], **attributes
        )[0]

    return program


def switch_merge(tf, p, x):
    """Either side of a Switch, which is dead if the predicate says so, into a Merge."""
    otherwise, then = tf.raw_ops.Switch(data=x, pred=p)
    return tuple(tf.raw_ops.Merge(inputs=[otherwise * otherwise, then * 2]))


def switch_merge_outside(tf, p, x, y):
    """The same with y, which no Switch guards, inside one branch."""
    otherwise, then = tf.raw_ops.Switch(data=x, pred=p)
    return tf.raw_ops.Merge(inputs=[otherwise * y, then * 2])[0]


def _predicate(value, shape=()):
    """Recipe: a predicate of the case's dtype, and two int32 vectors to choose from."""

    def recipe(draw, d):
        p = np.full(shape, value if d.kind != "O" else b"0" * int(value)).astype(d)
        return p, np.arange(1, 4, dtype=np.int32), np.arange(-3, 0, dtype=np.int32)

    return recipe


def truth(p, x, y):
    """A scalar is true if nonzero or a nonempty string, any other tensor if not empty.

    https://www.tensorflow.org/api_docs/python/tf/raw_ops/StatelessIf
    """
    return (x if np.size(p) else y) if np.ndim(p) else (x if p.item() else y)


def _refused(code):
    return lambda *_: Raises(code)


_PREDICATE = {"program": raw_if("StatelessIf", lambda x, y: x + y, lambda x, y: x * y), "ops": "StatelessIf"}
_PREDICATES = {
    "zero": _predicate(0),
    "nonzero": _predicate(3),
    "empty": _predicate(0, (0,)),
    "vector": _predicate(0, (2,)),
}
_TAPE_V1 = "a tape does not differentiate v1 control flow"


def _chosen(p, x, y):
    return truth(p, x + y, x * y)


def _reversed(p, x, y):
    return x[::-1] if p else y[::-1]


def if_vjp(g, p, x, y, zeros=True):
    """Of x * y where p, else x * x."""
    return None, g * (y if p else 2 * x), g * x if p else np.zeros_like(y) if zeros else None


def variable_vjp(g, p, x, zeros=True):
    """Of x * v where p, else x * 2, v being a variable."""
    return None, g * (_V if p else 2), g * x if p else np.zeros_like(x) if zeros else None


_V = np.array([2.0, 3.0, 5.0])
_ROUNDED = {"output": 0.5, "grad": 0.5}  # one operation, correctly rounded
_SCALARS = {k: lambda draw, d, v=v: (np.array(v, d),) for k, v in _VALUES.items()}

SPECS = (
    next(  # AutoGraph knows v2's cond alone
        _conds(
            "cond-autograph",
            converted,
            runs="Mul",
            reference=lambda p, x, y: x * y if p else x * x,
            vjp=if_vjp,
            recipes=_either((7,), (7,)),
            ulp=_ROUNDED,
        )
    ),
    *_conds(
        "cond-captured",
        lambda tf, cond, p, x, y, z, w: cond(tf, p, lambda: x * y, lambda: x * z),
        runs="Mul",
        reference=lambda p, x, y, z, w: x * (y if p else z),
        vjp=captured_vjp,
        recipes=_either((7,), (7,), (7,), (7,)),
        dtypes=FLOATS,
        ulp=_ROUNDED,
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
        reference=_reversed,
        recipes=_either((7,), (7,)),
        dtypes=(*COMPLEX, *INTEGERS, "bool"),
    ),
    *_conds(
        "cond-nested",
        nested,
        runs="Mul",
        reference=nested_reference,
        vjp=nested_vjp,
        recipes={f"{p}_{q}".lower(): _nested(p, q) for p in (False, True) for q in (False, True)},
        ulp=_ROUNDED,
    ),
    *_conds(
        "cond-side-effects",
        counted,
        runs="AssignAddVariableOp",
        stateful=True,
        reference=counts(3, True),
        eager=counts(3, False),
        recipes=_either((3,)),
        state=counters,
        steps=3,
        ulp=_ROUNDED,
    ),
    *_conds(
        "cond-side-effects-gradient",  # asking for the gradient does not run the updates again
        counted,
        runs="AssignAddVariableOp",
        stateful=True,
        reference=counts(1, True),
        eager=counts(1, False),
        vjp=lambda g, p, x: (None, g * (2 if p else 3), None, None),
        recipes=_either((3,)),
        state=counters,
        ulp=_ROUNDED,
    ),
    Spec(
        name="cond-string",
        program=lambda tf, p, x, y: tf.cond(p, lambda: tf.reverse(x, [0]), lambda: tf.reverse(y, [0])),
        reference=_reversed,
        recipes=_either((7,), (7,)),
        ops={"eager": "ReverseV2", "function": "StatelessIf", "graph": "StatelessIf"},
        dtypes=("object",),
        modes=("eager", "function", "graph"),  # XLA has no strings
    ),
    *_conds(
        "cond-variable",
        lambda tf, cond, state, p, x: cond(tf, p, lambda: x * state["v"], lambda: x * 2),
        runs="Mul",
        stateful=True,
        reference=lambda p, x: x * (_V if p else 2),
        vjp=variable_vjp,
        recipes=_either((3,)),
        state=lambda tf, *_: {"v": tf.Variable(_V.astype(np.float32))},
        ulp=_ROUNDED,
    ),
    Spec(
        name="if-predicate",
        reference=_chosen,
        recipes=_PREDICATES,
        dtypes=("float32", "float64", "int8", "int16", "int32", "int64", "uint8"),
        **_PREDICATE,
    ),
    Spec(
        name="if-predicate-bool",
        reference=_chosen,
        recipes=_PREDICATES,
        dtypes=("bool",),
        tier="smoke",
        **_PREDICATE,
    ),
    Spec(
        name="if-predicate-nan",
        reference=_chosen,
        recipes={"nan": _predicate(np.nan), "negative_zero": _predicate(-0.0)},
        dtypes=("float32", "float64"),
        **_PREDICATE,
    ),
    Spec(
        name="if-predicate-string",
        reference=_chosen,
        recipes=_PREDICATES,
        dtypes=("object",),
        modes=("eager", "function", "graph"),  # XLA has no strings
        **_PREDICATE,
    ),
    *(
        Spec(
            name=f"if-predicate-{name}",
            reference=_chosen,
            recipes={"nonzero": _predicate(3)},
            dtypes=dtypes,
            tier=tier,
            **_PREDICATE,
        )
        for name, tier, dtypes in (
            ("unsupported", "default", ("float16", "uint32")),  # each of these costs a server: see known.toml
            ("unsupported-more", "full", ("bfloat16", "uint16", "uint64", "complex64", "complex128")),
        )
    ),
    *(
        Spec(
            name=f"if-raw-{op.lower()}",
            program=raw_if(op, lambda x, y: x * y, lambda x, y: x - y),
            reference=lambda p, x, y: x * y if p else x - y,
            vjp=lambda g, p, x, y: (None, g * y if p else g, g * x if p else -g),
            recipes=_either((7,), (7,)),
            ops=op,
            dtypes=FLOATS,
            ulp=_ROUNDED,
            contract={
                "*/eager": Side(
                    reference=lambda p, x, y: x * y if p else x - y,
                    vjp=_refused("AttributeError"),
                    why="the gradient of If looks for the branches in the graph of the op, and an eager op has none",
                )
            },
        )
        for op in ("If", "StatelessIf")
    ),
    Spec(
        name="switch-merge",
        program=switch_merge,
        reference=lambda p, x: (x * 2 if p else x * x, np.int32(p)),
        vjp=lambda g, p, x: (None, g[0] * (2 if p else 2 * x)),
        recipes=_either((7,)),
        ops="Switch;Merge",
        dtypes=FLOATS,
        modes=("function", "xla", "graph"),  # an eager tensor is never dead
        ulp=_ROUNDED,
        contract={
            "*/function": Side(
                reference=lambda p, x: (x * 2 if p else x * x, np.int32(p)),
                vjp=_refused("NotImplementedError"),
                why=_TAPE_V1,
                link="https://github.com/tensorflow/tensorflow/issues/31995",
            ),
            "*/xla": Side(reference=_refused("INVALID_ARGUMENT"), why="XLA compiles If, and knows no dead tensors"),
        },
    ),
    Spec(
        name="switch-merge-outside",  # what enters a branch without a Switch has a dead gradient where it is not taken
        program=switch_merge_outside,
        reference=lambda p, x, y: x * 2 if p else x * y,
        vjp=lambda g, p, x, y: Raises("INVALID_ARGUMENT") if p else (None, g * y, g * x),
        recipes=_either((7,), (7,)),
        ops="Switch;Merge",
        modes=("graph",),  # the others refuse the gradient of v1 control flow: see switch-merge
        ulp=_ROUNDED,
    ),
)
