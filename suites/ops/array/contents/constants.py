"""Const: a tensor whose values stand in the graph, as bytes, so that every bit counts; and Fact, a text."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS, Draw
from tf_opdiff.harness.spec.plan import WITHOUT_XLA, without_modes
from tf_opdiff.suites.forms.array_ops.move_recipes import special
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU, OF_XLA
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes.pairs import shaped

_SHAPES = ((7, 9), (), (0,), (3, 0, 2), (1,), (1, 4), (1, 2, 1, 1, 2, 1, 3, 1, 1))
_DTYPES = (*FLOATS, *COMPLEX, *INTEGERS, "bool", *FLOAT8_OF_CPU, *OF_XLA[:3])


def _const(name):
    """A part: the special values of a dtype, in all shapes; the input only says the dtype."""
    arrays = special(_SHAPES)(Draw(0), np.dtype(name))
    contents = tuple((x.shape, x.tobytes()) for x in arrays)

    def program(tf, x):
        results = []
        for shape, content in contents:
            value = tf.make_tensor_proto(0)
            value.Clear()
            value.dtype, value.tensor_content = x.dtype.as_datatype_enum, content
            value.tensor_shape.CopyFrom(tf.TensorShape(shape).as_proto())
            results.append(tf.raw_ops.Const(value=value, dtype=x.dtype))
        return tuple(results)

    return part(
        f"-{name}".replace("_", "-"),
        program=program,
        reference=lambda x: arrays,
        recipes={"dtype": lambda draw, dtype: (np.zeros(1, dtype),)},
        constant=tuple(f"output[{i}]" for i in range(len(_SHAPES))),
        dtypes=tiered((name,), ("float32",)),
    )


_ANY = {"odd": shaped((3, 5)), "one": shaped((1,)), "empty": shaped((0, 3)), "none": shaped((0,))}

SPECS = (
    *op("const", "Const", *map(_const, _DTYPES), modes=without_modes("eager")),  # eager mode lacks it
    *op(
        "fact",
        "Fact",
        part(recipes=_ANY, constant=("output[0]",)),
        small(_ANY, constant=("output[0]",)),
        program=lambda tf, x: tf.raw_ops.Fact(),  # the input is not read
        reference=lambda x: np.array(b"0! == 1", object),
        modes=WITHOUT_XLA,
        without={"special-operands": "the op has no operands"},
    ),
)
