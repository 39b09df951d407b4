"""Second order: parts with twins that promise forward mode and second order of an op that is linear."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.hessian import linear_second_order
from tf_opdiff.suites.forms.part import Op, Part


def with_linear_second_order(part: Part, *recipes: str, moving: Collection[int] = (0,), sparse: bool = False) -> Part:
    """The part, with the twins that `linear_second_order` makes of its first spec."""

    def specs(op: Op) -> Sequence[Spec]:
        own = list(part(op))
        return [*own, *linear_second_order(own[0], *recipes, moving=moving, sparse=sparse)]

    return specs
