"""Assign, AssignAdd and AssignSub: values that a reference variable gets."""

from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.references import first_input, in_functions, variables
from tf_opdiff.suites.forms.updates import SIZES, VECTOR

_DTYPES = (*FLOATS, "int16", "int64", "int8", "uint16", "uint32", "uint64", "uint8")


def _assigned(name, raw, update, dtypes=_DTYPES):
    """The specs of an op that gives a variable another value; its programs return a copy. Sums are exact."""
    return op(
        name,
        raw,
        part(recipes=VECTOR, dtypes=tiered(dtypes), twins=[in_functions]),
        small(SIZES),
        part(
            "-mismatched",
            reference=raises("ValueError"),
            recipes={"shapes": lambda draw, dtype: (draw.values(dtype, 3, 5), draw.values(dtype, 3, 4))},
        ),
        program=lambda tf, state, x, y: tf.raw_ops.DeepCopy(x=getattr(tf.raw_ops, raw)(ref=state["v"], value=y)),
        reference=lambda x, y: (update(x, y), {"v": update(x, y)}),
        state=variables(first_input),
        modes=("graph",),
    )


SPECS = (
    *_assigned("assign", "Assign", lambda x, y: y, (*_DTYPES, *COMPLEX)),
    *_assigned("assign-add", "AssignAdd", lambda x, y: x + y),
    *_assigned("assign-sub", "AssignSub", lambda x, y: x - y),
)
