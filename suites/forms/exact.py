"""Exact: ops of one tensor whose results are exact, as those of integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tf_opdiff.harness.spec.recipes import bit_patterns, edges, matrix, plain
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.position import positions
from tf_opdiff.suites.derived.sizes import alike, elementwise_sizes
from tf_opdiff.suites.derived.special_places import distinct, short
from tf_opdiff.suites.forms.unary import calling


def exact(
    name: str,
    *,
    op: str,
    reference: Callable[..., Any],
    dtypes: tuple[str, ...],
    vjp: Callable[..., Any] | None = None,
    argument: str = "x",
) -> tuple[Spec, ...]:
    """The specs of an elementwise op whose result is exact.

    Args:
      name: the name of its main spec.
      op: its OpDef, whose input is named `argument`.
      reference: reference(x), as of a spec.
      dtypes: the dtypes that it is checked in.
      vjp: vjp(g, x), as of a spec; None if no gradient is asked for.
      argument: the name of the OpDef's input.
    """
    spec = Spec(
        name=name,
        ops=op,
        program=calling(op, argument),
        reference=reference,
        vjp=vjp,
        recipes={"edges": edges, "bits": bit_patterns, "plain": plain, "matrix": matrix},
        dtypes=dtypes,
    )
    specs = (spec, *positions(spec), *short(spec, distinct(edges)))
    return (*specs, *elementwise_sizes(specs, alike(1)))
