"""ScatterAdd to ScatterUpdate: rows of a reference variable, named by indices."""

from tf_opdiff.suites.forms.scatter import FLOATS, REFERENCE, Scatter, divided_by_zero, scatter
from tf_opdiff.suites.reference.scatter import ADD, DIV, MAX, MIN, MUL, SUB, UPDATE

_DIV = Scatter(raw="ScatterDiv", how=DIV, target=REFERENCE)


def _on_reference(name, raw, how, **fields):
    return scatter(name, Scatter(raw=raw, how=how, target=REFERENCE), FLOATS, **fields)


SPECS = (
    *_on_reference("scatter-add", "ScatterAdd", ADD),
    *scatter("scatter-div", _DIV, FLOATS),
    divided_by_zero("scatter-div-by-zero", _DIV, ("float32",), _DIV.reference),
    *_on_reference("scatter-max", "ScatterMax", MAX, unsigned_zeros=("output",)),
    *_on_reference("scatter-min", "ScatterMin", MIN, unsigned_zeros=("output",)),
    *_on_reference("scatter-mul", "ScatterMul", MUL),
    *_on_reference("scatter-sub", "ScatterSub", SUB),
    *_on_reference("scatter-update", "ScatterUpdate", UPDATE),
)
