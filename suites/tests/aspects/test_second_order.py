"""Every op that has a gradient promises its second order, or there is a reason why it can't."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pytest

from tf_opdiff.harness.judge.known_failures import known_files
from tf_opdiff.harness.judge.known_failures.selectors import admits
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.reference.promises.function import Function
from tf_opdiff.suites.reference.promises.wide import mp
from tf_opdiff.suites.tests.references.test_function import points

CATALOG = Catalog.load("tf_opdiff.suites")
KNOWN = known_files.load(Path(__file__).parents[2] / "known", CATALOG)
#: The OpDefs whose forward mode and second order no spec promises yet → what TensorFlow does.
LINES = Path(__file__).with_name("without_second_order.txt").read_text("utf-8").splitlines()
TO_DO = dict(line.split(": ", 1) for line in LINES)
#: The twins of functions of several inputs, without those whose second order is an error or unconnected.
CURVED = {
    name: spec
    for name, spec in CATALOG.specs.items()
    if name.endswith("-second-order") and isinstance(spec.reference, Function) and spec.derivatives.hvp
}


def differentiable(specs: Iterable[Spec]) -> dict[str, list[Spec]]:
    """OpDef → the specs of this op alone that have a gradient and a float dtype.

    A program with state has no forward mode. Functions of complex numbers promise first derivatives only.
    """
    by_op: dict[str, list[Spec]] = {}
    for spec in specs:
        smooth = any(is_float(np.dtype(dtype)) for dtype in spec.dtypes)
        if (
            spec.derivatives.vjp
            and smooth
            and not spec.execution.state
            and isinstance(spec.ops, str)
            and ";" not in spec.ops
        ):
            by_op.setdefault(spec.ops, []).append(spec)
    return by_op


@np.errstate(all="ignore")
def is_flat(spec: Spec) -> bool:
    """Whether all gradients of the first case are unconnected or zeros, so that there is nothing to differentiate."""
    case = next(case for case in spec.cases() if is_float(np.dtype(case.dtype)))
    wants = expectation(case, case.inputs(), None, bounds=False).wants
    gradients = [want.value for quantity, want in wants.items() if quantity.startswith("grad")]
    return all(value is None or not np.any(value) for value in gradients)


def is_error(spec: Spec) -> bool:
    """Whether a known failure says that TensorFlow has no gradient of the op at all, or refuses it in every mode."""
    causes = ("gradient-not-registered", "tensor-array-gradient-refused")
    entries = [entry for entry in KNOWN.entries if entry.cause.id in causes]
    return any(admits(entry.spec, spec.name) and admits(entry.quantity, "grad[0]") for entry in entries)


def without_second_order(by_op: Mapping[str, list[Spec]]) -> list[str]:
    """The OpDefs with a gradient that depends on something, without a spec that promises forward mode."""
    lacking = [op for op, specs in by_op.items() if not any(spec.derivatives.jvp for spec in specs)]
    return [op for op in lacking if not any(map(is_error, by_op[op])) and not all(map(is_flat, by_op[op]))]


def test_every_op_with_a_gradient_has_second_order():
    by_op = differentiable(spec for item in CATALOG.items if ".ops." in item.module for spec in [item.spec])
    assert len(by_op) > 90
    assert {*without_second_order(by_op)} == TO_DO.keys()
    assert len(TO_DO) <= 4


def test_each_op_that_is_to_do_has_a_reason():
    assert [op for op, reason in TO_DO.items() if len(reason.split()) < 4] == []


def test_an_op_without_second_order_is_noticed():
    by_op = differentiable(CATALOG.specs[name] for name in ("atan2-gradient", "floor", "mod", "sign"))
    assert without_second_order(by_op) == ["Atan2"]


def test_there_are_functions_of_several_inputs():
    assert len(CURVED) > 10


@pytest.mark.parametrize("spec", CURVED.values(), ids=CURVED)
@np.errstate(all="ignore")
def test_every_second_derivative_agrees_with_a_numerical_one(spec):
    function = spec.reference
    xs = points(function)
    one, zero = np.ones(xs[0].shape), np.zeros(xs[0].shape)
    for i in (i for i, d in enumerate(function.partials) if d):
        promised = spec.derivatives.hvp(one, tuple(one if k == i else zero for k in range(len(xs))), *xs)
        for j, values in enumerate(promised):
            order = tuple(int(k == i) + int(k == j) for k in range(len(xs)))
            if j in function.whole:
                assert values is None
                continue
            for k, point in enumerate(zip(*xs, strict=True)):
                numerical = float(mp.re(mp.diff(function.exact, tuple(map(mp.mpf, point)), order)))
                value = 0.0 if values is None else values[k]
                assert abs(value - numerical) <= 1e-14 * max(abs(numerical), 1e-3), (i, j, point)
