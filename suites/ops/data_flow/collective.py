"""Collectives: tensors of two logical CPUs of one session, which is a group of two members."""

from typing import Any
from zlib import crc32

import numpy as np

from tf_opdiff.harness.spec.plan import MODES, WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Raises, Side, Unavailable
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered

_DTYPES = tiered(("float32", "float64", "int32", "int64", "float16", "bfloat16"))
#: Label → the name of a merge, and of the last step.
_MERGES = {
    f"{merge}_{final}".lower(): {"merge_op": merge, "final_op": final}
    for merge, final in (("Add", "Id"), ("Max", "Id"), ("Min", "Id"), ("Mul", "Id"), ("Add", "Div"))
}
#: The merges in NumPy, whose names begin with those of the merges.
_IN_NUMPY = (np.add, np.maximum, np.minimum, np.multiply)
_SHAPES = {"matrix": (3, 5), "one": (1,), "batch_of_one": (1, 4), "long": (1025,)}


def _whole(shape: Any) -> Any:
    """A recipe: even whole numbers, whose sums, halves and products are exact, of both members."""

    def recipe(draw: Any, dtype: Any) -> Any:
        return tuple(2 * draw.integers(*shape, low=-7, high=8).astype(dtype) for _ in range(2))

    return recipe


def _of_members(call: Any) -> Any:
    """The program of a session in which each of two CPUs makes call(tf, x, the number of inputs so far, **attrs)."""

    def program(tf: Any, session: Any, x: Any, y: Any, **attrs: Any) -> Any:
        v1 = tf.compat.v1
        with session() as s:
            if "CPU" not in (v1.placeholder(x.dtype).device or "CPU"):
                raise Unavailable("a session has two CPUs, and one of all other devices: there is no group")
            results, fed = [], {}
            for member, value in enumerate((x, y)):
                with tf.device(f"CPU:{member}"):
                    given = v1.placeholder(value.dtype, value.shape)
                    results.append(call(tf, given, **attrs))
                    fed[given] = value
            return s.run(results, fed)

    return program


def _group(key: int) -> dict[str, int]:
    return {"group_size": 2, "group_key": key, "instance_key": key + 100}


def _reduced(tf: Any, x: Any, merge_op: str, final_op: str, **group: Any) -> Any:
    own = {"merge_op": merge_op, "final_op": final_op, "subdiv_offsets": [0]}
    return tf.raw_ops.CollectiveReduce(input=x, **_group(1) | group, **own)


def _reduced_v2(tf: Any, x: Any, merge_op: str, final_op: str, **attrs: Any) -> Any:
    own = {"merge_op": merge_op, "final_op": final_op, "ordering_token": []}
    return tf.raw_ops.CollectiveReduceV2(input=x, **{**_group(2), **own, **attrs})


def _gathered(tf: Any, x: Any, **group: Any) -> Any:
    own = {**_group(3), **group}
    return tf.raw_ops.CollectiveGather(input=x, **own, shape=[own["group_size"] * x.shape[0], *x.shape[1:]])


def _alone(call: Any, **fields: Any) -> Any:
    """A part: a group of one member, which gets its own tensor back.

    The eager runtime remembers each instance, and refuses another shape or dtype under its key.
    """

    def program(tf: Any, x: Any, **attrs: Any) -> Any:
        instance = crc32(repr((call.__name__, x.dtype.name, *x.shape, attrs)).encode()) % 2**31
        return call(tf, x, **attrs, group_size=1, group_key=4, instance_key=instance)

    return part(
        "-alone",
        program=program,
        reference=lambda x, **attrs: x,
        recipes={label: lambda draw, d, shape=shape: _whole(shape)(draw, d)[:1] for label, shape in _SHAPES.items()},
        sessions=False,
        evidence="",
        **{"modes": WITHOUT_XLA} | fields,
    )


def _merged(x: Any, y: Any, merge_op: str, final_op: str, **attrs: Any) -> Any:
    (merge,) = (function for function in _IN_NUMPY if function.__name__.startswith(merge_op.lower()))
    merged = merge(x, y) if final_op == "Id" else (merge(x, y) / 2).astype(x.dtype)
    return merged, merged


def _joined(x: Any, y: Any) -> Any:
    both = np.concatenate([x, y])
    return both, both


def _by_xla(x: Any, merge_op: str, final_op: str) -> Raises:
    if {"merge_op": merge_op, "final_op": final_op} in (_MERGES["add_id"], _MERGES["mul_id"]):
        return Raises("UNIMPLEMENTED", "Collectives are not yet implemented for CPU devices")
    return Raises("INVALID_ARGUMENT", "Only ")


_NO_GROUP = {
    "cpu/xla": Side(
        reference=_by_xla,
        why="XLA sums and multiplies alone, in groups of other devices than CPUs, and says so",
        link="https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/compiler/jit/xla_launch_util.cc",
    )
}
_OF_SESSION: dict[str, Any] = {"modes": ("graph",), "sessions": True, "evidence": "also:CPU:1", "dtypes": _DTYPES}
_RECIPES = {label: _whole(shape) for label, shape in _SHAPES.items()}
#: Parts: tensors without elements, in programs of their own.
_NOTHING, _NO_SUMS = (
    part(
        "-empty",
        recipes={"none": _whole((0,)), "no_columns": _whole((3, 0))},
        attrs=attrs,
        dtypes=("float32",),
        tier="full",
    )
    for attrs in ({}, {"add_id": _MERGES["add_id"]})
)

SPECS = (
    *op(
        "collective-assign-group",
        "CollectiveAssignGroupV2",
        part(
            recipes={
                str(i): lambda draw, d, i=i: (np.array([[0, 1, 4], [5, 2, 3]], d), np.array(i, d), np.array(100, d))
                for i in (0, 5)
            }
        ),
        program=lambda tf, groups, i, key: tuple(
            tf.raw_ops.CollectiveAssignGroupV2(group_assignment=groups, device_index=i, base_key=key)
        ),
        reference=lambda groups, i, key: (np.int32(3), np.int32(key + np.argwhere(groups == i)[0][0])),
        dtypes=("int32",),
        constant=("output[0]",),
    ),
    *op(
        "collective-gather",
        "CollectiveGather",
        part(recipes=_RECIPES),
        _NOTHING,
        _alone(_gathered),
        program=_of_members(_gathered),
        reference=_joined,
        **_OF_SESSION | {"dtypes": tiered(("float32", "float64", "int32", "int64", "float16"))},
    ),
    *op(
        "collective-reduce",
        "CollectiveReduce",
        part(recipes=_RECIPES, attrs=_MERGES),
        _NO_SUMS,
        _alone(_reduced, attrs=_MERGES),
        program=_of_members(_reduced),
        reference=_merged,
        **_OF_SESSION,
    ),
    *op(
        "collective-reduce-v2",
        "CollectiveReduceV2",
        part(recipes=_RECIPES, attrs=_MERGES),
        _NO_SUMS,
        part("-stateless", recipes=_RECIPES, attrs={"stateless": {**_MERGES["add_id"], "is_stateless": True}}),
        _alone(_reduced_v2, attrs=_MERGES, modes=MODES, contract=_NO_GROUP),
        program=_of_members(_reduced_v2),
        reference=_merged,
        **_OF_SESSION,
    ),
)
