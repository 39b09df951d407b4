"""TopKV2: the largest numbers of each row. Of equal numbers, that with the lower index is first."""

from dataclasses import replace
from functools import partial

import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS, INTEGERS
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.errors import REFUSED_BY_KERNEL, raises
from tf_opdiff.suites.reference import top_k as ref

_SHAPE, _K = (5, 23), 4


def _infinite(draw, dtype):
    """A recipe: infinities, zeros of both signs and the ends of the range, often repeated; of integers, the limits."""
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return (np.resize(np.array([info.max, info.min, 1, 0, info.max, 2, info.min + 1], dtype), _SHAPE),)
    return (np.resize(np.array([0.0, -np.inf, 1, np.inf, -1, 2, np.inf, -np.inf, 0.5]), _SHAPE).astype(dtype),)


_RECIPES = {
    "plain": lambda draw, d: (draw.values(d, *_SHAPE),),
    "ties": lambda draw, d: (draw.integers(*_SHAPE, low=0, high=4).astype(d),),
    "infinite": _infinite,
    "planes": lambda draw, d: (draw.values(d, 2, 1, 7),),
}
_SIZES = {
    "one": lambda draw, d: (draw.values(d, 1),),
    "no_rows": lambda draw, d: (draw.values(d, 0, 5),),
    "row": lambda draw, d: (draw.values(d, 1, 5),),
    "one_by_one": lambda draw, d: (draw.values(d, 1, 1),),
    "empty_inside": lambda draw, d: (draw.values(d, 2, 0, 3),),
}
_ZEROS = {"zeros": lambda draw, d: (np.resize(np.array([0.0, -0.0, -0.0, 1.0, 0.0]), _SHAPE).astype(d),)}


def _of_values(k):
    """The VJP: integers have none, nor have indices."""
    return lambda g, x: (ref.put(g[0], x, k),) if x.dtype.kind == "f" else (None,)


def _top(name, raw, call):
    """The specs of an op; call(tf, x, k) → its values and indices."""
    main = Spec(
        name=name,
        ops=raw,
        program=lambda tf, x: tuple(call(tf, x, _K)),
        reference=partial(ref.top, k=_K),
        vjp=_of_values(_K),
        recipes=_RECIPES,
    )
    few = Spec(
        name=f"{name}-few",
        ops=raw,
        program=lambda tf, x: (*call(tf, x, 0), *call(tf, x, x.shape[-1])),
        reference=lambda x: (*ref.top(x, 0), *ref.top(x, x.shape[-1])),
        recipes={"ties": _RECIPES["ties"]},
    )
    refused = Spec(
        name=f"{name}-refused",
        ops=raw,
        program=lambda tf, x: tuple(call(tf, x, 6)),
        reference=raises("ValueError"),
        recipes={"narrow": lambda draw, d: (draw.values(d, 2, 5),), "scalar": lambda draw, d: (draw.values(d),)},
        contract=REFUSED_BY_KERNEL,
    )
    other = Spec(
        name=f"{name}-other",
        ops=raw,
        program=main.program,
        reference=main.reference,
        vjp=_of_values(_K),
        recipes=_RECIPES,
        dtypes=tuple(d for d in (*FLOATS, *INTEGERS) if d != "float32"),
        tier="full",
    )
    zeros = Spec(name=f"{name}-zeros", ops=raw, program=main.program, reference=main.reference, recipes=_ZEROS)
    first = replace(
        main, program=lambda tf, x: tuple(call(tf, x, 1)), reference=partial(ref.top, k=1), vjp=_of_values(1)
    )
    return (main, other, few, zeros, refused, *sizes(first, _SIZES))


SPECS = _top("top-k-v2", "TopKV2", lambda tf, x, k: tf.raw_ops.TopKV2(input=x, k=k))
