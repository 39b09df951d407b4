"""Specs that give other results under a variant of the CPU, as TensorFlow's own kernels do."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.spec import Side, Spec

TINY = np.array([1e-40, -1e-40, 1.0], np.float32)


def _tiny(draw, dtype):
    return (TINY.copy(),)


SPECS = (
    Spec(
        name="halved",
        ops="Mul",
        program=lambda tf, x: x * 0.5,
        reference=lambda x: x * 0.5,
        recipes={"tiny": _tiny},
        contract={
            "cpu/*": Side(
                reference=lambda x: np.where(abs(x) < 1, np.copysign(0, x), x / 2), why="w", unless="denormals"
            )
        },
    ),
    Spec(
        name="threads",
        ops="EagerPyFunc",
        program=lambda tf, x: tf.ensure_shape(tf.py_function(lambda y: y * 0 + _threads(tf), [x], x.dtype), x.shape),
        reference=lambda x: np.full_like(x, 3),
        recipes={"plain": plain},
        modes=("eager",),
    ),
    Spec(
        name="loss",
        ops={"eager": "SparseSoftmaxCrossEntropyWithLogits", "+deterministic": "LogSoftmax"},
        program=lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits(tf.constant([0, 0]), tf.stack([x, x])),
        reference=lambda x: np.full(2, np.log(np.exp(x - x[0]).sum())),
        recipes={"few": lambda draw, dtype: (draw.uniform(3).astype(dtype),)},
        modes=("eager",),
        ulp={"output": 8},
    ),
    Spec(
        name="random",
        ops="RandomUniform",
        program=lambda tf, x: tf.random.uniform([3]) * 0 + x,
        reference=lambda x: x,
        recipes={"few": lambda draw, dtype: (draw.uniform(3).astype(dtype),)},
        modes=("eager", "graph"),
    ),
)


def _threads(tf):
    return float(tf.config.threading.get_intra_op_parallelism_threads())
