"""Claim: compares claims of people about a program with the program's results.

The verdict of a claim's record is `match` if the claim holds as expected, and `contract` if it fails as expected. It is
`stale` if the claim holds but was expected to fail, and `mismatch` if it fails but was expected to hold. `got` is the
result, `want` the prediction of the claim.

A claim is judged by a value, or by an error that its spec promises or the claim predicts. Any other error, crash or
hang does not decide about the claim: the verdict is `mismatch` if TensorFlow failed, `error` if the program failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.differences.compare import compare, illustrated
from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.harness.judge.differences.row import row_of
from tf_opdiff.harness.judge.differences.second_element import with_second
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.judge.verdicts.trial import LOST, Context, Trial
from tf_opdiff.harness.spec.spec import Case, Claim, Spec
from tf_opdiff.harness.store.records.record import CLAIM, Record

#: The most numbers of an input that a record lists.
_MOST = 8
Promises = Mapping[str, Mapping[str, Want]]


def predicting(spec: Spec, claim: Claim) -> Spec:
    """A copy of the spec that promises the claim's prediction."""
    return spec.but(
        reference=claim.reference or spec.reference,
        vjp=claim.vjp or spec.derivatives.vjp,
        second=None if claim.reference else spec.second,
        bound={} if claim.ulp is not None else spec.tolerance.bound,
        ulp=spec.tolerance.ulp if claim.ulp is None else claim.ulp,
        contract={},
        claims=(),
    )


def predictions(case: Case, inputs: tuple[np.ndarray, ...]) -> dict[str, dict[str, Want]]:
    """The predictions of each claim for a case: id of the claim → quantity → prediction.

    Raises:
      ReferenceFault: a prediction failed, or the case has none of the claim's quantities.
    """
    by_claim = {}
    for claim in case.spec.claims:
        wants = expectation(replace(case, spec=predicting(case.spec, claim)), inputs, None).wants
        by_claim[claim.id] = {quantity: want for quantity, want in wants.items() if claim.concerns(quantity)}
        if not by_claim[claim.id]:
            raise ReferenceFault(f"claim {claim.id} is about {', '.join(claim.about)}; there is {', '.join(wants)}")
    return by_claim


def judge(context: Context, trial: Trial, promises: Promises, wants: Mapping[str, Want]) -> list[Record]:
    """A record for each claim about the plan: of the first quantity that differs, or else of the first quantity.

    `promises` has the predictions of the claims, `wants` the promises of their spec under the plan.
    """
    records = []
    for claim in trial.case.spec.claims:
        if not any(trial.plan.matches(pattern) for pattern in claim.plans):
            continue
        test = _Test.of(trial, claim, promises[claim.id])
        verdict, detail = test.verdict(wants.get(test.quantity, wants["output[0]"]))
        shown, against = test.shown(verdict), CLAIM + claim.id
        row = row_of(context, trial, shown, against=against, quantity=test.quantity)
        if shown.index is None and row.input:
            row = replace(row, input=", ".join(map(_listed, trial.inputs)))
        records.append(replace(row, verdict=verdict, detail=" ".join(detail.split())[:1000], reason=test.why))
    return records


@dataclass(frozen=True)
class _Test:
    """The test of a claim by one quantity: the result, the prediction, and their comparison."""

    trial: Trial
    claim: Claim
    quantity: str
    came: Result
    want: Want
    comparison: Comparison

    @classmethod
    def of(cls, trial: Trial, claim: Claim, predicted: Mapping[str, Want]) -> Self:
        """The test by the first quantity that differs from its prediction, or else by the first quantity."""
        failed = trial.result("output[0]")
        instead = failed if failed.status not in ("value", "sparse") else LOST
        came = {quantity: trial.observation.quantities.get(quantity, instead) for quantity in predicted}
        mode = trial.plan.mode
        predicted = {quantity: want.in_mode(mode) for quantity, want in predicted.items()}
        compared = {q: compare(came[q], want, q, inputs=trial.inputs) for q, want in predicted.items()}
        quantity = next((q for q, comparison in compared.items() if comparison.kind), next(iter(compared)))
        return cls(trial, claim, quantity, came[quantity], predicted[quantity], compared[quantity])

    @property
    def holds(self) -> bool:
        """Whether the claim holds; a claim that denies holds if the result differs from the prediction."""
        return bool(self.comparison.kind) == self.claim.denies

    @property
    def why(self) -> str:
        """The reason why the claim is expected not to hold; empty if it is expected to hold."""
        return self.claim.why_refuted(self.trial.plan)

    def verdict(self, promised: Want) -> tuple[str, str]:
        """The verdict on the claim, and its detail; `promised` is the spec's promise for the quantity."""
        claim, observation = self.claim, self.trial.observation
        kind, detail = self.comparison.kind, self.comparison.detail
        unpromised = _unpromised(self.came, self.quantity, (self.want, promised))
        if observation.fault:
            return "error", observation.fault
        if observation.lacking and self.came.status == "error":
            return "unavailable", observation.lacking
        if unpromised:
            return unpromised, f"nothing follows for {claim.id} from an error that nobody promised: {detail}"
        if kind in ("shape", "dtype"):
            return "error", f"the prediction of {claim.id} is of another {kind}: {detail}"
        if self.holds and self.why:
            return "stale", f"{claim.id} holds here, and was expected not to: {self.why}"
        if not self.holds and not self.why:
            return "mismatch", f"{claim.id} does not hold here: {claim.says} {detail}"
        return "match" if self.holds else "contract", detail

    def shown(self, verdict: str) -> Comparison:
        """The comparison, with numbers to show: those of an unexpected value, or those of a denied value."""
        comparison = self.comparison
        if comparison.kind in ("status", "gradient_status"):  # numbers say more than that there are some
            got, want = _brief(self.came.value), _brief(_rounded(self.want))
            return replace(comparison, got=got or comparison.got, want=want or comparison.want)
        if not comparison.kind and verdict in ("contract", "mismatch"):  # the claim denies this value, and it came
            comparison = illustrated(comparison, self.came, self.want, self.trial.inputs)
        elif verdict not in ("contract", "mismatch"):
            return comparison
        return with_second(comparison, self.came, self.want, self.quantity, inputs=self.trial.inputs)


def _unpromised(came: Result, quantity: str, wants: Sequence[Want]) -> str:
    """The verdict on a claim if the result is a failure that none of `wants` expects; else empty.

    Codes in CamelCase are Python exceptions: the program itself failed, which is a fault of the suite. TensorFlow's
    error codes, crashes and hangs are findings.
    """
    if came.status in ("value", "unconnected", "sparse") or not all(compare(came, w, quantity).kind for w in wants):
        return ""
    own = came.status == "error" and (came == LOST or not came.code.isupper())
    return "error" if own else "mismatch"


def _listed(array: np.ndarray) -> str:
    """An input as a list: whole, or its first numbers."""
    if array.size > _MOST:
        return f"[{_brief(array)}]"
    return f"[{', '.join(map(_listed, array))}]" if array.ndim else str(array[()])


def _rounded(want: Want) -> np.ndarray | None:
    """A promised value in the dtype of the result."""
    with np.errstate(all="ignore"):
        return want.value.astype(want.dtype) if want.value is not None and want.dtype is not None else want.value


def _brief(value: np.ndarray | None) -> str:
    """The first numbers of an array."""
    if value is None or not value.size:
        return ""
    return ", ".join(map(str, value.ravel()[:3])) + (", …" if value.size > 3 else "")
