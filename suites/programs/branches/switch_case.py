"""`tf.switch_case` and the raw ops Case and StatelessCase: indices in range, negative and too large.

Documentation: without a default, the last branch is the default, and any other index selects it.
https://www.tensorflow.org/api_docs/python/tf/switch_case
"""

import numpy as np

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.programs.branches import ROUNDED
from tf_opdiff.suites.forms.programs.control_flow import eager, flows


def last(tf, api, i, x):
    """Three branches, the last of which is the default."""
    return api.switch_case(i, [lambda: x * 2, lambda: x * x, lambda: x * 5])


def with_default(tf, api, i, x):
    """Two branches and a default."""
    return api.switch_case(i, {0: lambda: x * 2, 1: lambda: x * x}, default=lambda: x * 5)


def shuffled(tf, api, i, x):
    """Branches in another order than their indices."""
    return api.switch_case(i, {2: lambda: x * 5, 0: lambda: x * 2, 1: lambda: x * x})


def gap(tf, api, i, x):
    """Indices 0 and 2 without 1."""
    return api.switch_case(i, {0: lambda: x * 2, 2: lambda: x * x})


def no_branch(tf, api, i, x):
    """No branch."""
    return api.switch_case(i, [])


def dtypes(tf, api, i, x):
    """Branches of two dtypes."""
    return api.switch_case(i, [lambda: x * 2, lambda: tf.cast(x, tf.int32)])


def numbers(tf, api, i, x):
    """Branches with two results and with one."""
    y = api.switch_case(i, [lambda: [x * 2, x], lambda: [x * 3]])
    return y if isinstance(y, (tuple, list)) else [y]


def nested(tf, api, i, x):
    """A switch_case in a branch of another."""
    inner = lambda: api.switch_case(i + 1, [lambda: x, lambda: x * 7, lambda: x * x])  # noqa: E731
    return api.switch_case(i, [inner, lambda: x * 3, inner])


def raw_case(op):
    """raw_ops.Case or StatelessCase over three traced branches."""

    def program(tf, i, x):
        branches = [
            tf.function(f, autograph=False).get_concrete_function(tf.TensorSpec(x.shape, x.dtype))
            for f in (lambda x: [x * 2], lambda x: [x * x], lambda x: [x * 5])
        ]
        case = getattr(tf.raw_ops, op)
        return case(branch_index=i, input=[x], Tout=[x.dtype], branches=branches, output_shapes=[x.shape])[0]

    return program


_INDICES = {"first": 0, "second": 1, "third": 2, "three": 3, "negative": -1, "largest": 2**31 - 1, "smallest": -(2**31)}


def _recipes(*names, dtype=np.int32, shape=()):
    """Recipes: an index of each name, and a vector."""
    return {n: lambda draw, d, i=_INDICES[n]: (np.full(shape, i, dtype), draw.values(d, 3)) for n in names or _INDICES}


def selected(i, x):
    """The branch of the index; any index other than 0 and 1 selects the third."""
    return x * 2 if i == 0 else x * x if i == 1 else x * 5


def selected_vjp(g, i, x):
    """The VJP of `selected`."""
    return None, g * (2 if i == 0 else 2 * x if i == 1 else 5)


def nested_reference(i, x):
    """The reference of `nested`: its inner index is one larger; int32 wraps, and any other index selects the last."""
    return x * 3 if i == 1 else x * 7 if i == 0 else x if i == -1 else x * x


def nested_vjp(g, i, x):
    """The VJP of `nested`."""
    return None, g * (3 if i == 1 else 7 if i == 0 else 1 if i == -1 else 2 * x)


def cases(name, program, **fields):
    """The specs of a program with `switch_case`: v1 graphs, too, have Case, which is lowered to Switch and Merge."""
    return flows(name, program, calls="switch_case", ops="StatelessCase", v1_ops="StatelessCase", **fields)


SPECS = (
    *cases(
        "switch-case-default",
        with_default,
        reference=selected,
        vjp=selected_vjp,
        recipes=_recipes(),
        ulp=ROUNDED,
    ),
    *cases(
        "switch-case-dtypes",
        dtypes,
        reference=raises("TypeError"),
        recipes=_recipes("first", "second"),
        contract=eager(lambda i, x: x * 2 if i == 0 else x.astype(np.int32)),
    ),
    *cases(
        "switch-case-gap",
        gap,
        reference=raises("ValueError", "contiguous"),
        recipes=_recipes("first"),
    ),
    *cases(
        "switch-case-int64",
        last,
        reference=selected,
        recipes=_recipes("first", "second", dtype=np.int64),
        ulp=ROUNDED,
    ),
    *cases(
        "switch-case-last",
        last,
        reference=selected,
        vjp=selected_vjp,
        recipes=_recipes(),
        ulp=ROUNDED,
    ),
    *cases(
        "switch-case-nested",
        nested,
        reference=nested_reference,
        vjp=nested_vjp,
        recipes=_recipes("first", "second", "third", "negative", "smallest"),
        ulp=ROUNDED,
    ),
    *cases(
        "switch-case-no-branch",
        no_branch,
        reference=raises("ValueError", "at least one"),
        recipes=_recipes("first"),
    ),
    *cases(
        "switch-case-numbers",
        numbers,
        reference=raises("ValueError"),
        recipes=_recipes("first", "second"),
        ulp=ROUNDED,
        contract=eager(lambda i, x: (x * 2, x) if i == 0 else x * 3),
    ),
    *cases(
        "switch-case-shuffled",
        shuffled,
        reference=selected,
        vjp=selected_vjp,
        recipes=_recipes("first", "second", "third", "three", "negative"),
        ulp=ROUNDED,
    ),
    *cases(
        "switch-case-vector",
        last,
        reference=raises("INVALID_ARGUMENT"),
        recipes=_recipes("first", shape=(2,)),
    ),
    *(
        Spec(
            name=f"case-raw-{op.lower()}",
            program=raw_case(op),
            reference=selected,
            recipes=_recipes(),
            ops=op,
            ulp=ROUNDED,
        )
        for op in ("Case", "StatelessCase")
    ),
)
