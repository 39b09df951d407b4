"""GatherNd. Out of range a CPU raises, unless the policy is to ignore it; a GPU gives 0, or clamps by XLA."""

from dataclasses import replace

from tf_opdiff.harness.spec.spec import Raises, Spec
from tf_opdiff.suites.derived.hessian import linear_second_order
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.hard_pairs import crossed_upstreams
from tf_opdiff.suites.forms.indexing import (
    BAD,
    FLOAT8,
    ROUGH,
    SMOOTH,
    TUPLES,
    Answers,
    both,
    distinct_tuples,
    flushed_sums,
    literal,
    no_gpu_kernel,
    out_of_range,
    params_only,
    picks,
    special,
    tuples,
    unconnected,
)
from tf_opdiff.suites.forms.of_xla import OF_XLA
from tf_opdiff.suites.forms.quantized import IN_XLA, quantized
from tf_opdiff.suites.reference import gather as ref

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
ACCELERATORS = (
    "an error is raised; accelerators generally don't support ERROR: no GPU kernel, and XLA does not look at it"
)


def with_policy(policy, contract=None):
    """GatherNd with one index out of range, for a policy that refuses it on CPU."""
    return out_of_range(
        f"gather-nd-out-of-range-{policy.lower() or 'unnamed'}",
        ANSWERS,
        WRONG,
        contract=contract,
        ops="GatherNd",
        program=lambda tf, x, i: tf.gather_nd(x, i, bad_indices_policy=policy),
        bound={"grad[0]": ref.summed_nd},
    )


_GATHER_ND = Spec(
    name="gather-nd",
    ops="GatherNd",
    program=lambda tf, x, i: tf.gather_nd(x, i),
    reference=ref.take_nd,
    vjp=params_only(ref.rows_nd),
    bound={"grad[0]": ref.summed_nd},
    alternatives={"grad[0]": flushed_sums(ref.put_nd)},
    recipes={
        "int32": distinct_tuples((3, 4, 2), (11, 2)),
        "int64": tuples((3, 4, 2), (11, 2), "int64"),
        "special": special(distinct_tuples((3, 4, 2), (11, 2))),
        "upstreams": distinct_tuples((3, 4, 2), (11, 2)),
    },
    upstreams={"upstreams": crossed_upstreams},
    dtypes=SMOOTH,
)
#: The same without gradients, for dtypes that are copied alone.
_COPIED = Spec(
    name="gather-nd",
    ops="GatherNd",
    program=_GATHER_ND.program,
    reference=ref.take_nd,
    recipes={"int32": tuples((3, 4, 2), (11, 2))},
    tier="full",
)

SPECS = (
    _GATHER_ND,
    *sizes(_GATHER_ND, TUPLES),
    *linear_second_order(_GATHER_ND, "int32"),
    Spec(
        name="gather-nd-batch1",
        ops="GatherNd",
        program=lambda tf, x, i: tf.gather_nd(x, i, batch_dims=1),
        reference=lambda x, i: ref.take_nd(x, i, batch=1),
        vjp=params_only(lambda g, x, i: ref.put_nd(g, x, i, batch=1)),
        bound={"grad[0]": lambda u, g, x, i: ref.summed(ref.put_nd)(u, g, x, i, batch=1)},
        recipes={"slices": picks((3, 7, 2), (3, 4, 1)), "elements": picks((3, 7), (3, 1), "int64")},
    ),
    Spec(
        name="gather-nd-depths",
        ops="GatherNd",
        program=lambda tf, x, i: tf.gather_nd(x, i),
        reference=ref.take_nd,
        vjp=params_only(ref.rows_nd),
        bound={"grad[0]": ref.summed_nd},
        recipes={
            "elements": tuples((3, 4, 2), (5, 3), "int64"),
            "empty_indices": picks((7, 3), (0, 1)),
            "empty_params": picks((0, 3), (0, 1)),
            "rows": picks((7, 3), (4, 1)),
            "rows_matrix": picks((7, 3), (4, 2, 1)),
        },
    ),
    Spec(
        name="gather-nd-ignore",
        ops="GatherNd",
        program=lambda tf, x, i: tf.gather_nd(x, i, bad_indices_policy="IGNORE"),
        reference=ref.zeroed_nd,
        vjp=params_only(ref.rows_nd),
        bound={"grad[0]": ref.summed_nd},
        recipes={name: recipe for name, recipe in WRONG.items() if name != "empty_params"},
    ),
    Spec(
        name="gather-nd-ignore-densified",
        ops="GatherNd;Reshape",
        program=lambda tf, x, i: tf.gather_nd(tf.reshape(x, x.shape), i, bad_indices_policy="IGNORE"),
        reference=ref.zeroed_nd,
        vjp=params_only(ref.put_nd),
        recipes={"negative": literal((5, 3), [[2], [-1], [0]]), "too_large": literal((5, 3), [[2], [5], [0]])},
    ),
    Spec(
        name="gather-nd-int16-indices",
        ops="GatherNd",
        program=lambda tf, x, i: tf.gather_nd(x, i),
        reference=ref.take_nd,
        vjp=params_only(ref.put_nd),
        bound={"grad[0]": ref.summed_nd},
        recipes={"distinct": distinct_tuples((3, 4, 2), (11, 2), "int16")},
        contract=no_gpu_kernel(ref.take_nd, params_only(ref.put_nd), "GatherNd has no GPU kernel for int16 indices"),
    ),
    with_policy(""),
    with_policy("DEFAULT"),
    with_policy("ERROR", no_gpu_kernel(ref.clamped_nd, params_only(ref.rows_nd), ACCELERATORS)),
    replace(_COPIED, name="gather-nd-quantized", program=quantized(_GATHER_ND.program, 1), dtypes=IN_XLA),
    replace(_COPIED, name="gather-nd-of-xla", dtypes=OF_XLA, modes=("xla",)),
    Spec(
        name="gather-nd-rough",
        ops="GatherNd",
        program=lambda tf, x, i, j: (tf.gather_nd(x, i), tf.gather_nd(x, j)),
        reference=lambda x, i, j: (ref.take_nd(x, i), ref.take_nd(x, j)),
        vjp=unconnected,
        recipes=both(tuples, (3, 4, 2), (11, 2)),
        dtypes=(*FLOAT8, *ROUGH),
    ),
    Spec(
        name="gather-nd-vector",
        ops="GatherNd",
        program=lambda tf, x, i: tf.gather_nd(x, i),
        reference=ref.take_nd,
        vjp=params_only(ref.put_nd),
        recipes={"row": literal((7, 3), [4]), "element": literal((7, 3), [4, 2]), "whole": literal((7, 3), [])},
    ),
)
