"""AssignVariableOp and AssignSubVariableOp: values that a resource variable gets. Others stand in `programs/`."""

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU

_REST = (*(dtype for dtype in FLOATS if dtype != "float32"), *COMPLEX, *INTEGERS)
_SHAPES = {"matrix": (3, 5), "one": (1,), "scalar": (), "empty": (0, 3), "batch_of_one": (1, 4, 3)}
_RECIPES = {
    label: lambda draw, dtype, shape=shape: (draw.values(dtype, *shape), draw.values(dtype, *shape))
    for label, shape in _SHAPES.items()
}


def _updating(raw):
    """A program that gives a variable another value, and reads it."""

    def program(tf, state, x, y):
        update = getattr(tf.raw_ops, raw)(resource=state["v"].handle, value=y)
        with tf.control_dependencies([] if update is None else [update]):
            return state["v"].read_value()

    return program


def _assigned(name, raw, update, **fields):
    """The spec of an op."""
    return Spec(
        name=name,
        ops=raw,
        program=_updating(raw),
        reference=lambda x, y: (update(x, y), {"v": update(x, y)}),
        state=lambda tf, x, y: {"v": tf.Variable(x)},
        **{"recipes": _RECIPES, **fields},
    )


def _less(x, y):
    return x - y


def _copied(x, y):
    return y


SPECS = (
    _assigned("assign-sub-variable", "AssignSubVariableOp", _less, ulp={"output": 0.5}),
    _assigned(
        "assign-sub-variable-other", "AssignSubVariableOp", _less, ulp={"output": 0.5}, dtypes=_REST, tier="full"
    ),
    _assigned("assign-variable", "AssignVariableOp", _copied),
    _assigned(
        "assign-variable-other",
        "AssignVariableOp",
        _copied,
        dtypes=(*_REST, "bool", *FLOAT8_OF_CPU),
        tier="full",
    ),
    _assigned(
        "assign-variable-no-xla",
        "AssignVariableOp",
        _copied,
        recipes={label: recipe for label, recipe in _RECIPES.items() if label != "scalar"},
        dtypes=("object", "int4", "uint4", "int2", "uint2", "float4_e2m1fn"),
        modes=WITHOUT_XLA,
        tier="full",
    ),
)
