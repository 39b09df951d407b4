"""Random: ops whose numbers follow from a seed, a key or the state of a generator, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.loose import Loose
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe, Side, Spec
from tf_opdiff.suites.forms.errors import REFUSED_BY_KERNEL, raises
from tf_opdiff.suites.forms.quantized import WITHOUT_XLA
from tf_opdiff.suites.reference import random as ref
from tf_opdiff.suites.reference.philox import SET_ASIDE
from tf_opdiff.suites.reference.random import blocks, skipped
from tf_opdiff.suites.reference.random_bits import Philox, ThreeFry, mixed

PHILOX, THREEFRY, AUTO, UNKNOWN = 1, 2, 3, 7
#: The numbers of the shapes that XLA compiles too, and those of other shapes. XLA compiles each shape anew.
_SHAPES: Mapping[str, tuple[int, ...]] = {"odd": (67,), "planes": (3, 6, 5)}
_OTHER_SHAPES: Mapping[str, tuple[int, ...]] = {
    "scalar": (),
    "one": (1,),
    "empty": (0,),
    "batch_of_one": (1, 7),
    "no_rows": (0, 3),
    "long": (2049,),
}
#: Shapes that no tensor can have.
_IMPOSSIBLE: Mapping[str, list[int]] = {
    "negative": [2, -1],
    "beyond_int32": [-(2**31), 2],
    "too_many": [2**31 - 1, 2**31 - 1, 2**31 - 1],
}


def _bits(draw: Draw, *shape: int) -> np.ndarray:
    return np.asarray(draw.bits(*shape), np.uint64)


@dataclass(frozen=True, kw_only=True)
class Source:
    """The origin of the random bits of an op.

    Attributes:
      draws: name → draw(draw) → the inputs that follow the shape; each has the shapes of the first.
      stream: stream(algorithm, *inputs) → the stream of bits.
      call: call(tf, raw op, algorithm, state, shape, *inputs, **attributes) → the numbers.
      state: whether the only input is the state of a generator, which the op changes.
      refused: name → such inputs of a wrong shape.
      refused_by_kernel: the same, for inputs that shape inference accepts.
      algorithms: whether an input names the algorithm.
    """

    draws: Mapping[str, Callable[[Draw], tuple[np.ndarray, ...]]]
    stream: Callable[..., Philox | ThreeFry]
    call: Callable[..., Any]
    state: bool = False
    refused: Mapping[str, Callable[[Draw], tuple[np.ndarray, ...]]]
    refused_by_kernel: Mapping[str, Callable[[Draw], tuple[np.ndarray, ...]]] = field(default_factory=dict)
    algorithms: bool = True


def _of_key(algorithm: int, key: np.ndarray, counter: np.ndarray) -> Philox | ThreeFry:
    return ThreeFry(key, counter[:1]) if algorithm == THREEFRY else Philox(key, counter)


_LAST = np.uint64(2**64 - 1)
#: A key and a counter.
KEYED = Source(
    draws={
        "": lambda draw: (_bits(draw, 1), _bits(draw, 2)),
        "carry": lambda draw: (_bits(draw, 1), np.array([_LAST - np.uint64(3), 5], np.uint64)),
        "last_counter": lambda draw: (_bits(draw, 1), np.array([_LAST, _LAST])),
        "zero": lambda draw: (np.zeros(1, np.uint64), np.zeros(2, np.uint64)),
    },
    stream=_of_key,
    call=lambda tf, raw, algorithm, state, shape, key, counter, **more: raw(
        shape=shape, key=key, counter=counter, alg=tf.constant(algorithm, "int32"), **more
    ),
    refused={
        "two_keys": lambda draw: (_bits(draw, 2), _bits(draw, 2)),
        "scalar_key": lambda draw: (_bits(draw), _bits(draw, 2)),
        "counter_matrix": lambda draw: (_bits(draw, 1), _bits(draw, 1, 2)),
    },
    refused_by_kernel={"short_counter": lambda draw: (_bits(draw, 1), _bits(draw, 1))},
)
#: A seed of two integers. XLA takes int32 only.
SEEDED = Source(
    draws={
        "": lambda draw: (draw.integers(2, low=0, high=2**31).astype(np.int32),),
        "zero": lambda draw: (np.zeros(2, np.int32),),
        "negative": lambda draw: (np.array([-1, 2**31 - 1], np.int32),),
    },
    stream=lambda algorithm, seed: Philox(*mixed(seed)),
    call=lambda tf, raw, algorithm, state, shape, seed, **more: raw(shape=shape, seed=seed, **more),
    refused={
        "short": lambda draw: (np.zeros(1, np.int32),),
        "long": lambda draw: (np.zeros(3, np.int32),),
        "scalar": lambda draw: (np.zeros((), np.int32),),
        "matrix": lambda draw: (np.zeros((1, 2), np.int32),),
    },
    algorithms=False,
)
#: The state of a generator, a variable: a counter of two numbers, and a key.
STATEFUL = Source(
    draws={
        "": lambda draw: (_bits(draw, 3).view(np.int64),),
        "carry": lambda draw: (np.array([-3, 5, 9], np.int64),),
        "long_state": lambda draw: (_bits(draw, 5).view(np.int64),),
    },
    stream=lambda algorithm, start: _of_key(algorithm, start[2:3].view(np.uint64), start[:2].view(np.uint64)),
    call=lambda tf, raw, algorithm, state, shape, start, **more: raw(
        resource=state["v"].handle, algorithm=tf.constant(algorithm, "int64"), shape=shape, **more
    ),
    state=True,
    refused={},
    refused_by_kernel={
        "short_state": lambda draw: (np.zeros(2, np.int64),),
        "state_matrix": lambda draw: (np.zeros((1, 3), np.int64),),
    },
)
_THREEFRY = "TensorFlow's kernels have the algorithm Philox only, and say so; XLA has ThreeFry too"
_ALGORITHMS = "https://www.tensorflow.org/api_docs/python/tf/random/Algorithm"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """The numbers of a random op.

    Attributes:
      numbers: numbers(stream, shape, dtype, *limits) by TensorFlow's kernels.
      of_xla: the same by XLA, where XLA computes other numbers from the same bits; None where they are the same.
      limits: name → a lower and an upper limit by dtype; empty for numbers without.
      ulp: the budget of a number, by dtype.
      ulp_of_xla: that of a number of XLA.
      slack: slack(number, dtype) → a further error of a number of XLA.
      blocks: blocks(shape, dtype) → the blocks of a generator that XLA uses up.
    """

    numbers: Callable[..., np.ndarray]
    of_xla: Callable[..., np.ndarray] | None = None
    limits: Mapping[str, Callable[[str], tuple[int, int]]] = field(default_factory=dict)
    ulp: Any = 0
    ulp_of_xla: Any = 0
    slack: Callable[[np.ndarray, str], np.ndarray] | None = None
    blocks: Callable[[tuple[int, ...], str], int] = blocks


def _all(dtype: str) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


#: Recipes of limits: few numbers, one, a power of two, and all but one.
_LIMITS: Mapping[str, Callable[[str], tuple[int, int]]] = {
    "": lambda dtype: (-5, 17),
    "one_number": lambda dtype: (3, 4),
    "power_of_two": lambda dtype: (-(2**10), 2**10),
    "widest": _all,
}
#: The logarithm, the square root, the sine or cosine and the product: 2.3 ULPs off at most in 10^6 numbers of each
#: dtype. float16 and bfloat16 are rounded from float32. XLA computes float16 in float16.
_NORMAL_ULP = {"bfloat16": 0.51, "float16": 0.51, "float32": 3, "float64": 3}
_XLA_ULP = {"bfloat16": 1.01, "float16": 3, "float32": 3, "float64": 3}
UNIFORM = Kind(numbers=ref.uniforms, of_xla=ref.uniforms_of_xla)
NORMAL = Kind(
    numbers=ref.normals,
    of_xla=ref.normals_of_xla,
    ulp=_NORMAL_ULP,
    ulp_of_xla=_XLA_ULP,
    blocks=ref.blocks_of_pairs,
)
#: XLA rounds the probability, whose error the quantile multiplies by its slope.
TRUNCATED_NORMAL = Kind(
    numbers=ref.truncated,
    of_xla=ref.truncated_of_xla,
    ulp=_NORMAL_ULP,
    ulp_of_xla=_XLA_ULP,
    slack=ref.error_of_quantile,
)
#: Below these, the digits that the probability lost are half of those of its quantile.
_NEAR_ZERO = {"bfloat16": 1e-4, "float16": 0.25, "float32": 2e-3, "float64": 1e-2}
_LOST = "XLA rounds a probability next to 1/2, so that its quantile, next to 0, lacks the digits that were rounded away"
ALL_INTEGERS = Kind(numbers=ref.full_integers)
INTEGERS_IN_RANGE = Kind(numbers=ref.integers, limits=_LIMITS)


@dataclass(frozen=True, kw_only=True)
class RandomOp:
    """A random op of one output dtype.

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

        return call if self.source.state else lambda tf, shape, *inputs: call(tf, None, shape, *inputs)

    def reference(self, *, xla: bool = False, algorithm: int = PHILOX) -> Callable[..., Any]:
        """reference(shape, *inputs), as of a spec: the numbers, and the last state of a generator."""
        numbers = self.kind.of_xla if xla and self.kind.of_xla else self.kind.numbers

        def promise(shape: np.ndarray, *inputs: np.ndarray) -> Any:
            origin, limits = self._split(inputs)
            sizes = tuple(int(n) for n in shape)
            drawn = numbers(self.source.stream(algorithm, *origin), sizes, self.dtype, *limits)
            if not self.source.state:
                return drawn
            steps = self.kind.blocks(sizes, self.dtype) if xla else SET_ASIDE * drawn.size
            return drawn, {"v": skipped(origin[0], steps)}

        return promise

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

    def specs(self, name: str, tier: str = "default") -> Iterator[Spec]:
        """The specs of the op. Those of XLA alone have the numbers that XLA computes."""
        modes = MODES if self.xla else WITHOUT_XLA
        main = Spec(
            name=name,
            ops=self.raw,
            program=self.program(),
            reference=self.reference(),
            recipes=self.recipes(),
            state=(lambda tf, shape, start, *limits: {"v": tf.Variable(start)}) if self.source.state else None,
            dtypes=(self.dtype,),
            ulp={"output": self.kind.ulp},
            modes=modes,
            tier=tier,
        )
        yield main
        shapes = {label: self.recipe(sizes) for label, sizes in _OTHER_SHAPES.items()}
        wide = {"int64_shape": self.recipe((5,), dtype="int64")}
        yield replace(main, name=f"{name}-shapes", recipes=shapes | wide, modes=WITHOUT_XLA)
        if self.xla and (self.kind.of_xla or self.source.state):
            yield from self._of_xla(main, shapes)
        elif self.xla:
            yield replace(main, name=f"{name}-shapes-xla", recipes=shapes | wide, modes=("xla",), tier="full")
        if tier == "default":
            yield from self._refused(main)

    def _of_xla(self, main: Spec, shapes: Mapping[str, Recipe]) -> Iterator[Spec]:
        """The specs of the numbers that XLA makes of the same bits: in `main`, XLA fails."""
        same = {label: recipe for label, recipe in main.recipes.items() if label not in ("negative", "long_state")}
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
            return np.asarray(numbers(*inputs)[0] if self.source.state else numbers(*inputs), np.float64)

        def bound(unit: float, g: Any, *inputs: np.ndarray) -> np.ndarray:
            return slack(drawn(inputs), self.dtype)

        def near_zero(*inputs: np.ndarray) -> np.ndarray:
            return np.abs(drawn(inputs)) < _NEAR_ZERO[self.dtype]

        return fields | {"bound": {"output[0]": bound}, "loose": {"output[0]": Loose(near_zero, _LOST)}}

    def _refused(self, main: Spec) -> Iterator[Spec]:
        """The specs of arguments that the op refuses."""
        first = self.recipe((5,))
        kernel = replace(main, ulp={}, reference=raises("INVALID_ARGUMENT"))
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
            yield replace(kernel, name=f"{main.name}-unknown-algorithm", program=self.program(UNKNOWN), recipes=one)
            yield replace(
                main, name=f"{main.name}-any-algorithm", program=self.program(AUTO), recipes=one, modes=WITHOUT_XLA
            )
            threefry = Side(reference=self.reference(xla=True, algorithm=THREEFRY), why=_THREEFRY, link=_ALGORITHMS)
            if not self.source.state:
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


def random_op(
    name: str, raw: str, source: Source, kind: Kind, dtypes: Sequence[str], without_xla: Sequence[str] = ()
) -> tuple[Spec, ...]:
    """The specs of a random op: of the first dtype in the default tier, of each other dtype in the full tier.

    Args:
      name: the name with which theirs begin; that of another dtype follows it.
      raw: the OpDef.
      source: the origin of its bits.
      kind: its numbers.
      dtypes: those of its numbers.
      without_xla: the dtypes that XLA lacks.
    """
    specs: list[Spec] = []
    for dtype in dtypes:
        op = RandomOp(raw=raw, source=source, dtype=dtype, kind=kind, xla=dtype not in without_xla)
        first = dtype == dtypes[0]
        specs += op.specs(name if first else f"{name}-{dtype}", "default" if first else "full")
    return tuple(specs)
