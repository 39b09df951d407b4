"""Recurrent: the specs of recurrent cells, of LSTMs over all steps, and of their ops of gradients.

No such op has a translation by XLA.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from tf_opdiff.harness.spec.attrs import Keywords
from tf_opdiff.harness.spec.loose import Loose
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.batch import batches
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.reference.complex_step import along
from tf_opdiff.suites.reference.recurrent import error, lstm_vjp, wide

#: Bounds of sums of products with weights of both signs, which every step takes anew.
CANCELS = Loose(lambda *xs, **attrs: True, "sums of products with weights of both signs cancel, in every step anew")
#: In `suites.reference.recurrent.error`, infinities count as zeros, and a cell state near its limit may move.
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

    name        the name with which those of its specs begin.
    raw         the OpDef.
    inputs      the names of its inputs, in order.
    formula     formula(*xs, **attrs) → its results: see `suites.reference.recurrent`.
    results     the number of results.
    by_rows     the number of the first results whose first axis is the batch.
    moved       the inputs that the program computes, so that the op may reuse their memory.
    zeroed      the inputs whose memory the kernel zeroes before it reads them, if it may reuse that memory.
    fixed       keyword arguments of the formula that are no attributes of the op, or have other defaults there.
    attrs       label → attributes.
    special     label → the inputs that have a NaN in their first row, and an infinity in the second.
    empty       label → sizes, some of which are zero.
    mistake     keyword arguments with which TensorFlow's gradient of an LSTM over all steps computes, and not with
                those of the op.
    rest        the dtypes of the full tier.
    loose       as of a spec.
    """

    name: str
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
    mistake: Keywords = field(default_factory=dict)
    rest: tuple[str, ...] = ("float16",)
    loose: Mapping[str, Loose] = field(default_factory=dict)

    def specs(self) -> Iterator[Spec]:
        """The specs of all results."""
        recipes = {"plain": self.recipe(_PLAIN), "even": self.recipe(_EVEN), "saturated": self.recipe(_PLAIN, scale=20)}
        recipes |= self.few() if "seq_len_max" in self.inputs else {}
        recipes |= {label: self.recipe(_PLAIN, special=names) for label, names in self.special.items()}
        main = self.spec("", recipes)
        yield from self.with_rest(main)
        small = {label: self.recipe(size) for label, size in (_SMALL | dict(self.empty)).items()}
        constant = tuple(f"output[{k}]" for k in range(self.results))
        yield from sizes(self.spec("", small, constant=constant), small)
        if self.by_rows:
            shared = tuple(n for n, name in enumerate(self.inputs) if name in SHARED)
            rows = self.recipe(_PLAIN)
            yield from batches(self.spec("", {"plain": rows}, chosen=range(self.by_rows), tier="full"), rows, shared)

    def few(self) -> dict[str, Recipe]:
        """The recipes of one step with few errors."""
        return {label: self.recipe(size) for label, size in _FEW.items()}

    def still(self) -> dict[str, Recipe]:
        """The recipes of one step whose `x` is 0, so that the gates have few errors."""
        each = {"still": Size(5, 3, 1), "still_row": Size(1, 3, 7)}
        return {label: self.recipe(size, scale=0.0) for label, size in each.items()}

    def with_rest(self, spec: Spec) -> Iterator[Spec]:
        """The spec, and its twin in the dtypes of the full tier."""
        yield spec
        if self.rest:
            yield replace(spec, name=f"{spec.name}-other", dtypes=self.rest, tier="full")

    def spec(self, suffix: str, recipes: Mapping[str, Recipe], *, chosen: Collection[int] = (), **more: Any) -> Spec:
        """A spec of some results, by default of all."""
        chosen = tuple(chosen or range(self.results))
        formula = self.bound_formula

        def results(*xs: np.ndarray, **attrs: Any) -> Any:
            every = wide(formula)(*xs, **attrs)
            return tuple(every[k] for k in chosen)

        def zeroed(*xs: np.ndarray, **attrs: Any) -> Any:
            """The results, where the kernel zeroes the memory of `zeroed` inputs before it reads them."""
            return results(*(x * (name not in self.zeroed) for name, x in zip(self.inputs, xs, strict=True)), **attrs)

        settings: dict[str, Any] = {
            "ops": self.raw,
            "program": calling(self.raw, self.inputs, chosen, self.moved),
            "reference": results,
            "bound": {f"output[{n}]": self.error_of(k) for n, k in enumerate(chosen)},
            "mistaken": {"output": zeroed} if self.zeroed else {},
            "loose": {"output": HELD} | dict(self.loose),
            "unsigned_zeros": ("output",),
            "attrs": self.attrs,
            "modes": WITHOUT_XLA,
        }
        return Spec(name=self.name + suffix, recipes=recipes, **settings | more)

    def differentiated(
        self, suffix: str, chosen: Sequence[int], size: Size, *, other: bool = False, **more: Any
    ) -> Iterator[Spec]:
        """The spec of the gradients of some results of an LSTM over all steps; with `other`, its twin as well."""
        back, mistaken = self._back(chosen), self._back(chosen, self.mistake)

        def bound(k: int) -> Callable[..., Any]:
            return lambda u, gs, *xs, **attrs: error(back, k, u, *gs, *xs, **attrs)

        spec = self.spec(
            suffix,
            {"plain": self.recipe(size), **(self.few() | self.still() if other else {})},
            chosen=chosen,
            vjp=lambda gs, *xs, **attrs: (None, *wide(back)(*gs, *xs, **attrs)),
            mistaken={"grad": lambda gs, *xs, **attrs: (None, *wide(mistaken)(*gs, *xs, **attrs))},
            bound={f"output[{n}]": self.error_of(k) for n, k in enumerate(chosen)}
            | {f"grad[{k + 1}]": bound(k) for k in range(len(self.inputs) - 1)},
            loose={"output": CANCELS, "grad": CANCELS},
            unsigned_zeros=("output", "grad"),
            **more,
        )
        yield spec
        if other and self.rest:  # in float16, the errors of the gradients by peepholes may be as large as they are
            attrs = {"default": self.attrs["default"]}
            yield replace(spec, name=f"{spec.name}-other", dtypes=self.rest, attrs=attrs, tier="full")

    def second_order(self, chosen: Sequence[int]) -> dict[str, Any]:
        """The fields of forward mode and second order of some results; without bounds, as TensorFlow has neither."""
        formula, back = self.bound_formula, self._back(chosen)

        def jvp(ts: Any, *xs: np.ndarray, **attrs: Any) -> Any:
            every = along(lambda *moved: formula(*moved, **attrs), xs, ts)
            return tuple(every[k] for k in chosen)

        def hvp(gs: Any, ts: Any, *xs: np.ndarray, **attrs: Any) -> Any:
            return (None, *along(lambda *moved: back(*gs, *moved, **attrs), xs, ts))

        return {"jvp": jvp, "hvp": hvp, "tier": "full"}

    def _back(self, chosen: Sequence[int], mistake: Keywords | None = None) -> Callable[..., Any]:
        """back(*upstreams, *xs, **attrs) → the gradients of some results of an LSTM by all inputs but the first.

        `mistake` has other keyword arguments for the way back than for the results.
        """
        fixed, count = dict(self.fixed), len(chosen)

        def back(*all_of: Any, **attrs: Any) -> Any:
            gs, xs = all_of[:count], all_of[count:]
            upstreams = [gs[chosen.index(k)] if k in chosen else None for k in range(self.results)]
            return lstm_vjp(upstreams, *xs, back=mistake, **{**fixed, **attrs})[1:]

        return back

    def error_of(self, k: int) -> Callable[..., Any]:
        """The bound of a result."""
        formula = self.bound_formula
        return lambda u, g, *xs, **attrs: error(formula, k, u, *xs, **attrs)

    @property
    def bound_formula(self) -> Callable[..., Any]:
        """The formula with its fixed keyword arguments."""
        formula, fixed = self.formula, dict(self.fixed)
        return lambda *xs, **attrs: formula(*xs, **{**fixed, **attrs})

    def shape(self, name: str, size: Size) -> tuple[int, ...]:
        """The shape of an input."""
        own = _SHAPES.get(name, lambda s: (s.batch, s.cells))(size)
        all_steps = "seq_len_max" in self.inputs and name not in (*SHARED, *_STATES)
        return (size.steps, *own) if all_steps else own

    def recipe(self, size: Size, *, special: Collection[str] = (), scale: float = 2.0) -> Recipe:
        """A recipe: numbers of moderate size, gates between 0 and 1, and `x` and upstreams as large as the scale."""
        names = self.inputs

        def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
            return tuple(self._drawn(draw, dtype, name, size, name in special, scale) for name in names)

        return recipe

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


def recurrent(name: str, raw: str, **declaration: Any) -> tuple[Spec, ...]:
    """The specs of a recurrent op: see `Recurrent`."""
    return tuple(Recurrent(name=name, raw=raw, **declaration).specs())


def written(chosen: Sequence[int], program: Callable[..., Any]) -> Callable[..., Any]:
    """The program of an LSTM over all steps that returns the first steps of the results with these numbers.

    The documentation says that outputs are zeros beyond `seq_len_max`. The kernels write no zeros there but into the
    cell states and the last results, so the others hold the earlier content of the memory, which differs from run to
    run: BlockLSTMOp in tensorflow/core/kernels/rnn/lstm_ops.cc.
    """

    def cut(tf: Any, n: Any, *xs: Any, **attrs: Any) -> Any:
        return tuple(y[:n] if k in chosen else y for k, y in enumerate(program(tf, n, *xs, **attrs)))

    return cut
