"""ResourceScatterNdAdd to ResourceScatterNdUpdate: slices of a resource variable, named by tuples of indices."""

from tf_opdiff.harness.spec.recipes import COMPLEX
from tf_opdiff.suites.forms.scatter import FLOATS, INTEGERS, RESOURCE_ND, Scatter, scatter
from tf_opdiff.suites.reference.scatter import ADD, MAX, MIN, SUB, UPDATE

_REAL = (*FLOATS, *INTEGERS)


def _on_resource(name, raw, how, dtypes=(*_REAL, *COMPLEX), **fields):
    return scatter(name, Scatter(raw=raw, how=how, target=RESOURCE_ND, tuples=True), dtypes, **fields)


SPECS = (
    *_on_resource("resource-scatter-nd-add", "ResourceScatterNdAdd", ADD),
    *_on_resource("resource-scatter-nd-max", "ResourceScatterNdMax", MAX, _REAL, unsigned_zeros=("output",)),
    *_on_resource("resource-scatter-nd-min", "ResourceScatterNdMin", MIN, _REAL, unsigned_zeros=("output",)),
    *_on_resource("resource-scatter-nd-sub", "ResourceScatterNdSub", SUB),
    *_on_resource("resource-scatter-nd-update", "ResourceScatterNdUpdate", UPDATE),
)
