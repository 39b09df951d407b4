"""Lists: programs that make a list of tensors, change it, and read its elements. A handle of a list is no output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, Draw, is_float
from tf_opdiff.harness.spec.spec import Recipe, Side, Spec
from tf_opdiff.suites.derived.hessian import linear
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.array_ops.scatter_recipes import special_numbers
from tf_opdiff.suites.forms.elementwise.special_upstreams import in_turn
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.part import Op, Part, part, tiered
from tf_opdiff.suites.forms.programs.control_flow import XLA

Shape = tuple[int, ...]
#: The dtypes of elements for which a CPU, a GPU and XLA have kernels that read them.
DTYPES = (*FLOATS, *COMPLEX, "bool", "int32", "int64")
#: Shapes without numbers, or with one: of whole tensors, and of tensors whose rows are elements.
SMALL: Mapping[str, Shape] = {
    "none": (0,),
    "one": (1,),
    "no_rows": (0, 3),
    "no_columns": (3, 0),
    "one_by_one": (1, 1),
    "one_row": (1, 3),
}
#: The sizes that a function and a graph have with known shapes.
FEW = ("none", "one_by_one", "one_row")
#: The promise of an op for which XLA has no kernel.
_NO_KERNEL = raises("INVALID_ARGUMENT", "unsupported operations", without_kernel=True)
_OPENXLA = "https://openxla.org/xla/operation_semantics"


def tensors(*shapes: Shape, then: Sequence[np.ndarray] = (), special: bool = False) -> Recipe:
    """A recipe: tensors of these shapes, of plain or of special numbers, then these arrays."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        count = sum(int(np.prod(shape)) for shape in shapes)
        numbers = np.resize(special_numbers(np.dtype(dtype)), count) if special else draw.values(dtype, count)
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
        parts = np.split(numbers, ends)
        return (*(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)), *then)

    return recipe


def contents(*shapes: Shape, then: Sequence[np.ndarray] = ()) -> dict[str, Recipe]:
    """Recipes of plain and special numbers in these shapes, and one for special upstreams."""
    plain = tensors(*shapes, then=then)
    return {"plain": plain, "special": tensors(*shapes, then=then, special=True), "upstreams": plain}


def followed_by(shapes: Sequence[Shape], arguments: Mapping[str, Any], dtype: str = "int32") -> dict[str, Recipe]:
    """Recipes of tensors of these shapes, and after them one of the arguments, an array of another dtype."""
    return {label: tensors(*shapes, then=(np.array(value, dtype),)) for label, value in arguments.items()}


def small(count: int, shapes: Mapping[str, Shape] = SMALL) -> dict[str, Recipe]:
    """Recipes of this many tensors of each small shape."""
    return {name: tensors(*(shape,) * count) for name, shape in shapes.items()}


def small_rows(
    count: int, many: Any, one: Any = (0,), more: Callable[[Shape], Sequence[Shape]] = lambda shape: ()
) -> dict[str, Recipe]:
    """Recipes of so many rows of small shapes, or of one row, then of further shapes, then of indices for the rows."""
    shapes = {"one": (), "no_columns": (0,), "no_planes": (0, 2), "one_row": (1, 1)}
    tables = {**{name: (count, *row) for name, row in shapes.items()}, "one_by_one": (1, 1)}
    indices = {True: np.array(many, "int32"), False: np.array(one, "int32")}
    return {name: tensors(s, *more(s), then=(indices[s[0] == count],)) for name, s in tables.items()}


def no_kernel(op: str) -> dict[str, Side]:
    """The contract of an op for which XLA has no kernel."""
    return {"*/xla": Side(reference=_NO_KERNEL, why=f"XLA has no kernel of {op}, and refuses the program")}


def no_gradient_kernel(op: str, reference: Callable[..., Any]) -> dict[str, Side]:
    """The contract of a program whose gradient needs an op for which XLA has no kernel."""
    why = f"XLA has no kernel of {op}, which the gradient needs, and refuses the program"

    def vjp(g: Any, x: np.ndarray, *others: Any) -> Any:
        return _NO_KERNEL() if x.dtype.kind in "fc" else (None,) * (1 + len(others))

    return {"*/xla": Side(reference=reference, vjp=vjp, why=why)}


def one_length(code: str, says: str) -> dict[str, Side]:
    """The contract of a list whose elements have several lengths, which XLA rejects."""
    why = "XLA compiles for static shapes, so all elements of a list have one shape"
    return {"*/xla": Side(reference=raises(code, says), why=why, link=XLA)}


def clamped(reference: Callable[..., Any]) -> dict[str, Side]:
    """The contract of an index out of range that XLA moves into the range."""
    why = "XLA moves the start of a dynamic slice so that the slice is inside the array"
    return {"*/xla": Side(reference=reference, why=why, link=f"{_OPENXLA}#dynamicslice")}


def of_floats(vjp: Callable[..., Any]) -> Callable[..., Any]:
    """The VJP without gradients of integers and truth values."""

    def gradients(g: Any, *inputs: np.ndarray) -> tuple[Any, ...]:
        values = vjp(g, *inputs)
        return tuple(v if x.dtype.kind in "fc" else None for v, x in zip(values, inputs, strict=True))

    return gradients


def steps(
    recipes: Mapping[str, Recipe],
    tiny: Mapping[str, Recipe],
    *,
    dtypes: Sequence[str] = DTYPES,
    vjp: Callable[..., Any] | None = None,
    moving: Sequence[int] = (0,),
    **fields: Any,
) -> Part:
    """A part: the results of an op on lists in all dtypes and in small sizes, and its derivatives.

    Args:
      recipes: the recipes; `upstreams` gets special upstreams if there is a VJP.
      tiny: the recipes of small sizes.
      dtypes: the dtypes; float32 is among them, and stands for the others in the default tier.
      vjp: as of a spec, for inputs that are floats.
      moving: the numbers of the inputs that are differentiated.
      fields: further fields of the main specs.
    """
    own: dict[str, Any] = {"vjp": of_floats(vjp), "upstreams": {"upstreams": in_turn(special_numbers)}} if vjp else {}

    def specs(op: Op) -> Iterator[Spec]:
        main, *others = part(recipes=recipes, dtypes=tiered(dtypes, ("float32",)), **own, **fields)(op)
        yield from (main, *others, *sizes(main, tiny, few=FEW))
        if vjp and moving:
            yield from _second_order(replace(main, dtypes=tuple(d for d in dtypes if is_float(np.dtype(d)))), moving)

    return specs


def _second_order(main: Spec, moving: Sequence[int]) -> Iterator[Spec]:
    """The twins of a spec in forward mode, `NAME-forward`, and with a second reverse pass, `NAME-second-order`.

    They are apart, because one run has both, and forward mode of a list is an error, in XLA too.
    """
    both = (linear("plain", moving=moving, suffix=suffix)(main) for suffix in ("-forward", "-second-order"))
    for forward, reverse in zip(*both, strict=True):
        yield forward.but(hvp=None, modes=tuple(mode for mode in forward.modes if mode != "xla"))
        yield reverse.but(jvp=None, tier="full")
