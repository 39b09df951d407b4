"""Cross products of vectors of three elements, along the last dimension."""

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, INTEGERS
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.forms.calls import call, unfit
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.linear_algebra.contraction import CONTRACTED
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.recipes.ordinary import overflowing
from tf_opdiff.suites.reference.linear_algebra.cross import Cross

_SHAPES = {
    "vector": (3,),
    "matrix": (5, 3),
    "cube": (2, 3, 3),
    "batch_of_one": (1, 7, 3),
    "rank5": (1, 2, 1, 3, 3),
}
_SMALL = {"no_rows": (0, 3), "no_planes": (0, 2, 3), "empty_inside": (2, 0, 3), "one": (1, 3), "ones": (1, 1, 3)}
_UNFIT = {
    "two-elements": ((5, 2), (5, 2)),
    "four-elements": ((4,), (4,)),
    "no-elements": ((5, 0), (5, 0)),
    "first-dimension": ((3, 5), (3, 5)),
}
_WRONG = {
    "scalars": ((), ()),
    "other-sizes": ((5, 3), (4, 3)),
    "not-broadcast": ((5, 3), (3,)),
}
_NOT_THREE = {
    "reference": raises("ValueError"),
    "contract": {
        "*/eager": Side(
            reference=raises("FAILED_PRECONDITION"),
            why="a graph infers shapes when it is built, and Python raises; the kernel has another code for the size",
        )
    },
}


SPECS = op(
    "cross",
    "Cross",
    arguments=("a", "b"),
    promise=Cross(),
    calls={label: call(shape, shape) for label, shape in _SHAPES.items()},
    small={label: call(shape, shape) for label, shape in _SMALL.items()},
    wrong=_WRONG | {label: unfit(*shapes, promise=_NOT_THREE) for label, shapes in _UNFIT.items()},
    batch={label: call(shape, shape) for label, shape in _SHAPES.items() if len(shape) > 1},
    dtypes=tiered(FLOATS),
    integers=tiered(INTEGERS),
    ordinary=overflowing("*", "a difference of products is NaN where both leave the dtype, as the formula says"),
    **CONTRACTED,
)
