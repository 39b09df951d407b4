"""Contracts that several specs share."""

from tf_opdiff.harness.spec.spec import Raises, Side

#: Why a gradient override map does nothing where a tape sees the op itself.
TAPE = "a tape records an op by its type and never sees the mark that the map left on the node"
TAPE_LINK = "https://github.com/tensorflow/tensorflow/issues/36870"
#: The plans in which a tape sees the ops themselves.
TAPED = ("*/eager", "*/function", "*/xla")

#: XLA refuses Python functions.
REFUSED_BY_XLA = {
    "*/xla": Side(
        reference=lambda *inputs: Raises("INVALID_ARGUMENT", "unsupported operations"),
        why="not compatible with XLA: calling it inside tf.function(jit_compile=True) raises an error",
        link="https://www.tensorflow.org/api_docs/python/tf/numpy_function",
    )
}
#: XLA refuses Python functions of strings, too; for a GPU, the program fails before, when its inputs are moved there.
STRINGS_REFUSED_BY_XLA = {
    "gpu/xla": Side(
        reference=lambda *inputs: Raises("INVALID_ARGUMENT", "Can't copy Tensor with type string to device"),
        why=REFUSED_BY_XLA["*/xla"].why,
        link=REFUSED_BY_XLA["*/xla"].link,
    )
} | REFUSED_BY_XLA
#: Why a claim about a Python function does not hold under XLA.
NO_KERNEL = "XLA has no kernel of PyFunc, and refuses the program"


def taped(reference, vjp, why=TAPE, plans=TAPED):
    """The contract of a gradient override map in plans in which a tape sees the ops themselves."""
    return dict.fromkeys(plans, Side(reference=reference, vjp=vjp, why=why, link=TAPE_LINK))
