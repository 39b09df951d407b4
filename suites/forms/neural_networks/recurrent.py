"""Recurrent: the fields of recurrent cells, of LSTMs over all steps, and of their ops of gradients.

No such op has a translation by XLA.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tf_opdiff.harness.spec.inputs.attrs import Keywords
from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.forms.aspects import batches, small
from tf_opdiff.suites.forms.calls import Call, Calls, OfAll
from tf_opdiff.suites.forms.part import Part, tiered
from tf_opdiff.suites.reference.neural_networks.recurrence import Recurrence
from tf_opdiff.suites.reference.promises.promise import Promise

#: Bounds of sums of products with weights of both signs, which every step takes anew.
CANCELS = Loose(reason="sums of products with weights of both signs cancel, in every step anew", roundings=512)
#: In bounds, infinities count as zeros, and a cell state near its limit may move.
HELD = Loose(
    lambda *xs, cell_clip=0.0, **attrs: cell_clip > 0 or not all(np.isfinite(x).all() for x in xs),
    "an infinite input closes or opens a gate, and a limit holds a cell state; the bound is that of numbers that move",
)


class Size(NamedTuple):
    """The sizes of a recurrent op. Of `steps`, the op takes the first `used`."""

    batch: int
    inputs: int
    cells: int
    steps: int = 1
    used: int = 1


#: The shapes of inputs by name; those of one step. All others are a number for each row and each cell.
_SHAPES: Mapping[str, Callable[[Size], tuple[int, ...]]] = {
    "x": lambda s: (s.batch, s.inputs),
    "w": lambda s: (s.inputs + s.cells, 4 * s.cells),
    "b": lambda s: (4 * s.cells,),
    **dict.fromkeys(("wci", "wcf", "wco", "b_c"), lambda s: (s.cells,)),
    "w_ru": lambda s: (s.inputs + s.cells, 2 * s.cells),
    "w_c": lambda s: (s.inputs + s.cells, s.cells),
    "b_ru": lambda s: (2 * s.cells,),
}
#: The inputs that all rows share; those that all steps share as well as rows; gates, between 0 and 1.
SHARED = ("w", "wci", "wcf", "wco", "b", "w_ru", "w_c", "b_ru", "b_c")
_STATES = ("cs_prev", "h_prev")
_GATES = ("i", "f", "o", "r", "u")
#: No size is a multiple of a vector's width in `plain`, and all are in `even`. In `saturated`, gates are 0 or 1.
_PLAIN, _EVEN = Size(5, 3, 7, 4, 4), Size(2, 8, 16, 2, 2)
#: One step of a small cell: few errors add up, so that a bound in float16 tells what is wrong.
_FEW = {"single": Size(1, 1, 1), "rows": Size(5, 1, 1), "wide": Size(1, 3, 9)}
_SMALL = {"one": Size(1, 1, 1), "one_row": Size(1, 3, 2), "no_inputs": Size(2, 0, 3)}


@dataclass(frozen=True, kw_only=True)
class Recurrent:
    """A recurrent op. The default tier has float32.

    raw         the OpDef.
    inputs      the names of its inputs, in order.
    formula     formula(*xs, **attrs) → its results: see `suites.reference.neural_networks.recurrent`.
    results     the number of results.
    by_rows     the number of the first results whose first axis is the batch.
    moved       the inputs that the program computes, so that the op may reuse their memory.
    zeroed      the inputs whose memory the kernel zeroes before it reads them, if it may reuse that memory.
    fixed       keyword arguments of the formula that are no attributes of the op, or have other defaults there.
    attrs       label → attributes.
    special     label → the inputs that have a NaN in their first row, and an infinity in the second.
    empty       label → sizes, some of which are zero.
    rest        the dtypes of the full tier.
    loose       as of a spec.
    """

    raw: str
    inputs: tuple[str, ...]
    formula: Callable[..., Any]
    results: int
    by_rows: int = 0
    moved: tuple[str, ...] = ()
    zeroed: tuple[str, ...] = ()
    fixed: Keywords = field(default_factory=dict)
    attrs: Mapping[str, Keywords] = field(default_factory=dict)
    special: Mapping[str, Collection[str]] = field(default_factory=dict)
    empty: Mapping[str, Size] = field(default_factory=dict)
    rest: tuple[str, ...] = ("float16",)
    loose: Mapping[str, Loose] = field(default_factory=dict)

    def fields(self, *parts: Part) -> dict[str, Any]:
        """The fields of the op, with further parts."""
        recipes = {"plain": self.recipe(_PLAIN), "even": self.recipe(_EVEN), "saturated": self.recipe(_PLAIN, scale=20)}
        recipes |= self.few() if "seq_len_max" in self.inputs else {}
        recipes |= {label: self.recipe(_PLAIN, special=names) for label, names in self.special.items()}
        rows = tuple(n for n, name in enumerate(self.inputs) if name in SHARED)
        of_small = small(
            {label: self.recipe(size) for label, size in (_SMALL | dict(self.empty)).items()},
            constant=tuple(f"output[{k}]" for k in range(self.results)),
        )
        of_rows = self.calls(range(self.by_rows)) if self.by_rows else {}
        return {
            "raw": self.raw,
            "parts": (*parts, of_small, batches(of_rows, self.recipe(_PLAIN), rows, tier="full")),
            "calls": self.calls(range(self.results)),
            "recipes": recipes,
            "gradient": False,
            "dtypes": tiered(("float32", *self.rest)),
            "attrs": self.attrs,
            "modes": WITHOUT_XLA,
            "loose": {"output": HELD, **self.loose},
        }

    def calls(self, chosen: Sequence[int], promise: Promise | None = None, program: Any = None) -> Calls:
        """The call of some results."""
        zeroed = [n for n, name in enumerate(self.inputs) if name in self.zeroed]
        return {
            "": Call(
                program or calling(self.raw, self.inputs, tuple(chosen), self.moved),
                promise or Recurrence(self.formula, chosen, zeroed, **self.fixed),
                ((),) * len(self.inputs),
            )
        }

    def few(self) -> dict[str, OfAll]:
        """The recipes of one step with few errors."""
        return {label: self.recipe(size) for label, size in _FEW.items()}

    def still(self) -> dict[str, OfAll]:
        """The recipes of one step whose `x` is 0, so that the gates have few errors."""
        each = {"still": Size(5, 3, 1), "still_row": Size(1, 3, 7)}
        return {label: self.recipe(size, scale=0.0) for label, size in each.items()}

    def shape(self, name: str, size: Size) -> tuple[int, ...]:
        """The shape of an input."""
        own = _SHAPES.get(name, lambda s: (s.batch, s.cells))(size)
        all_steps = "seq_len_max" in self.inputs and name not in (*SHARED, *_STATES)
        return (size.steps, *own) if all_steps else own

    def recipe(self, size: Size, *, special: Collection[str] = (), scale: float = 2.0) -> OfAll:
        """A recipe: numbers of moderate size, gates between 0 and 1, and `x` and upstreams as large as the scale."""
        return OfAll(
            lambda draw, dtype: tuple(
                self._drawn(draw, dtype, name, size, name in special, scale) for name in self.inputs
            )
        )

    def _drawn(self, draw: Draw, dtype: np.dtype, name: str, size: Size, special: bool, scale: float) -> np.ndarray:
        if name == "seq_len_max":
            return np.array(size.used, np.int64)
        shape = self.shape(name, size)
        low, high = (0.0625, 0.9375) if name in _GATES else (-1.0, 1.0)
        x = draw.uniform(*shape, low=low, high=high)
        if name in ("x", "d_h", "cs_grad", "h_grad"):
            x = x * scale
        if special:
            x[..., 0, 0], x[..., 1, -1] = np.nan, np.inf
        return x.astype(dtype)


def calling(raw: str, names: Sequence[str], chosen: Sequence[int], moved: Collection[str] = ()) -> Callable[..., Any]:
    """A program that returns some results of a raw op. It reverses each `moved` input twice."""

    def program(tf: Any, *xs: Any, **attrs: Any) -> Any:
        inputs = dict(zip(names, xs, strict=True))
        inputs |= {name: tf.reverse(tf.reverse(inputs[name], [0]), [0]) for name in moved}
        results = getattr(tf.raw_ops, raw)(**inputs, **attrs)
        return tuple(results[k] for k in chosen)

    return program
