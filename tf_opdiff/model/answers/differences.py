"""Differences: the results of a program under a plan compared with those of eager mode, and with rounding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tf_opdiff.model.answers import tolerance
from tf_opdiff.model.answers.answer import ResultDifference
from tf_opdiff.model.program_run import ProgramRun


def differing(run: ProgramRun, expected: ProgramRun) -> list[str]:
    """The names of the results that have other bits in a step, or at the end."""
    return sorted(
        {
            name
            for step in range(expected.steps + 1)
            for name in expected.names(step)
            if not tolerance.same_bits(run.array(step, name), expected.array(step, name))
        }
    )


def differences(run: ProgramRun, expected: ProgramRun, shaken: Sequence[ProgramRun]) -> list[ResultDifference]:
    """The results that differ: those beyond the tolerance first, then those that lost their digits, by relative error.

    `shaken` are runs on inputs and variables that are a little off.
    """
    each = [_difference(name, run, expected, shaken) for name in differing(run, expected)]
    return sorted(each, key=lambda d: (not tolerance.serious(d.comparison), not d.lost, -max(d.curve)))


def _difference(name: str, run: ProgramRun, expected: ProgramRun, shaken: Sequence[ProgramRun]) -> ResultDifference:
    """The first step in which a result differs by more than rounding, else the last step."""
    curve, shown = list[float](), None
    for step in range(expected.steps + 1):
        if name not in expected.names(step):
            continue
        got, want = (one.array(step, name) for one in (run, expected))
        curve.append(tolerance.relative_error(got, want))
        if shown is None or not (shown.lost or tolerance.serious(shown.comparison)):
            samples = [sample for one in shaken if (sample := one.array(step, name)).shape == want.shape]
            comparison = tolerance.compared_by_condition(got, want, samples)
            lost = _lost(got, want, samples, _scale(expected, step, want.dtype))
            shown = ResultDifference(name, comparison, (), lost, min(step, expected.steps - 1))
    assert shown is not None
    return ResultDifference(name, shown.comparison, tuple(curve), shown.lost, shown.step)


def _lost(got: np.ndarray, want: np.ndarray, samples: Sequence[np.ndarray], scale: float) -> bool:
    """Whether a result has lost its digits. One that is noise in eager mode as well counts by the largest result."""
    error = tolerance.relative_error(got, want)
    if not tolerance.lost(error, want.dtype) or not tolerance.is_real(want.dtype) or got.shape != want.shape:
        return tolerance.lost(error, want.dtype)
    with np.errstate(all="ignore"):
        apart = np.abs(got - want)
        if not tolerance.is_noise(want, tolerance.allowed_error(want, samples)) or not np.isfinite(apart).all():
            return True
        return tolerance.lost(float(apart.max(initial=0)) / scale if scale else np.inf, want.dtype)


def _scale(run: ProgramRun, step: int, dtype: np.dtype) -> float:
    """The largest finite number among the results of a dtype in a step."""
    arrays = [run.array(step, name) for name in run.names(step)]
    finite = [np.abs(a[np.isfinite(a)]).max(initial=0) for a in arrays if a.dtype == dtype]
    return float(max(finite, default=0.0))
