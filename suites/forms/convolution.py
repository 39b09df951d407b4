"""Convolution: the specs of ops that multiply the windows of images with filters, and of their gradients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.quantity import Quantity
from tf_opdiff.harness.spec.recipes import FLOATS, Draw
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.forms.calls import Call, OfAll, Wrong
from tf_opdiff.suites.forms.contraction import OF_FLOATS, contraction, upstreams
from tf_opdiff.suites.forms.convolution_calls import Convolved, Windows
from tf_opdiff.suites.forms.elements import special
from tf_opdiff.suites.forms.part import Part, part, tiered
from tf_opdiff.suites.reference.convolution import of_windows

#: The names that suites import to declare specs.
__all__ = ("Calls", "Convolved", "Windows", "convolution")


@dataclass(frozen=True, kw_only=True)
class Calls:
    """The calls of an op of convolution.

    windows     label → windows; one program has all of them.
    further     the same of channels that are first, and of groups, for which not every CPU kernel is.
    large       the same of many channels and places, as kernels in blocks need them.
    small       label → windows without strides, dilations and padding, with tensors without elements or with one.
    wrong       label → a call that the op refuses.
    apart       whether each of the further calls has specs of its own, as kernels refuse some of them and not others.

    The large windows are batches as well, unless the result is a gradient by the filter.
    """

    windows: Mapping[str, Windows]
    further: Mapping[str, Windows]
    large: Mapping[str, Windows]
    small: Mapping[str, Windows]
    wrong: Mapping[str, Wrong]
    apart: bool = False

    def further_parts(self) -> Iterator[tuple[str, Mapping[str, Windows]]]:
        """The end of the name of each spec of further calls, with its calls."""
        if not self.apart:
            yield "-further", self.further
            return
        for label, windows in self.further.items():
            yield f"-{label.replace('_', '-')}", {label: windows}


def convolution(
    name: str, op: Convolved, calls: Calls, *, dtypes: tuple[str, ...] = FLOATS, gradient: bool = True
) -> tuple[Spec, ...]:
    """The specs of an op of convolution. The default tier has float32 and int32, the full tier all other dtypes.

    Args:
      name: the name with which theirs begin.
      op: the op.
      calls: its calls.
      dtypes: its dtypes.
      gradient: whether TensorFlow has a gradient of the op.
    """
    floats = tuple(dtype for dtype in dtypes if dtype in FLOATS)
    promises = [op.promise(windows) for windows in calls.windows.values()]

    def second(*xs: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(of_windows(promise, *xs[2 * n : 2 * n + 2]) for n, promise in enumerate(promises))

    return contraction(
        name,
        op.raw,
        {label: op.call(windows) for label, windows in calls.windows.items()},
        {label: {"only": op.call(windows, fixed=False)} for label, windows in calls.small.items()},
        *(
            _more(suffix, op, further, ("plain", "exact"), floats, gradient=gradient)
            for suffix, further in calls.further_parts()
        ),
        _more("-large", op, calls.large, ("upstreams",), floats, gradient=gradient),
        *([] if op.result == "filter" else [_special_filter(op, calls.windows, floats)]),
        wrong=calls.wrong,
        wrong_tier="default" if op.result == "output" else "full",
        floats=floats,
        integers=tuple(dtype for dtype in dtypes if dtype not in FLOATS),
        gradient=gradient,
        second=second if op.result == "output" else None,
        recipes={"special": _special(op, calls.windows)},
        batch=_batches(op, calls.large),
        shared=(1,) if op.result == "output" else (0,),
    )


def _batches(op: Convolved, windows: Mapping[str, Windows]) -> dict[str, Call]:
    """Calls whose images are a batch, with windows that need no fixed size of the result."""
    if op.result == "filter":
        return {}
    return {label: op.call(replace(one, strides=(), padding="VALID"), fixed=False) for label, one in windows.items()}


def _more(
    suffix: str,
    op: Convolved,
    windows: Mapping[str, Windows],
    labels: Sequence[str],
    floats: Sequence[str],
    *,
    gradient: bool,
) -> Part:
    """A part: further calls with some of the usual recipes; no specs without calls."""
    calls = {label: op.call(one) for label, one in windows.items()}
    recipes = {label: OF_FLOATS[label] for label in labels}
    sent = {"upstreams": upstreams} if gradient and "upstreams" in labels else {}
    own = part(suffix, calls=calls, recipes=recipes, upstreams=sent, dtypes=tiered(floats), gradient=gradient)
    return own if calls else lambda op: ()


def _special_filter(op: Convolved, windows: Mapping[str, Windows], floats: Sequence[str]) -> Part:
    """A part: filters with an infinity and a NaN, without gradients.

    Nothing says whether a place of padding is a zero, which an infinity turns into NaN: both results are right.
    """
    promises = [op.promise(one) for one in windows.values()]

    def alternatives(n: int, dtype: np.dtype, gs: Any, *xs: np.ndarray) -> list[np.ndarray]:
        return [promises[n].with_zeros(*xs[2 * n : 2 * n + 2])]

    return part(
        "-special-filter",
        recipes={"special": OfAll(_special(op, windows, of="filter"))},
        gradient=False,
        alternatives={str(Quantity("output", n)): partial(alternatives, n) for n in range(len(promises))},
        dtypes=tiered(floats),
    )


def _special(op: Convolved, windows: Mapping[str, Windows], of: str = "") -> Recipe:
    """A recipe: an infinity and a NaN in one tensor of each call, and numbers other than zero elsewhere.

    In a gradient by the image they are in the upstream, and only where no window reaches into the padding: there it is
    open whether an infinity meets a zero.
    """
    name = of or ("output" if op.result == "image" else "image")
    tensors = [
        (own == name and (name != "output" or one.padding == "VALID"), shape)
        for one in windows.values()
        for own, shape in op.shapes(one).items()
        if own != op.result
    ]

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        arrays = [(with_special, special(draw, np.dtype(dtype), *shape)) for with_special, shape in tensors]
        return tuple(
            x if with_special else np.where(np.isfinite(x), x, np.ones((), x.dtype)) for with_special, x in arrays
        )

    return recipe
