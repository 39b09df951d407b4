"""Planted specs for the places of CI: one fails with a hostile message, one is right, one has no kernel."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.spec import Spec

HOSTILE = "]]></failure><b>\x00\x1b[31m\ufffe\ud800 100%,:\r\n::error file=x::pwned\n##[error]pwned | `x` @someone"


def _raise(tf, x):
    raise ValueError(HOSTILE)


def _floor(name, program, **more):
    return Spec(
        name=name, program=program, **{"reference": np.floor, "recipes": {"plain": plain}, "ops": "Floor", **more}
    )


SPECS = (
    _floor("hostile", _raise),
    _floor("right", lambda tf, x: tf.floor(x)),
    _floor("no-kernel", lambda tf, x: tf.raw_ops.Rint(x=x), reference=np.rint, ops="Rint", dtypes=("bfloat16",)),
)
