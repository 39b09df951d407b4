"""Random: ops whose numbers follow from a seed, a key or the state of a generator, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.plan import MODES, WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Recipe, Side, Spec
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.unknown_shape import sized
from tf_opdiff.suites.forms.errors import REFUSED_BY_KERNEL, raises
from tf_opdiff.suites.forms.part import Op, Part, each_dtype, part
from tf_opdiff.suites.forms.random_numbers.random_kinds import Kind
from tf_opdiff.suites.forms.random_numbers.random_sources import AUTO, PHILOX, THREEFRY, UNKNOWN, Source
from tf_opdiff.suites.reference.random_numbers.philox import SET_ASIDE
from tf_opdiff.suites.reference.random_numbers.random import skipped

#: The numbers of the shapes that XLA compiles too, and those of other shapes. XLA compiles each shape anew.
_SHAPES: Mapping[str, tuple[int, ...]] = {"odd": (67,), "planes": (3, 6, 5)}
_OTHER_SHAPES: Mapping[str, tuple[int, ...]] = {
    "scalar": (),
    "one": (1,),
    "empty": (0,),
    "batch_of_one": (1, 7),
    "no_rows": (0, 3),
    "long": (2049,),
    "blocks": (2**14 + 1,),
}
#: Shapes that no tensor can have.
_IMPOSSIBLE: Mapping[str, list[int]] = {
    "negative": [2, -1],
    "beyond_int32": [-(2**31), 2],
    "too_many": [2**31 - 1, 2**31 - 1, 2**31 - 1],
}
_THREEFRY = "TensorFlow's kernels have the algorithm Philox only, and say so; XLA has ThreeFry too"
_ALGORITHMS = "https://www.tensorflow.org/api_docs/python/tf/random/Algorithm"
#: Below these, the digits that the probability lost are half of those of its quantile.
_NEAR_ZERO = {"bfloat16": 1e-4, "float16": 0.25, "float32": 2e-3, "float64": 1e-2}
_LOST = "XLA rounds a probability next to 1/2, so that its quantile, next to 0, lacks the digits that were rounded away"


@dataclass(frozen=True, kw_only=True)
class _Numbers:
    """The numbers of one dtype that a random op draws.

    Attributes:
      raw: its OpDef.
      source: the origin of its bits.
      dtype: that of its numbers.
      kind: its numbers.
      xla: whether XLA has a kernel.
    """

    raw: str
    source: Source
    dtype: str
    kind: Kind
    xla: bool = True

    def program(self, algorithm: int = PHILOX, *, counted: bool = False) -> Callable[..., Any]:
        """program(tf, shape, *inputs), or program(tf, state, shape, *inputs) → the numbers or how many there are."""

        def call(tf: Any, state: Any, shape: Any, *inputs: Any) -> Any:
            origin, limits = self._split(inputs)
            more = dict(zip(("minval", "maxval"), limits, strict=True)) if limits else {"dtype": self.dtype}
            drawn = self.source.call(tf, getattr(tf.raw_ops, self.raw), algorithm, state, shape, *origin, **more)
            return tf.size(drawn) if counted else drawn

        return call if self.source.variables else lambda tf, shape, *inputs: call(tf, None, shape, *inputs)

    def reference(self, *, xla: bool = False, algorithm: int = PHILOX) -> Callable[..., Any]:
        """reference(shape, *inputs), as of a spec: the numbers, and the last state of a generator."""
        numbers = self.kind.of_xla if xla and self.kind.of_xla else self.kind.numbers

        def promise(shape: np.ndarray, *inputs: np.ndarray) -> Any:
            origin, limits = self._split(inputs)
            sizes = tuple(int(n) for n in shape)
            drawn = numbers(self.source.stream(algorithm, *origin), sizes, self.dtype, *limits)
            if not self.source.variables:
                return drawn
            steps = self.kind.blocks(sizes, self.dtype) if xla else SET_ASIDE * drawn.size
            return drawn, {"v": skipped(origin[0], steps)}

        return promise

    def mistaken(self, shape: np.ndarray, *inputs: np.ndarray) -> Any:
        """What XLA computes in place of the reference: see `SpecFields.mistaken`."""
        origin, limits = self._split(inputs)
        return self.reference(xla=True)(shape, *self.source.of_xla(*origin), *limits)

    def _split(self, inputs: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """The inputs of the source, and the limits."""
        return (inputs[:-2], inputs[-2:]) if self.kind.limits else (inputs, ())

    def recipe(self, sizes: Sequence[int], origin: str = "", limit: str = "", dtype: str = "int32") -> Recipe:
        """A recipe: a shape, the inputs of the source by name, and the limits by name."""
        of, last = self.source.draws[origin], self.kind.limits[limit](self.dtype) if self.kind.limits else ()
        return lambda draw, _: (np.array(sizes, dtype), *of(draw), *(np.array(n, self.dtype) for n in last))

    def recipes(self) -> dict[str, Recipe]:
        """Recipes of the first shape with each origin, then with other limits, and of the second shape."""
        odd, planes = _SHAPES.values()
        return {
            "odd": self.recipe(odd),
            "planes": self.recipe(planes),
            **{origin: self.recipe(odd, origin) for origin in self.source.draws if origin},
            **{limit: self.recipe(odd, limit=limit) for limit in self.kind.limits if limit},
        }

    def specs(self, op: Op, suffix: str, tier: str) -> Iterator[Spec]:
        """The specs of the numbers. Those of XLA alone have the numbers that XLA computes."""
        (main,) = part(
            suffix,
            program=self.program(),
            reference=self.reference(),
            mistaken={"output": self.mistaken} if self.xla else {},
            recipes=self.recipes(),
            dtypes=(self.dtype,),
            ulp={"output": self.kind.ulp},
            modes=MODES if self.xla else WITHOUT_XLA,
            tier=tier,
        )(op)
        yield main
        shapes = {label: self.recipe(sizes) for label, sizes in _OTHER_SHAPES.items()}
        wide = {"int64_shape": self.recipe((5,), dtype="int64")}
        sizes = replace(main, name=f"{main.name}-shapes", recipes=shapes | wide, modes=WITHOUT_XLA)
        yield from sized(lambda op: [sizes])(op) if tier == "default" else (sizes,)
        if self.xla and (self.kind.of_xla or self.source.variables):
            yield from self._of_xla(main, shapes)
        elif self.xla:
            yield replace(main, name=f"{main.name}-shapes-xla", recipes=shapes | wide, modes=("xla",), tier="full")
        if tier == "default":
            yield from self._refused(main)

    def _of_xla(self, main: Spec, shapes: Mapping[str, Recipe]) -> Iterator[Spec]:
        """The specs of the numbers that XLA makes of the same bits: in `main`, XLA fails."""
        same = {label: recipe for label, recipe in main.recipes.items() if label not in self.source.not_in_xla}
        more: dict[str, Any] = {"reference": self.reference(xla=True), "modes": ("xla",)}
        more |= self._budgets(PHILOX)
        yield replace(main, name=f"{main.name}-of-xla", recipes=same, **more)
        yield replace(main, name=f"{main.name}-shapes-xla", recipes=shapes, tier="full", **more)

    def _budgets(self, algorithm: int) -> dict[str, Any]:
        """The budget and the bound of XLA's numbers, as fields of a spec."""
        numbers, slack = self.reference(xla=True, algorithm=algorithm), self.kind.slack
        fields: dict[str, Any] = {"ulp": {"output": self.kind.ulp_of_xla}}
        if slack is None:
            return fields

        def drawn(inputs: Sequence[np.ndarray]) -> np.ndarray:
            return np.asarray(numbers(*inputs)[0] if self.source.variables else numbers(*inputs), np.float64)

        def bound(unit: float, g: Any, *inputs: np.ndarray) -> np.ndarray:
            return slack(drawn(inputs), self.dtype)

        def near_zero(*inputs: np.ndarray) -> np.ndarray:
            return np.abs(drawn(inputs)) < _NEAR_ZERO[self.dtype]

        return fields | {"bound": {"output[0]": bound}, "loose": {"output[0]": Loose(near_zero, _LOST)}}

    def _refused(self, main: Spec) -> Iterator[Spec]:
        """The specs of arguments that the op refuses."""
        first = self.recipe((5,))
        kernel = main.but(ulp={}, reference=raises("INVALID_ARGUMENT"))
        impossible = {label: self.recipe(sizes, dtype="int64") for label, sizes in _IMPOSSIBLE.items()}
        yield replace(kernel, name=f"{main.name}-impossible-shape", recipes=impossible)
        matrix: Recipe = lambda draw, dtype: (np.full((1, 1), 3, np.int32), *first(draw, dtype)[1:])  # noqa: E731
        yield replace(
            kernel,
            name=f"{main.name}-refused",
            recipes={"shape_of_rank_2": matrix, **{n: self._with(first, of) for n, of in self.source.refused.items()}},
            reference=raises("ValueError"),
            contract=REFUSED_BY_KERNEL,
        )
        if self.source.refused_by_kernel:
            wrong = {n: self._with(first, of) for n, of in self.source.refused_by_kernel.items()}
            counted = self.program(counted=True)  # the numbers themselves may differ from run to run
            yield replace(kernel, name=f"{main.name}-refused-by-kernel", program=counted, recipes=wrong)
        if self.source.algorithms:
            one = {"odd": main.recipes["odd"]}
            unknown, any_of_all = self.program(UNKNOWN), self.program(AUTO)
            yield replace(kernel, name=f"{main.name}-unknown-algorithm", program=unknown, recipes=one)
            yield replace(main, name=f"{main.name}-any-algorithm", program=any_of_all, recipes=one, modes=WITHOUT_XLA)
            threefry = Side(reference=self.reference(xla=True, algorithm=THREEFRY), why=_THREEFRY, link=_ALGORITHMS)
            if not self.source.variables:
                refused = replace(kernel, name=f"{main.name}-threefry", program=self.program(THREEFRY))
                both = {label: main.recipes[label] for label in ("odd", "planes")}
                yield replace(refused, recipes=both, contract={"*/xla": threefry}, **self._budgets(THREEFRY))
        if self.kind.limits:
            limits = {"equal": (3, 3), "above": (4, -2)}
            empty = {n: self._limited(first, pair) for n, pair in limits.items()}
            yield replace(kernel, name=f"{main.name}-empty-range", recipes=empty)

    def _with(self, first: Recipe, of: Callable[[Draw], tuple[np.ndarray, ...]]) -> Recipe:
        """A recipe with other inputs of the source."""
        return lambda draw, dtype: (first(draw, dtype)[0], *of(draw), *self._split(first(draw, dtype))[1])

    def _limited(self, first: Recipe, limits: tuple[int, int]) -> Recipe:
        """A recipe with other limits."""
        return lambda draw, dtype: (*self._split(first(draw, dtype))[0], *(np.array(n, self.dtype) for n in limits))


def numbers(source: Source, kind: Kind, without_xla: Sequence[str] = ()) -> Part:
    """A part: the numbers of a random op, each dtype with a program of its own, and the errors of the op.

    Args:
      source: the origin of its bits; the state of a generator is the variable of the op.
      kind: its numbers.
      without_xla: the dtypes that XLA lacks.
    """

    def specs(op: Op) -> Iterator[Spec]:
        op = replace(op, variables=source.variables)
        for suffix, dtype, tier in each_dtype(kind.dtypes):
            drawn = _Numbers(raw=op.raw, source=source, dtype=dtype, kind=kind, xla=dtype not in without_xla)
            yield from drawn.specs(op, suffix, tier)

    return specs
