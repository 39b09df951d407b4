"""gather out of range: the claims."""

import numpy as np

from tf_opdiff.harness.spec.spec import Raises, Side, Sparse, Spec
from tf_opdiff.suites.claims.c26_gather_out_of_range.topic import TOPIC

DOCUMENTED = "https://www.tensorflow.org/api_docs/python/tf/gather"
NAMED = "the message names the op where it is executed eagerly; where it is in a graph, the message names its node"
CLAMPS = "XLA clamps the indices of a gather: 6 becomes 4, the last one"


def gather_three(tf, params, indices):
    return tf.gather(params, indices)


def gather_or_zero(tf, params, indices):
    inside = tf.logical_and(indices >= 0, indices < tf.size(params))
    safe = tf.where(inside, indices, tf.zeros_like(indices))
    return tf.where(inside, tf.gather(params, safe), tf.zeros_like(params[:1]))


def _literal(draw, dtype):
    return np.array([1, 2, 3, 4, 5], dtype), np.array([0, 1, 6], np.int32)


def _refused(params, indices):
    return Raises("INVALID_ARGUMENT", f"indices[2] = 6 is not in [0, {params.size})")


def _refused_by_name(params, indices):
    return Raises("INVALID_ARGUMENT", f"indices[2] = 6 is not in [0, {params.size}) [Op:GatherV2]")


def _zeroed(params, indices):
    return np.append(params[:2], params.dtype.type(0))


def _clamped(params, indices):
    return params[np.minimum(indices, params.size - 1)]


def _rows(g, params, indices):
    """Rows to add; the third is a zero for the element that was read instead."""
    return Sparse(np.append(g[:2], 0), np.array([0, 1, 0]), params.shape), None


SPECS = (
    Spec(
        name="claim-c26-gather",
        program=gather_three,
        reference=_refused,
        recipes={"literal": _literal},
        ops="GatherV2",
        dtypes=("int32", "float32"),
        contract={
            "*/xla": Side(reference=_clamped, why=CLAMPS, link="https://openxla.org/xla/operation_semantics#gather"),
            "gpu/*": Side(
                reference=_zeroed, why="on GPU a 0 is stored in the corresponding output value", link=DOCUMENTED
            ),
            "*/eager": Side(reference=_refused_by_name, why=NAMED, link=DOCUMENTED),
        },
        claims=(
            TOPIC.claim(
                "a",
                "On a CPU it is an InvalidArgumentError, which names index 2 and the range [0, 5).",
                "output",
                plans=("cpu/*",),
                refuted={"*/xla": CLAMPS},
                instead="claim-c26-gather-or-zero",
            ),
            TOPIC.claim(
                "c",
                "The message of that error ends with [Op:GatherV2].",
                "output",
                reference=_refused_by_name,
                plans=("cpu/*",),
                refuted={"*/xla": CLAMPS} | dict.fromkeys(("*/function", "*/graph"), NAMED),
                instead="claim-c26-gather-or-zero",
            ),
            TOPIC.claim(
                "b",
                "On a GPU it gives [1, 2, 0].",
                "output",
                reference=_zeroed,
                plans=("gpu/*",),
                refuted={"*/xla": CLAMPS},
                instead="claim-c26-gather-or-zero",
            ),
        ),
    ),
    Spec(
        name="claim-c26-gather-or-zero",
        program=gather_or_zero,
        reference=_zeroed,
        vjp=_rows,
        recipes={"literal": _literal},
        ops="GatherV2;SelectV2",
        dtypes=("float32",),
    ),
)
