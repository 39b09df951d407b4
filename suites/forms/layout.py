"""Layout: ops whose results are the elements of their inputs in other places, with one number between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.attrs import Keywords
from tf_opdiff.harness.spec.plan import MODES, WITHOUT_XLA
from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS, edges, is_float, subnormals
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.hessian import linear_second_order
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.of_xla import OF_XLA
from tf_opdiff.suites.forms.quantized import IN_XLA, of_bits

#: The dtypes that TensorFlow differentiates, in the full tier; float32 is in the default tier.
_SMOOTH = tuple(dtype for dtype in (*FLOATS, *COMPLEX) if dtype != "float32")
_ROUGH = (*INTEGERS, "bool")
#: The shape of the only input, or the shapes of all.
Shapes = tuple[int, ...] | tuple[tuple[int, ...], ...]


def values(*shape: int) -> Recipe:
    """A recipe: plain values in a shape."""
    return all_values(shape)


def all_values(shapes: Shapes) -> Recipe:
    """A recipe: plain values in each shape."""
    return lambda draw, dtype: tuple(draw.values(dtype, *shape) for shape in _each(shapes))


def _each(shapes: Shapes) -> tuple[tuple[int, ...], ...]:
    """The shape of each input."""
    return tuple(shape for shape in shapes if isinstance(shape, tuple)) or (shapes,)  # type: ignore[return-value]


def special(shapes: Shapes) -> Recipe:
    """A recipe: the limits of a dtype in each shape; for floats also zeros, NaN, infinities and subnormals."""

    def recipe(draw: Any, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        limits = edges(draw, dtype)[0]
        if is_float(dtype):
            limits = np.concatenate([limits[:29], subnormals(draw, dtype)[0][:12]])
        return tuple(np.resize(np.roll(limits, -i), shape) for i, shape in enumerate(_each(shapes)))

    return recipe


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The declaration of an op that moves elements.

    Attributes:
      name: the name of its main spec.
      op: its OpDef.
      program: program(tf, *inputs, **attrs).
      move: move(*inputs, **attrs) → the result, for arrays of any dtype; places that hold no element are 0, or the
        number of the attribute `padding`.
      shapes: name → shape of the input, or shapes of the inputs; `plain` and `special` have those of the first.
      attrs: as of a spec. `padding` is a number in all places that hold no element.
      small: name → the same of inputs without elements, and with one, for known and unknown sizes.
      gradient: whether the op has a gradient.
      modes: the modes that have the op.
      conjugate: whether the result is conjugated.
      mistake: the move whose gradient TensorFlow computes in place of the gradient; None if its gradient is right.
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
    shapes: Mapping[str, Shapes]
    attrs: Mapping[str, Keywords]
    small: Mapping[str, Shapes] = field(default_factory=dict)
    gradient: bool = True
    modes: tuple[str, ...] = MODES
    conjugate: bool = False
    mistake: Callable[..., np.ndarray] | None = None
    without_xla: tuple[str, ...] = ()
    of_xla: tuple[str, ...] = OF_XLA
    quantized: tuple[str, ...] = IN_XLA
    more: tuple[str, ...] = ()
    smooth: tuple[str, ...] = _SMOOTH
    rough: tuple[str, ...] = _ROUGH

    def reference(self, *xs: np.ndarray, **attrs: Any) -> np.ndarray:
        """The elements in their new places, conjugated if the op does so."""
        moved = self.move(*xs, **attrs)
        return np.conj(moved) if self.conjugate and xs[0].dtype.kind == "c" else moved

    def vjp(self, g: np.ndarray, *xs: np.ndarray, **attrs: Any) -> tuple[np.ndarray, ...]:
        """The upstream of each element, from the place to which the element was moved."""
        starts = np.cumsum([1, *(x.size for x in xs)])
        numbers = [start + np.arange(x.size).reshape(x.shape) for start, x in zip(starts, xs, strict=False)]
        places = self.move(*numbers, **({**attrs, "padding": 0} if "padding" in attrs else attrs))  # 0: no element
        out = np.zeros(starts[-1], g.dtype)
        out[places.ravel()] = g.ravel()
        out = np.conj(out) if self.conjugate and g.dtype.kind == "c" else out
        return tuple(out[number] for number in numbers)

    def _mistaken(self) -> dict[str, Callable[..., Any]]:
        """What TensorFlow computes in place of the result or of the gradient: see `SpecFields.mistaken`."""
        grad = {"grad": replace(self, move=self.mistake).vjp} if self.mistake else {}
        return {**grad, **({"output": self._interleaved} if self.conjugate else {})}

    def _interleaved(self, *xs: np.ndarray, **attrs: Any) -> np.ndarray:
        """The result of XLA for real numbers: the conjugate of each is followed by its imaginary part, -0."""
        moved = self.move(*xs, **attrs)
        parts = np.stack([moved, np.full_like(moved, -0.0)], axis=-1)
        return parts.ravel()[: moved.size].reshape(moved.shape)

    def specs(self) -> Sequence[Spec]:
        """The specs of float32, in all shapes and with all attributes, and those of the other dtypes in the full tier.

        The first set of attributes has every shape, the others have the first shape: each pair is a program to build.
        """
        first = next(iter(self.shapes.values()))
        contents = {"plain": all_values(first), "special": special(first)}
        rest = {name: all_values(shape) for name, shape in list(self.shapes.items())[1:]}
        main = Spec(
            name=self.name,
            ops=self.op,
            program=self.program,
            reference=self.reference,
            vjp=self.vjp if self.gradient else None,
            mistaken=self._mistaken(),
            recipes=contents | rest,
            modes=self.modes,
            attrs=dict(list(self.attrs.items())[:1]),
        )
        further = replace(main, name=f"{self.name}-attrs", recipes=contents, attrs=dict(list(self.attrs.items())[1:]))
        one = replace(main, recipes=contents, tier="full")
        rough, plain = replace(one, vjp=None), {"plain": all_values(first)}
        # XLA leaves half of a result of 4 bits unwritten; in a small one, the memory may hold the same bits twice.
        largest = {"large": all_values(max(self.shapes.values(), key=_size))}
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
        small = sizes(main, {name: all_values(shapes) for name, shapes in self.small.items()}) if self.small else ()
        second = linear_second_order(main, "plain", moving=range(len(_each(first)))) if self.gradient else ()
        return (
            main,
            *([further] if further.attrs else []),
            *(spec for spec in others if spec.dtypes),
            *small,
            *second,
        )


def _size(shapes: Shapes) -> int:
    """The number of elements of the first input."""
    return int(np.prod(_each(shapes)[0], dtype=int))


def _quantized(program: Callable[..., Any]) -> Callable[..., Any]:
    """A program whose inputs and output are quantised numbers with the bits of integers."""
    return lambda tf, *xs, **attrs: tf.bitcast(program(tf, *(of_bits(tf, x) for x in xs), **attrs), xs[0].dtype)


def layout(name: str, **fields: Any) -> Sequence[Spec]:
    """The specs of an op that moves the elements of a tensor; the fields are those of `Layout`."""
    return Layout(name=name, **fields).specs()
