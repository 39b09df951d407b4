"""Functions: programs that call traced functions, with tensors of every dtype that XLA and a CPU pass on."""

from typing import Any

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.of_xla import NIBBLES, SMALL_FLOATS, of_nibbles

_ROUGH = (*INTEGERS, "bool", *SMALL_FLOATS)
#: The dtypes that TensorFlow differentiates, float32 aside.
_SMOOTH = (*(dtype for dtype in FLOATS if dtype != "float32"), *COMPLEX)


def traced(tf, xs, *functions):
    """Concrete functions of tensors like these."""
    like = [tf.TensorSpec(x.shape, x.dtype) for x in xs]
    return [tf.function(f, autograph=False).get_concrete_function(*like) for f in functions]


def of_dtypes(
    name: str, vjp: Any = None, contract: Any = None, without_xla: Any = (), scalars: Any = None, **fields: Any
):
    """The specs of a program: of float32, and of all other dtypes in the full tier.

    Args:
      name: the name of the first spec.
      vjp: its VJP.
      contract: the contract of all specs; with a `vjp`, it is about gradients, which other dtypes lack.
      without_xla: further dtypes, which XLA lacks.
      scalars: recipes of scalars of 4 bits under XLA, if it takes them.
      fields: the other fields of all specs.
    """
    fields |= {"contract": contract} if contract and not vjp else {}
    full: dict[str, Any] = {**fields, "tier": "full"}
    smooth: dict[str, Any] = {"vjp": vjp, "contract": contract or {}} if vjp else {}
    return (
        Spec(name=name, **smooth, **fields),
        Spec(name=f"{name}-smooth", dtypes=_SMOOTH, **smooth, **full),
        Spec(name=f"{name}-rough", dtypes=_ROUGH, **full),
        Spec(name=f"{name}-nibbles", dtypes=(*NIBBLES, *without_xla), **full | {"modes": WITHOUT_XLA}),
        *(
            Spec(**full | {"name": f"{name}-nibble-of-xla"} | of_nibbles(full["program"], full["reference"], recipes))
            for recipes in ([scalars] if scalars else [])
        ),
    )
