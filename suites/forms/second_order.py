"""Second order: parts with twins that promise forward mode and second order of an op of several inputs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.hessian import Hessian, linear_second_order, second_orders
from tf_opdiff.suites.forms.part import Op, Part
from tf_opdiff.suites.reference.function import Function


def with_second_order(part: Part, function: Function, hessian: Hessian) -> Part:
    """The part, with twins of its first spec that has a gradient.

    Args:
      part: the specs of the function.
      function: the function.
      hessian: its second derivatives.
    """

    def specs(op: Op) -> Sequence[Spec]:
        own = list(part(op))
        main = next(spec for spec in own if spec.vjp and not spec.elementwise)
        return [*own, *second_orders(main, op.name, function, hessian)]

    return specs


def with_linear_second_order(part: Part, *recipes: str, moving: Collection[int] = (0,), sparse: bool = False) -> Part:
    """The part, with the twins that `linear_second_order` makes of its first spec."""

    def specs(op: Op) -> Sequence[Spec]:
        own = list(part(op))
        return [*own, *linear_second_order(own[0], *recipes, moving=moving, sparse=sparse)]

    return specs
