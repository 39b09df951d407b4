"""GatherNd. Out of range a CPU raises, unless the policy is to ignore it; a GPU gives 0, or clamps by XLA."""

from typing import Any

from tf_opdiff.harness.spec.spec import Raises
from tf_opdiff.suites.derived.hessian import linear
from tf_opdiff.suites.forms.array_ops.indexing import (
    BAD,
    SMOOTH,
    TUPLES,
    Answers,
    copied,
    distinct_tuples,
    flushed_sums,
    literal,
    no_gpu_kernel,
    out_of_range,
    params_only,
    picks,
    rough,
    special,
    tuples,
)
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, unconnected
from tf_opdiff.suites.forms.recipes.hard_pairs import crossed_upstreams
from tf_opdiff.suites.reference.arrays import gather as ref

#: Index tuples; one of them is out of range.
WRONG = {name: literal((5, 3), [[2, 1], [0, bad], [2, 1]], "int64") for name, bad in BAD.items()} | {
    "first": literal((5, 3), [[5, 0], [0, 1]], "int64"),
    "int32": literal((5, 3), [[2, 1], [0, -1]]),
    "rows": literal((5, 3), [[2], [5], [0]]),
    "empty_params": literal((0, 3), [[0], [0]]),
}


def _zeroed_or_refused(x, i):
    """A GPU's answer to an index out of range: 0; it refuses params without elements, as a CPU does."""
    return ref.zeroed_nd(x, i) if x.size else Raises("INVALID_ARGUMENT")


ANSWERS = Answers(
    refused=ref.refused_nd, clamped=ref.clamped_nd, zeroed=_zeroed_or_refused, vjp=params_only(ref.rows_nd)
)
_ACCELERATORS = (
    "an error is raised; accelerators generally don't support ERROR: no GPU kernel, and XLA does not look at it"
)


_SUMS: dict[str, Any] = {"bound": {"grad[0]": ref.summed_nd}}
_OF_PUT = {"vjp": params_only(ref.put_nd)}
_TUPLES = ((3, 4, 2), (11, 2))


def _with_policy(policy, contract=None):
    """A part: one index out of range, for a policy that refuses it on CPU."""
    return out_of_range(
        f"-out-of-range-{policy.lower() or 'unnamed'}",
        ANSWERS,
        WRONG,
        contract=contract,
        program=lambda tf, x, i: tf.gather_nd(x, i, bad_indices_policy=policy),
        **_SUMS,
    )


SPECS = op(
    "gather-nd",
    "GatherNd",
    part(
        recipes={
            "int32": distinct_tuples(*_TUPLES),
            "int64": tuples(*_TUPLES, "int64"),
            "special": special(distinct_tuples(*_TUPLES)),
            "upstreams": distinct_tuples(*_TUPLES),
        },
        upstreams={"upstreams": crossed_upstreams},
        alternatives={"grad[0]": flushed_sums(ref.put_nd)},
        dtypes=SMOOTH,
        **_SUMS,
        linear=linear("int32"),
    ),
    small(TUPLES, alternatives={"grad[0]": flushed_sums(ref.put_nd)}, **_SUMS),
    part(
        "-batch1",
        program=lambda tf, x, i: tf.gather_nd(x, i, batch_dims=1),
        reference=lambda x, i: ref.take_nd(x, i, batch=1),
        vjp=params_only(lambda g, x, i: ref.put_nd(g, x, i, batch=1)),
        bound={"grad[0]": lambda u, g, x, i: ref.summed(ref.put_nd)(u, g, x, i, batch=1)},
        recipes={"slices": picks((3, 7, 2), (3, 4, 1)), "elements": picks((3, 7), (3, 1), "int64")},
    ),
    part(
        "-depths",
        recipes={
            "elements": tuples((3, 4, 2), (5, 3), "int64"),
            "empty_indices": picks((7, 3), (0, 1)),
            "empty_params": picks((0, 3), (0, 1)),
            "rows": picks((7, 3), (4, 1)),
            "rows_matrix": picks((7, 3), (4, 2, 1)),
        },
        **_SUMS,
    ),
    part(
        "-ignore",
        program=lambda tf, x, i: tf.gather_nd(x, i, bad_indices_policy="IGNORE"),
        reference=ref.zeroed_nd,
        recipes={name: recipe for name, recipe in WRONG.items() if name != "empty_params"},
        **_SUMS,
    ),
    part(
        "-ignore-densified",
        ops="GatherNd;Reshape",
        program=lambda tf, x, i: tf.gather_nd(tf.reshape(x, x.shape), i, bad_indices_policy="IGNORE"),
        reference=ref.zeroed_nd,
        recipes={"negative": literal((5, 3), [[2], [-1], [0]]), "too_large": literal((5, 3), [[2], [5], [0]])},
        **_OF_PUT,
    ),
    part(
        "-int16-indices",
        recipes={"distinct": distinct_tuples(*_TUPLES, "int16")},
        contract=no_gpu_kernel(ref.take_nd, params_only(ref.put_nd), "GatherNd has no GPU kernel for int16 indices"),
        **_OF_PUT,
        **_SUMS,
    ),
    _with_policy(""),
    _with_policy("DEFAULT"),
    _with_policy("ERROR", no_gpu_kernel(ref.clamped_nd, params_only(ref.rows_nd), _ACCELERATORS)),
    copied(tuples, *_TUPLES, short=False),
    rough(tuples, *_TUPLES, vjp=unconnected),
    part(
        "-vector",
        recipes={"row": literal((7, 3), [4]), "element": literal((7, 3), [4, 2]), "whole": literal((7, 3), [])},
        **_OF_PUT,
    ),
    program=lambda tf, x, i: tf.gather_nd(x, i),
    limited=lambda tf, x, i: tf.raw_ops.GatherNd(params=x, indices=i),
    reference=ref.take_nd,
    vjp=params_only(ref.rows_nd),
    without={"option": "the specs -out-of-range-* and -ignore have every policy"},
)
