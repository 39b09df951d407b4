"""Convolution: the fields of ops that multiply the windows of images with filters, and of their gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, Draw
from tf_opdiff.harness.spec.quantity import Quantity
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.forms.blocks import SHORT
from tf_opdiff.suites.forms.calls import Call, OfAll
from tf_opdiff.suites.forms.linear_algebra.contraction import CONTRACTED, OF_FLOATS
from tf_opdiff.suites.forms.neural_networks.convolution_blocks import blocks, with_two_options
from tf_opdiff.suites.forms.neural_networks.convolution_calls import Changes, Convolved, Windows
from tf_opdiff.suites.forms.op import also
from tf_opdiff.suites.forms.part import Part, part, tiered
from tf_opdiff.suites.forms.recipes.elements import special
from tf_opdiff.suites.reference.neural_networks.convolution import of_windows

#: The names that suites import to declare specs.
__all__ = ("Changes", "Convolved", "Tables", "Windows", "convolution")


@dataclass(frozen=True, kw_only=True)
class Tables:
    """The windows of the calls of an op of convolution, each with a label.

    windows     one program has all of them.
    further     channels that are first, and groups, for which not every CPU kernel is.
    large       many channels and places, as kernels in blocks need them; batches as well, unless the result is a
                gradient by the filter.
    small       windows without strides, dilations and padding, with tensors without elements or with one.
    fitting     windows that calls which the op refuses have, but for one change.
    apart       whether each of the further calls has specs of its own, as kernels refuse some of them and not others.
    """

    windows: Mapping[str, Windows]
    further: Mapping[str, Windows]
    large: Mapping[str, Windows]
    small: Mapping[str, Windows]
    fitting: Windows
    apart: bool = False

    def further_parts(self) -> Mapping[str, Mapping[str, Windows]]:
        """The end of the name of each spec of further calls → its calls."""
        if not self.apart:
            return {"-further": self.further}
        return {f"-{label.replace('_', '-')}": {label: windows} for label, windows in self.further.items()}


def convolution(
    convolved: Convolved,
    tables: Tables,
    *wrong: tuple[Mapping[str, Any], Changes],
    dtypes: tuple[str, ...] = FLOATS,
    gradient: bool = True,
    more: Sequence[Part] = (),
) -> dict[str, Any]:
    """The fields of an op of convolution. The default tier has float32 and int32, the full tier all other dtypes.

    Args:
      convolved: the op.
      tables: its calls.
      wrong: promises of errors, and the changes that are refused so: see `Convolved.unfit`.
      dtypes: its dtypes.
      gradient: whether TensorFlow has a gradient of the op.
      more: further parts.
    """
    calls, fitting, of_output = _called(convolved, tables.windows), tables.fitting, convolved.result == "output"
    recipes = {**OF_FLOATS, "special": OfAll(_special(convolved, tables.windows))}

    def by_windows(spec: Spec) -> Spec:
        """The spec; results in float32 are also computed by another method."""
        main = spec.recipes.keys() == recipes.keys() and spec.dtypes == ("float32",)
        return replace(spec, second=_by_windows(calls)) if main else spec

    # An error that ends the process costs a second.
    tier = {"tier": "default" if of_output else "full"}
    return {
        **CONTRACTED,
        "raw": convolved.raw,
        "parts": (
            *_more(convolved, tables),
            *([] if convolved.result == "filter" else [_special_filter(convolved, tables.windows)]),
            *more,
        ),
        "calls": calls,
        "small": {label: convolved.call(windows, fixed=False) for label, windows in tables.small.items()},
        "wrong": dict(chain.from_iterable(convolved.unfit(fitting, tier | dict(p), c).items() for p, c in wrong)),
        "batch": _batches(convolved, tables.large),
        "blocks": blocks(convolved, fitting.dimensions),
        "blocks_in": SHORT,
        "shared": (1,) if of_output else (0,),
        "dtypes": tiered([dtype for dtype in dtypes if dtype in FLOATS]),
        "integers": tiered([dtype for dtype in dtypes if dtype not in FLOATS]),
        "gradient": gradient,
        "recipes": recipes,
        "changed": by_windows if of_output else None,
        "second": ("plain",) if gradient else (),
    }


def _called(convolved: Convolved, windows: Mapping[str, Windows]) -> dict[str, Call]:
    return {label: convolved.call(one) for label, one in windows.items()}


def _by_windows(calls: Mapping[str, Call]) -> Callable[..., Any]:
    """The results of all calls by another method."""
    promises = [one.promise for one in calls.values()]
    return lambda *xs: tuple(of_windows(promise, *xs[2 * n : 2 * n + 2]) for n, promise in enumerate(promises))


def _more(convolved: Convolved, tables: Tables) -> Iterator[Part]:
    """The parts of further and of large calls."""
    further = {suffix: (windows, ("plain", "exact")) for suffix, windows in tables.further_parts().items()}
    for suffix, (windows, labels) in {**further, "-large": (tables.large, ("upstreams",))}.items():
        yield also(suffix, calls=_called(convolved, windows), recipes={label: OF_FLOATS[label] for label in labels})
    if not convolved.depthwise:
        yield from with_two_options(convolved, tables.fitting.dimensions)


def _batches(convolved: Convolved, windows: Mapping[str, Windows]) -> dict[str, Call]:
    """Calls whose images are a batch, with windows that need no fixed size of the result."""
    if convolved.result == "filter":
        return {}
    return {
        label: convolved.call(replace(one, strides=(), padding="VALID"), fixed=False) for label, one in windows.items()
    }


def _special_filter(convolved: Convolved, windows: Mapping[str, Windows]) -> Part:
    """A part: filters with an infinity and a NaN, without gradients.

    Nothing says whether a place of padding is a zero, which an infinity turns into NaN: both results are right.
    """
    promises = [convolved.promise(one) for one in windows.values()]

    def alternatives(n: int, dtype: np.dtype, gs: Any, *xs: np.ndarray) -> list[np.ndarray]:
        return [promises[n].with_zeros(*xs[2 * n : 2 * n + 2])]

    return part(
        "-special-filter",
        recipes={"special": OfAll(_special(convolved, windows, of="filter"))},
        gradient=False,
        alternatives={str(Quantity("output", n)): partial(alternatives, n) for n in range(len(promises))},
    )


def _special(convolved: Convolved, windows: Mapping[str, Windows], of: str = "") -> Recipe:
    """A recipe: an infinity and a NaN in one tensor of each call, and numbers other than zero elsewhere.

    In a gradient by the image they are in the upstream, and only where no window reaches into the padding: there it is
    open whether an infinity meets a zero.
    """
    name = of or ("output" if convolved.result == "image" else "image")
    tensors = [
        (own == name and (name != "output" or one.padding == "VALID"), shape)
        for one in windows.values()
        for own, shape in convolved.shapes(one).items()
        if own != convolved.result
    ]

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        arrays = [(with_special, special(draw, np.dtype(dtype), *shape)) for with_special, shape in tensors]
        return tuple(
            x if with_special else np.where(np.isfinite(x), x, np.ones((), x.dtype)) for with_special, x in arrays
        )

    return recipe
