"""ScatterNdAdd to ScatterNdUpdate: slices of a reference variable, named by tuples of indices."""

from tf_opdiff.harness.spec.recipes import COMPLEX
from tf_opdiff.suites.forms.scatter import FLOATS, INTEGERS, REFERENCE, Scatter, scatter
from tf_opdiff.suites.reference.scatter import ADD, MAX, MIN, SUB, UPDATE

_REAL = (*FLOATS, *INTEGERS)


def _on_reference(name, raw, how, dtypes=(*_REAL, *COMPLEX), **fields):
    return scatter(name, Scatter(raw=raw, how=how, target=REFERENCE, tuples=True), dtypes, **fields)


SPECS = (
    *_on_reference("scatter-nd-add", "ScatterNdAdd", ADD),
    *_on_reference("scatter-nd-max", "ScatterNdMax", MAX, _REAL, unsigned_zeros=("output",)),
    *_on_reference("scatter-nd-min", "ScatterNdMin", MIN, _REAL, unsigned_zeros=("output",)),
    *_on_reference("scatter-nd-sub", "ScatterNdSub", SUB),
    *_on_reference("scatter-nd-update", "ScatterNdUpdate", UPDATE),
)
