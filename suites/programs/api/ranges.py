"""Functions of `tf` whose results have a size that the values decide; XLA can't compile them."""

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.programs.api import Call, calls


def _range(*values):
    """A recipe: start, limit and step."""
    return lambda draw, dtype: tuple(np.asarray(v, dtype) for v in values)


def _repeated(draw, dtype):
    """Few different numbers in many places, both limits of the dtype among them."""
    values = draw.integers(40, low=0, high=6).astype(dtype)
    values[5], values[9], values[20] = np.iinfo(dtype).max, np.iinfo(dtype).min, np.iinfo(dtype).max
    return (values,)


def _unique(x):
    """The values in the order of their first places, and the number of each element's value."""
    _, first, inverse = np.unique(x, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return x[np.sort(first)], np.argsort(order)[inverse].astype(np.int32)


SPECS = (
    *calls(
        "api-range",
        Call(
            name="range",
            program=lambda tf, start, limit, delta: tf.range(start, limit, delta),
            reference=lambda start, limit, delta: start + np.arange(np.ceil((limit - start) / delta)) * delta,
            # The op adds the step again and again.
            error=lambda u, start, limit, delta: (
                2 * u * np.ceil((limit - start) / delta) * (np.abs(start) + np.abs(limit))
            ),
            signed=False,
        ),
        arguments=3,
        recipes={
            "down": _range(2.0, -1.0, -0.25),
            "empty": _range(1.0, 1.0, 0.5),
            "quarters": _range(0.0, 3.0, 0.25),
            "tenths": _range(0.0, 0.95, 0.1),
        },
        ops="Range",
        dtypes=("float32", "float64"),
        modes=WITHOUT_XLA,
    ),
    *calls(
        "api-unique",
        Call(name="unique", program=lambda tf, x: tuple(tf.unique(x)), reference=_unique, outputs=2),
        recipes={"repeated": _repeated},
        ops="Unique",
        dtypes=("int32", "int64"),
        modes=WITHOUT_XLA,
    ),
    *calls(
        "api-boolean-mask",
        Call(name="boolean_mask", program=lambda tf, x: tf.boolean_mask(x, x > 2), reference=lambda x: x[x > 2]),
        recipes={"repeated": _repeated},
        ops="GatherV2",
        dtypes=("int32",),
        modes=WITHOUT_XLA,
    ),
)
