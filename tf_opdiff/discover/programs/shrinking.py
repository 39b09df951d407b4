"""Shrinking: the smallest program, dtype, shape and values that still differ in the same mode by the same kind.

A greedy search over the program itself. A check compiles a program, which costs more than all else, so few checks
matter more than the last step: Hypothesis shrinks a list of choices, and takes hundreds of checks for a tree of ops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tf_opdiff.discover.judging import Difference, Judge
from tf_opdiff.discover.programs.program import NAMES, Node, Program
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.model.worker import WorkerEnded

Draw = tuple[np.ndarray, ...]
#: The most checks of one difference.
CHECKS = 80
#: The elements of the largest inputs whose values are made simpler one by one.
_FEW = 8


@dataclass(frozen=True)
class Example:
    """A program with inputs by which it differs."""

    program: Program
    draw: Draw

    @property
    def tidy(self) -> Example:
        """Without the inputs that the program does not use; the others have the first names."""
        used = [n for n, name in enumerate(self.program.names) if name in self.program.root.inputs]
        names = {NAMES[n]: NAMES[place] for place, n in enumerate(used)}
        program = replace(
            self.program,
            root=renamed(self.program.root, names),
            dtypes=tuple(self.program.dtypes[n] for n in used),
        )
        return Example(program, tuple(self.draw[n] for n in used))


def renamed(node: Node, names: dict[str, str]) -> Node:
    """The tree with other names of inputs."""
    if not node.operands:
        return Node(names.get(node.text, node.text))
    return Node(node.text, tuple(renamed(operand, names) for operand in node.operands))


def shrunk(judge: Judge, example: Example, difference: Difference) -> tuple[Example, Difference]:
    """The smallest example found, and its difference, which has the mode and the kind of the given one.

    A part that already differs stands for the program; its difference may have another kind.
    """
    left = CHECKS

    def differing(candidate: Example, kind: str = "") -> Difference | None:
        nonlocal left
        if left <= 0 or not candidate.program.dtypes:
            return None
        left -= 1
        try:
            every = judge.differences(candidate.program, [candidate.draw], [difference.mode]) or {}
        except WorkerEnded:
            return None
        return next((one for one in every.get(difference.mode, ()) if kind in ("", one.kind)), None)

    best, shown = example.tidy, difference
    for part in best.program.ops[:-1]:
        if first := differing(Example(Program(part, best.program.dtypes), best.draw).tidy):
            best, shown = Example(Program(part, best.program.dtypes), best.draw).tidy, first
            break
    for step in (_programs, _shapes, partial(_lifted, judge), _programs, _values):
        best, shown = _descent(best, shown, step, partial(differing, kind=shown.kind))
    return best, shown


def _descent(
    best: Example,
    shown: Difference,
    step: Callable[[Example], Iterator[Example]],
    differing: Callable[[Example], Difference | None],
) -> tuple[Example, Difference]:
    """Takes the first smaller example that differs alike, until there is none."""
    while True:
        for candidate in step(best):
            if smaller := differing(candidate.tidy):
                best, shown = candidate.tidy, smaller
                break
        else:
            return best, shown


def _programs(example: Example) -> Iterator[Example]:
    """Fewer ops, no form, fewer inputs, float32."""
    program = example.program
    for root in sorted(set(program.root.variants()), key=lambda root: len(tuple(root.ops))):
        if root.operands and len(tuple(root.ops)) < len(program.ops):
            yield replace(example, program=replace(program, root=root))
    if program.form != "plain":
        yield replace(example, program=program.plain)
    for name in program.names[1:]:
        yield replace(example, program=replace(program, root=renamed(program.root, {name: "x"})))
    if {*program.dtypes} & {"float64", "float16", "bfloat16"}:
        with np.errstate(all="ignore"):
            draw = tuple(x.astype(np.float32) if is_float(x.dtype) else x for x in example.draw)
        yield Example(replace(program, dtypes=tuple(x.dtype.name for x in draw)), draw)


def _lifted(judge: Judge, example: Example) -> Iterator[Example]:
    """A further input in place of an op: the op's value in eager mode."""
    program = example.program
    if program.form not in ("plain", "gradient") or len(program.dtypes) == len(NAMES):
        return
    for part in program.ops[-2::-1]:
        if (value := judge.value(Program(part, program.dtypes), example.draw)) is not None:
            root = program.root.replacing(part, Node(NAMES[len(program.dtypes)]))
            lifted = replace(program, root=root, dtypes=(*program.dtypes, value.dtype.name))
            yield Example(lifted, (*example.draw, value))


def _shapes(example: Example) -> Iterator[Example]:
    """One half of an axis of all inputs that have it."""
    if any(x.ndim != 2 for x in example.draw):
        return
    sizes = {axis: max(x.shape[axis] for x in example.draw) for axis in (0, 1)}
    for axis, size in sizes.items():
        for part in (slice(0, size // 2), slice(size // 2, size)) if size > 1 else ():
            index = (part,) if axis == 0 else (slice(None), part)
            yield replace(example, draw=tuple(x[index].copy() if x.shape[axis] == size else x for x in example.draw))


def _values(example: Example) -> Iterator[Example]:
    """A simple number in place of an element."""
    for number, x in enumerate(example.draw):
        for place in range(x.size) if x.size <= _FEW else ():
            for value in (0, 1, 2):
                if x.flat[place] == value:
                    break
                other = x.copy()
                other.flat[place] = value
                yield replace(example, draw=(*example.draw[:number], other, *example.draw[number + 1 :]))
