"""Convolution blocks: calls with more places or terms than a block of a kernel, and calls with two options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tf_opdiff.suites.forms.calls import Call
from tf_opdiff.suites.forms.neural_networks.convolution_calls import Convolved, Windows
from tf_opdiff.suites.forms.op import also
from tf_opdiff.suites.forms.part import Part, tiered
from tf_opdiff.suites.forms.recipes.elements import nonzero_integers, plain

#: By the number of dimensions: more than 256 windows, and sums of more than 300 terms.
_BLOCKS: Mapping[int, Mapping[str, Windows]] = {
    2: {
        "windows": Windows(image=(2, 17, 16, 3), filter=(3, 2, 3, 2)),
        "terms": Windows(image=(1, 4, 5, 35), filter=(3, 3, 35, 2), padding="SAME"),
    },
    3: {
        "windows": Windows(image=(2, 9, 7, 5, 2), filter=(2, 2, 1, 2, 3)),
        "terms": Windows(image=(1, 3, 4, 2, 39), filter=(2, 2, 2, 39, 2), padding="SAME"),
    },
}
#: Two options together. Not every kernel takes all pairs.
_OPTIONS: Mapping[int, Mapping[str, Windows]] = {
    2: {
        "dilated-strided": Windows(image=(1, 9, 8, 2), filter=(3, 2, 2, 3), strides=(2, 3), dilations=(2, 3)),
        "first-dilated": Windows(image=(1, 7, 8, 2), filter=(3, 2, 2, 3), dilations=(2, 3), channels_first=True),
        "first-explicit": Windows(
            image=(1, 5, 4, 2), filter=(3, 2, 2, 3), padding=((1, 2), (0, 1)), channels_first=True
        ),
        "first-groups": Windows(image=(1, 3, 4, 4), filter=(2, 3, 2, 6), channels_first=True),
    },
    3: {
        "dilated-strided": Windows(
            image=(1, 6, 7, 5, 2), filter=(2, 3, 2, 2, 1), strides=(2, 1, 3), dilations=(2, 2, 3)
        ),
        "first-strided": Windows(
            image=(1, 5, 4, 6, 2), filter=(2, 1, 3, 2, 3), strides=(2, 1, 3), padding="SAME", channels_first=True
        ),
    },
}


def blocks(convolved: Convolved, dimensions: int) -> dict[str, Call]:
    """Large calls; none of depthwise convolutions."""
    windows = {} if convolved.depthwise else _BLOCKS[dimensions]
    return {label: convolved.call(one) for label, one in windows.items()}


def with_two_options(convolved: Convolved, dimensions: int) -> Iterator[Part]:
    """The parts: calls with two options, each with a spec of its own."""
    for label, windows in _OPTIONS[dimensions].items():
        if windows.channels_first and not convolved.formats:
            continue
        calls = {label.replace("-", "_"): convolved.call(windows)}
        recipes = {"plain": plain, "exact": nonzero_integers}
        yield also(f"-{label}", calls=calls, recipes=recipes, dtypes=tiered(("float32",)))
