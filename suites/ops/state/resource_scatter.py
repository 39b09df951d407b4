"""ResourceScatterAdd to ResourceScatterUpdate: rows of a resource variable, named by indices."""

from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.scatter import FLOATS, INTEGERS, RESOURCE, Scatter, divided_by_zero, scatter
from tf_opdiff.suites.reference.scatter import ADD, DIV, MAX, MIN, MUL, SUB, UPDATE

_REAL = (*FLOATS, *INTEGERS)
_DIV = Scatter(raw="ResourceScatterDiv", how=DIV, target=RESOURCE)


def _on_resource(name, raw, how, dtypes=_REAL, **fields):
    return scatter(name, Scatter(raw=raw, how=how, target=RESOURCE), dtypes, **fields)


SPECS = (
    *_on_resource("resource-scatter-add", "ResourceScatterAdd", ADD),
    *scatter("resource-scatter-div", _DIV, _REAL),
    divided_by_zero("resource-scatter-div-by-zero", _DIV, ("float32",), _DIV.reference),
    divided_by_zero("resource-scatter-div-by-zero-integers", _DIV, INTEGERS, raises("INVALID_ARGUMENT")),
    *_on_resource("resource-scatter-max", "ResourceScatterMax", MAX, unsigned_zeros=("output",)),
    *_on_resource("resource-scatter-min", "ResourceScatterMin", MIN, unsigned_zeros=("output",)),
    *_on_resource("resource-scatter-mul", "ResourceScatterMul", MUL),
    *_on_resource("resource-scatter-sub", "ResourceScatterSub", SUB),
    *_on_resource("resource-scatter-update", "ResourceScatterUpdate", UPDATE, (*_REAL, "bool")),
)
