"""Layout: ops of one tensor whose results are its elements in other places, with zeros between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.attrs import Keywords
from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS, edges, is_float, subnormals
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.forms.of_xla import OF_XLA
from tf_opdiff.suites.forms.quantized import IN_XLA, WITHOUT_XLA, of_bits

#: The dtypes that TensorFlow differentiates, in the full tier; float32 is in the default tier.
_SMOOTH = tuple(dtype for dtype in (*FLOATS, *COMPLEX) if dtype != "float32")
_ROUGH = (*INTEGERS, "bool")


def values(*shape: int) -> Recipe:
    """A recipe: plain values in a shape."""
    return lambda draw, dtype: (draw.values(dtype, *shape),)


def special(*shape: int) -> Recipe:
    """A recipe: the limits of a dtype in a shape; for floats also zeros of both signs, NaN, infinities, subnormals."""

    def recipe(draw: Any, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        limits = edges(draw, dtype)[0]
        if is_float(dtype):
            limits = np.concatenate([limits[:29], subnormals(draw, dtype)[0][:12]])
        return (np.resize(limits, shape),)

    return recipe


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The declaration of an op that moves elements.

    Attributes:
      name: the name of its main spec.
      op: its OpDef.
      program: program(tf, x, **attrs).
      move: move(x, **attrs) → the result, for an array of any dtype; places that hold no element of `x` are 0.
      shapes: name → shape of the input; `plain` and `special` have that of the first.
      attrs: as of a spec.
      conjugate: whether the result is conjugated.
      without_xla: further dtypes that a CPU takes and XLA lacks.
      of_xla: dtypes that XLA alone takes.
      quantized: the NumPy dtypes whose quantised twins XLA alone takes.
      more: further dtypes that a CPU and XLA take.
      smooth, rough: the dtypes that TensorFlow differentiates, beside float32, and the others.
    """

    name: str
    op: str
    program: Callable[..., Any]
    move: Callable[..., np.ndarray]
    shapes: Mapping[str, tuple[int, ...]]
    attrs: Mapping[str, Keywords]
    conjugate: bool = False
    without_xla: tuple[str, ...] = ()
    of_xla: tuple[str, ...] = OF_XLA
    quantized: tuple[str, ...] = IN_XLA
    more: tuple[str, ...] = ()
    smooth: tuple[str, ...] = _SMOOTH
    rough: tuple[str, ...] = _ROUGH

    def reference(self, x: np.ndarray, **attrs: Any) -> np.ndarray:
        """The elements in their new places, conjugated if the op does so."""
        moved = self.move(x, **attrs)
        return np.conj(moved) if self.conjugate and x.dtype.kind == "c" else moved

    def vjp(self, g: np.ndarray, x: np.ndarray, **attrs: Any) -> tuple[np.ndarray]:
        """The upstream of each element, from the place to which the element was moved."""
        places = self.move(np.arange(1, x.size + 1).reshape(x.shape), **attrs)  # 0: no element
        out = np.zeros(x.size + 1, g.dtype)
        out[places.ravel()] = g.ravel()
        gradient = out[1:].reshape(x.shape)
        return (np.conj(gradient) if self.conjugate and x.dtype.kind == "c" else gradient,)

    def specs(self) -> Sequence[Spec]:
        """The specs of float32, in all shapes and with all attributes, and those of the other dtypes in the full tier.

        The first set of attributes has every shape, the others have the first shape: each pair is a program to build.
        """
        first = next(iter(self.shapes.values()))
        contents = {"plain": values(*first), "special": special(*first)}
        rest = {name: values(*shape) for name, shape in list(self.shapes.items())[1:]}
        main = Spec(
            name=self.name,
            ops=self.op,
            program=self.program,
            reference=self.reference,
            vjp=self.vjp,
            recipes=contents | rest,
            attrs=dict(list(self.attrs.items())[:1]),
        )
        further = replace(main, name=f"{self.name}-attrs", recipes=contents, attrs=dict(list(self.attrs.items())[1:]))
        one = replace(main, recipes=contents, tier="full")
        rough, plain = replace(one, vjp=None), {"plain": values(*first)}
        # XLA leaves half of a result of 4 bits unwritten; in a small one, the memory may hold the same bits twice.
        largest = {"large": values(*max(self.shapes.values(), key=np.prod))}
        others = [
            replace(one, name=f"{self.name}-smooth", dtypes=self.smooth),
            replace(rough, name=f"{self.name}-rough", dtypes=self.rough),
            replace(rough, name=f"{self.name}-more", dtypes=self.more, recipes=plain),
            replace(rough, name=f"{self.name}-no-xla", dtypes=self.without_xla, recipes=plain, modes=WITHOUT_XLA),
            replace(rough, name=f"{self.name}-of-xla", dtypes=self.of_xla, recipes=largest, modes=("xla",)),
            replace(
                rough,
                name=f"{self.name}-of-xla-quantized",
                program=_quantized(self.program),
                dtypes=self.quantized,
                recipes=plain,
                modes=("xla",),
            ),
        ]
        return (main, *([further] if further.attrs else []), *(spec for spec in others if spec.dtypes))


def _quantized(program: Callable[..., Any]) -> Callable[..., Any]:
    """A program whose input and output are quantised numbers with the bits of integers."""
    return lambda tf, x, **attrs: tf.bitcast(program(tf, of_bits(tf, x), **attrs), x.dtype)


def layout(name: str, **fields: Any) -> Sequence[Spec]:
    """The specs of an op that moves the elements of a tensor; the fields are those of `Layout`."""
    return Layout(name=name, **fields).specs()
