"""Exact results: the arrays of a spec's reference and of its VJP, for tolerances that are computed from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.contract import Sparse
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.reference.promises.promise import together

#: The largest number of results of an op per input.
_MOST = 4
#: versions(xs) → several lists of inputs: xs, or for example xs and xs with zeros for subnormal numbers.
Versions = Callable[[Sequence[np.ndarray]], Sequence[Sequence[np.ndarray]]]


@dataclass
class ExactResults:
    """The results of a reference, or of the VJP of upstreams g, for each version of the inputs.

    of        of(g) → the reference, or the VJP.
    versions  see `Versions`.
    last      the last inputs and their results: all quantities of a case have the same inputs.
    """

    of: Callable[..., Callable[..., Any]]
    versions: Versions
    last: tuple[Any, list[list[np.ndarray]]] = ((), [])

    def arrays(self, g: Any, xs: Sequence[np.ndarray], attrs: Mapping[str, Any]) -> list[list[np.ndarray]]:
        """The arrays of all results, for each version."""
        own = (g, *xs)
        if len(own) != len(self.last[0]) or any(x is not y for x, y in zip(own, self.last[0], strict=True)):
            self.last = own, [_arrays(self.of(g)(*each, **attrs)) for each in self.versions(xs)]
        return self.last[1]


def exact_results(spec: Spec, count: int, versions: Versions) -> Iterator[tuple[str, ExactResults, int]]:
    """Each quantity that a spec with `count` inputs may have, the results, and the number of the quantity among them.

    Quantities are outputs and, with a VJP, gradients.
    """
    families: dict[str, Any] = {"output": lambda g: spec.reference}
    if spec.derivatives.vjp:
        families["grad"] = partial(partial, spec.derivatives.vjp)
    for family, of in families.items():
        results = ExactResults(of, versions)
        yield from ((f"{family}[{i}]", results, i) for i in range(_MOST * count))


def _arrays(promised: Any) -> list[np.ndarray]:
    """The arrays of a promise: those of the results or the gradients, and of the state."""
    *results, last = together(promised)
    values = (*results, *(last.values() if isinstance(last, dict) else [last]))
    return [np.asarray(value.values if isinstance(value, Sparse) else value) for value in values]
