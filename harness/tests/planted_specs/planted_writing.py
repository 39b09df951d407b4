"""Programs that are hard to write alone: annotated helpers, closures of one name, types and functions of others."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from tf_opdiff.harness.spec.inputs.recipes import Draw, plain
from tf_opdiff.harness.spec.spec import Spec

#: A name that the script of a finding defines as well.
allowed = 3.0
#: A name of Python's own.
sum = 1.0


@dataclass(frozen=True)
class Kind:
    """What a program knows of its op; its reference needs more than NumPy."""

    scale: float
    reference: Callable[..., Any]
    exact: Any

    @property
    def doubled(self) -> float:
        """Twice the scale."""
        return 2 * self.scale

    def times(self, x: Any, by: Draw | None = None) -> Any:
        """x times the scale."""
        factor: Iterable[Any] = self.doubled if by else self.scale
        return x * factor


class Pair(NamedTuple):
    """Two results, with names."""

    first: Any
    second: Any = 0


def paired(tf: Any, x: Any) -> Pair:
    return Pair(x)


def near(x):
    """A function that needs SciPy."""
    return special.j0(x)


def helper(x: Any, wanted: Draw | None = None) -> Any:
    """Annotated with a type that the program does not import; the function in it, too."""

    def inner(y: Iterable[Any], f: Callable[..., Any] = abs) -> Any:
        half: Any = f(y)
        return half

    return inner(x)


def _shift(f: Callable[..., Any]) -> Callable[..., Any]:
    """A closure named f, around a lambda that has a parameter f."""
    return lambda x: next(map(lambda f: f + allowed, [f(x)]))  # noqa: C417  the inner parameter is the point


def _twice(f: Callable[..., Any]) -> Callable[..., Any]:
    def both(x: Any) -> Any:
        return f(x) + f(x)

    return both


KIND = Kind(2.0, near, special.y0)
SHIFTED = _shift(_twice(abs))


def _program(kind: Kind, tf: Any, x: Any) -> Any:
    """|x| twice, and 1 + 2 |x| + 3; it is one too large."""
    values = [f(x) for f in (helper, SHIFTED)]
    return kind.times(values[0]) + sum, tf.add_n(values) - values[0] + kind.scale - 1.0


def _right(kind: Kind, tf: Any, x: Any) -> Any:
    return kind.times(helper(x)), SHIFTED(x)


def _reference(x: np.ndarray) -> Any:
    return 2 * np.abs(x), 2 * np.abs(x) + 3


def _needs_scipy(tf: Any, x: Any) -> Any:
    return x * float(special.j0(0.0))


def _allowed_twice(tf: Any, x: Any) -> Any:
    """3 x in eager mode, which is not allowed, and 0 in functions, which is."""
    return 3 * x if tf.executing_eagerly() else 0 * x


def _refusing_gradient(tf: Any, x: Any) -> Any:
    """Its gradient raises an error, so a program that computes both has no output."""

    @tf.custom_gradient
    def f(x: Any) -> Any:
        def grad(g: Any) -> Any:
            raise ValueError("no gradient")

        return 2 * x, grad

    return f(x)


def _assigning(tf: Any, state: Any, x: Any) -> Any:
    state["v"].assign_add(x + 1)  # one too large
    return 2 * x


_FIELDS = {"recipes": {"plain": plain}, "dtypes": ("float32",), "ops": ""}

SPECS = (
    Spec(
        name="allowed-twice",
        program=_allowed_twice,
        reference=lambda x: 2 * x,
        alternatives={"output[0]": lambda dtype, g, x: [np.zeros_like(x)]},
        **_FIELDS,
        modes=("eager", "function"),
    ),
    Spec(
        name="refusing-gradient",
        program=_refusing_gradient,
        reference=lambda x: 2 * x,
        vjp=lambda g, x: 2 * g,
        **_FIELDS,
        modes=("eager",),
    ),
    Spec(
        name="assigning",
        program=_assigning,
        state=lambda tf, x: {"v": tf.Variable(x)},
        reference=lambda x: (2 * x, {"v": 2 * x}),
        **_FIELDS,
        modes=("eager",),
    ),
    Spec(
        name="hard-to-write",
        program=functools.partial(_program, KIND),
        reference=_reference,
        **_FIELDS,
        modes=("eager", "function"),
    ),
    Spec(
        name="written-right",
        program=functools.partial(_right, KIND),
        reference=_reference,
        **_FIELDS,
        modes=("eager", "function"),
    ),
    Spec(
        name="needs-scipy",
        program=_needs_scipy,
        reference=lambda x: x,
        **_FIELDS,
        modes=("eager", "function"),
    ),
)
