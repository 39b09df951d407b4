"""Assign, AssignAdd and AssignSub: values that a reference variable gets."""

from dataclasses import replace

from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.references import in_functions, variables
from tf_opdiff.suites.forms.updates import SIZES, VECTOR

_INTEGERS = ("int16", "int64", "int8", "uint16", "uint32", "uint64", "uint8")
_OTHERS = (*(dtype for dtype in FLOATS if dtype != "float32"), *_INTEGERS)


def _first(x, *others):
    return {"v": x}


def _updating(raw):
    """A program that gives the variable another value, and returns a copy of it."""
    return lambda tf, state, x, y: tf.raw_ops.DeepCopy(x=getattr(tf.raw_ops, raw)(ref=state["v"], value=y))


def _assigned(name, raw, update, others=_OTHERS):
    """The specs of an op: sums and copies are exact."""
    main = Spec(
        name=name,
        ops=raw,
        program=_updating(raw),
        reference=lambda x, y: (update(x, y), {"v": update(x, y)}),
        recipes=VECTOR,
        state=variables(_first),
        modes=("graph",),
    )
    specs = (main, replace(main, name=f"{name}-other", dtypes=others, tier="full"))
    mismatched = Spec(
        name=f"{name}-mismatched",
        ops=raw,
        program=_updating(raw),
        reference=raises("ValueError"),
        recipes={"shapes": lambda draw, dtype: (draw.values(dtype, 3, 5), draw.values(dtype, 3, 4))},
        state=variables(_first),
        modes=("graph",),
    )
    return (*specs, *(in_functions(spec, _first) for spec in specs), *sizes(main, SIZES), mismatched)


SPECS = (
    *_assigned("assign", "Assign", lambda x, y: y, (*_OTHERS, *COMPLEX)),
    *_assigned("assign-add", "AssignAdd", lambda x, y: x + y),
    *_assigned("assign-sub", "AssignSub", lambda x, y: x - y),
)
