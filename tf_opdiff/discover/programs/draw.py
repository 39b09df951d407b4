"""Draw: programs and values from a seed, by NumPy's generator. Nothing here runs TensorFlow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np

from tf_opdiff.discover.programs.program import NAMES, Node, Program
from tf_opdiff.discover.programs.vocabulary import CONSTANTS, FLOATS, FORMS, INTEGERS, WHOLE_CONSTANTS, WORDS, Word
from tf_opdiff.harness.spec.inputs.recipes import is_float

#: The most ops of a program.
LARGEST = 6
#: The shapes of inputs: none, one, whole vectors, and lengths that are no multiple of a vector's.
SHAPES = ((3, 5), (1, 1), (4, 8), (2, 17), (5, 33), (9, 9), (0, 3), (1, 64))
#: The share of inputs with another shape, which is broadcast.
_BROADCAST = 0.2
#: The share of operands that are constants: of Python's operators, and of the last operands of functions. Graphs refuse
#: a Python number as the first operand of a function if the dtype is not that of a Python number.
_CONSTANT = 0.3
#: The share of programs in a form.
_IN_FORM = 0.5


@dataclass
class Drawing:
    """Draws programs; the less often an op was drawn after another, the more likely it is.

    Attributes:
      words: the ops to draw from.
      seen: (op, operand) → how often the pair was drawn.
    """

    words: Collection[Word] = WORDS
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)

    def program(self, random: np.random.Generator) -> Program:
        """A program of one to six ops."""
        dtypes = (*FLOATS[:1] * 10, *FLOATS, *INTEGERS)
        dtype = str(dtypes[random.integers(len(dtypes))])
        count = int(random.integers(1, 4))
        words = [word for word in self.words if word.takes(dtype)] or list(self.words)
        top = self._chosen(random, words, "")
        root = self._node(random, top, dtype, int(random.integers(1, LARGEST)), count)
        names = sorted(root.inputs) or ["x"]
        renamed = dict(zip(names, NAMES, strict=False))
        forms = [name for name, form in FORMS.items() if not form.gradient or (dtype in FLOATS and top.result == "=")]
        form = forms[int(random.integers(len(forms)))] if random.random() < _IN_FORM else "plain"
        return Program(_renamed(root, renamed), (dtype,) * len(names), form)

    def _node(self, random: np.random.Generator, word: Word, dtype: str, size: int, inputs: int) -> Node:
        """An op with operands of `size` ops together."""
        operands = []
        for number, letter in enumerate(word.operands):
            share = int(random.integers(0, max(size, 0) + 1)) if number + 1 < len(word.operands) else size
            operands.append(self._operand(random, (word, letter, number), dtype, share, inputs))
            size -= share
        if not any(operand.inputs for operand in operands):
            operands[0] = Node("x") if word.operands[0] != "b" else Node("({0} > {1})", (Node("x"), Node("1")))
        return Node(word.text, tuple(operands))

    def _operand(
        self, random: np.random.Generator, place: tuple[Word, str, int], dtype: str, size: int, inputs: int
    ) -> Node:
        """An operand of an op: an op, an input or a constant."""
        above, letter, number = place
        wanted = "bool" if letter == "b" else "="
        if size <= 0 and letter != "b":
            last = number + 1 == len(above.operands) > 1 or above.text.startswith("({0} ")
            if last and random.random() < _CONSTANT:
                constants = CONSTANTS if dtype in FLOATS else WHOLE_CONSTANTS
                return Node(str(constants[random.integers(len(constants))]))
            return Node(NAMES[random.integers(inputs)])
        fitting = [word for word in WORDS if word.result == wanted and word.takes(dtype)]
        if size <= 1 and letter == "b":
            fitting = [word for word in fitting if "b" not in word.operands]
        return self._node(random, self._chosen(random, fitting, above.text), dtype, size - 1, inputs)

    def _chosen(self, random: np.random.Generator, words: Collection[Word], above: str) -> Word:
        every = list(words)
        weights = np.array([1 / (1 + self.seen[above, word.text]) for word in every])
        word = every[random.choice(len(every), p=weights / weights.sum())]
        self.seen[above, word.text] += 1
        return word


def _renamed(node: Node, names: Mapping[str, str]) -> Node:
    """The tree with other names of inputs."""
    if not node.operands:
        return Node(names.get(node.text, node.text))
    return Node(node.text, tuple(_renamed(operand, names) for operand in node.operands))


def values(random: np.random.Generator, program: Program, count: int) -> list[tuple[np.ndarray, ...]]:
    """As many draws of a program's inputs; all draws of an input have one shape."""
    shape = SHAPES[random.integers(len(SHAPES))]
    shapes = [shape, *(_broadcast(random, shape) for _ in program.dtypes[1:])]
    kinds = list(KINDS)
    draws = []
    for number in range(count):
        kind = kinds[number % len(kinds)]
        mixed = [kind if random.random() < 0.7 else kinds[random.integers(len(kinds))] for _ in shapes]
        each = zip(mixed, shapes, program.dtypes, strict=True)
        draws.append(tuple(KINDS[k](random, np.dtype(dtype), one) for k, one, dtype in each))
    return draws


def _broadcast(random: np.random.Generator, shape: tuple[int, ...]) -> tuple[int, ...]:
    if random.random() > _BROADCAST:
        return shape
    return tuple(1 if random.random() < 0.5 else size for size in shape)


Shape = tuple[int, ...]


def _plain(random: np.random.Generator, dtype: np.dtype, shape: Shape) -> np.ndarray:
    if is_float(dtype):
        return (random.standard_normal(shape) * 3).astype(dtype)
    return random.integers(0 if dtype.kind == "u" else -9, 10, shape).astype(dtype)


def _special(random: np.random.Generator, dtype: np.dtype, shape: Shape) -> np.ndarray:
    """Infinities, NaN, zeros, limits and ordinary numbers; of integers, their limits."""
    if is_float(dtype):
        info = ml_dtypes.finfo(dtype)
        top, tiny = float(info.max), float(info.smallest_normal)
        pool = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, top, -top, tiny, -tiny, 1.0, -1.0, 2.0]).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        pool = np.array([limits.min, limits.max, limits.min + 1, limits.max - 1, 0, 1, 2, 3], dtype)
    drawn = random.choice(pool, shape)
    return np.asarray(np.where(random.random(shape) < 0.5, drawn, _plain(random, dtype, shape)), dtype)


def _tied(random: np.random.Generator, dtype: np.dtype, shape: Shape) -> np.ndarray:
    """Few different numbers, so that extremes, sorts and comparisons have ties."""
    return np.asarray(random.choice(_plain(random, dtype, (3,)), shape), dtype)


def _halves(random: np.random.Generator, dtype: np.dtype, shape: Shape) -> np.ndarray:
    """Whole and half numbers, and their neighbours; of integers, small numbers."""
    if not is_float(dtype):
        return random.integers(0, 4, shape).astype(dtype)
    whole = (random.integers(-8, 9, shape) / 2).astype(dtype)
    unit = np.dtype(f"i{dtype.itemsize}")
    bits: np.ndarray = whole.view(unit) + random.choice([-1, 0, 0, 1], shape).astype(unit)
    moved = bits.view(dtype)
    return np.where(whole == 0, whole, moved)


def _wide(random: np.random.Generator, dtype: np.dtype, shape: Shape) -> np.ndarray:
    """Numbers of every magnitude, also subnormal ones; of integers, random bits."""
    if not is_float(dtype):
        return random.integers(0, 2**8, (*shape, dtype.itemsize)).astype(np.uint8).view(dtype).reshape(shape)
    info = ml_dtypes.finfo(dtype)
    lowest, highest = float(np.log2(float(info.smallest_subnormal))), float(np.log2(float(info.max)))
    signs = random.choice([-1.0, 1.0], shape)
    return np.asarray(signs * np.exp2(random.uniform(lowest, highest, shape))).astype(dtype)


def _whole(random: np.random.Generator, dtype: np.dtype, shape: Shape) -> np.ndarray:
    """Positive numbers and zeros: domains of roots and logarithms."""
    return np.abs(_plain(random, dtype, shape)).astype(dtype)


#: The classes of values.
KINDS: Mapping[str, Callable[[np.random.Generator, np.dtype, Shape], np.ndarray]] = {
    "plain": _plain,
    "special": _special,
    "tied": _tied,
    "halves": _halves,
    "wide": _wide,
    "positive": _whole,
}
