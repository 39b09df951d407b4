"""Const: a tensor whose values stand in the graph, as bytes, so that every bit counts. Eager mode lacks it."""

import numpy as np

from tf_opdiff.harness.spec.plan import without_modes
from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS, Draw
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.move_recipes import special
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU, OF_XLA

_SHAPES = ((7, 9), (), (0,), (3, 0, 2), (1,), (1, 4), (1, 2, 1, 1, 2, 1, 3, 1, 1))
_DTYPES = (*FLOATS, *COMPLEX, *INTEGERS, "bool", *FLOAT8_OF_CPU, *OF_XLA[:3])


def _arrays(dtype):
    """The special values of a dtype, in all shapes."""
    return special(_SHAPES)(Draw(0), np.dtype(dtype))


def _const(name):
    """The spec of constants of a dtype; the input only says the dtype."""
    arrays = _arrays(name)
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

    return Spec(
        name=f"const-{name}".replace("_", "-"),
        ops="Const",
        program=program,
        reference=lambda x: arrays,
        recipes={"dtype": lambda draw, dtype: (np.zeros(1, dtype),)},
        dtypes=(name,),
        modes=without_modes("eager"),
        constant=tuple(f"output[{i}]" for i in range(len(_SHAPES))),
        tier="default" if name == "float32" else "full",
    )


SPECS = tuple(_const(name) for name in _DTYPES)
