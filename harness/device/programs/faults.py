"""Faults: reasons why a run proves nothing about its plan or about the subject of its spec.

Imported in device servers only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.programs.dependence import fault_of
from tf_opdiff.harness.device.programs.evidence import INDICES, TRANSPORT, Evidence
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.spec.quantity import Quantity


def places(wanted: Sequence[str], evidence: Evidence, dtype: str) -> set[str]:
    """The devices on which the wanted ops ran; if the optimiser removed those ops, the devices of all other ops.

    Transport between the session and the device does not count. An Identity, which runs where its input is, and a Const
    of data, which stands where a folded op was, count only if no other op does. TensorFlow computes shapes and indices
    on the CPU, whatever the device: an op that has to do with integers alone counts only if no other op does, or if
    integers are the dtype of the case.
    """
    everywhere = evidence.ran_on
    for_data = everywhere if dtype in INDICES else evidence.of_data
    names = [op for op in wanted if op not in TRANSPORT]
    rest = [op for op in everywhere if op not in TRANSPORT]
    others = [op for op in rest if op not in {"Identity", "Const"}]
    choices = ((names, for_data), (names, everywhere), (others, for_data), (others, everywhere), (rest, for_data))
    found = ({place for op in ops for place in where.get(op, ())} for ops, where in choices)
    return next(filter(None, found), set())


def missing_subject(subject: Sequence[tuple[str, str]], evidence: Evidence, results: Mapping[str, Result]) -> str:
    """Why a run is not about the subject of its spec; empty if it is.

    `subject` holds (kind, name) as in `Spec.evidence`. A run whose first result is an error left no graph: only the
    calls that it made are checked, and its error is part of the reason.
    """
    first = results.get("output[0]") or next(iter(results.values()), None)
    failed = first is None or first.status == "error"
    reasons = (evidence.lacks(kind, name) for kind, name in subject if kind == "called" or not failed)
    reason = next(filter(None, reasons), "")
    if not reason:
        return ""
    errors = [f"; {r.code}: {r.message}" for r in results.values()] if failed else []
    return f"the subject is missing: {reason}{''.join(errors[:1])}"


def fault(
    wanted: Sequence[str], evidence: Evidence, elsewhere: AbstractSet[str], device: Device, constant: Sequence[str]
) -> str:
    """Why a run that gave values proves nothing about its plan; empty if it does prove something.

    `elsewhere` has the places of the run but for the device. `constant` names the outputs that depend on no input by
    the word of the spec.
    """
    absent = [op for op in wanted if op not in evidence.ops]
    if absent:
        return f"the executed graph has no {', '.join(absent)}; it has {', '.join(evidence.ops) or 'no op'}"
    if elsewhere:
        return f"ran on {', '.join(sorted(elsewhere))}; the plan says {device.tf_name}"
    ignoring = [q for q in (str(Quantity("output", i)) for i in sorted(evidence.constant)) if q not in constant]
    if ignoring:
        return fault_of(ignoring)
    return ""
