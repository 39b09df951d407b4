"""Script oracle: the oracle of a discrepancy, in the words of the script's template."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tf_opdiff.harness.device.repeat import PIECES, ROW_CHECKS
from tf_opdiff.harness.judge.differences.difference import ulp_of
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.repro.discrepancy import Discrepancy
from tf_opdiff.harness.repro.program_text.function_source import Unwritable
from tf_opdiff.harness.repro.program_text.writer import Writer
from tf_opdiff.harness.repro.short_programs.array_text import array_text, dtype_text
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.plan import MODES, Device, PlanName
from tf_opdiff.harness.spec.quantity import is_quantity

_VERSION = re.compile(r"[\w.+-]{0,40}", re.ASCII)


#: The modes for which `templates/script.py.jinja` has a program.
WRITTEN = ("eager", "function", "xla", "graph")


def check_names(mode: str, quantity: str, tf: str = "") -> None:
    """Refuses text that is no name of the harness: it would become code, and a record may come from anywhere.

    Raises:
      Unwritable: a name is not one of the harness.
    """
    if mode in MODES and mode not in WRITTEN:
        raise Unwritable(f"no program of its own runs in mode {mode}: script.py.jinja has none")
    if mode not in MODES or not is_quantity(quantity) or not _VERSION.fullmatch(tf):
        raise Unwritable(f"mode {mode!r}, quantity {quantity!r}, TensorFlow {tf!r}: expected names of the harness")


def oracle_words(discrepancy: Discrepancy, want: Want | None, writer: Writer) -> dict[str, Any]:
    """The words of the template about the oracle.

    Raises:
      Unwritable: no script can show a discrepancy of this kind, or against this oracle.
    """
    if words := _of_itself(discrepancy):
        return words
    oracle = PlanName.parse(discrepancy.against)
    if oracle and oracle != discrepancy.plan.name:
        device, mode = oracle
        check_names(mode, discrepancy.quantity)
        try:
            other = Device.parse(device)
        except ValueError as why:
            raise Unwritable(f"its oracle {device} is a recorded device") from why
        if other.variants != discrepancy.plan.device.variants:
            raise Unwritable(f"its oracle {device} needs a process of its own")
        words = {"oracle": "plan", "other_mode": mode, "other_device": other.tf_name}
        words |= {"other_end": discrepancy.other_end, "ulps": _ulps(discrepancy), "bounds": ""}
        return words | _ambiguous(want, writer) | _bounds(discrepancy, want, writer)
    if want is None:
        raise Unwritable(f"there is no script for {discrepancy.kind} in {discrepancy.quantity}")
    if want.undocumented:
        raise Unwritable(f"nothing is promised of {discrepancy.quantity} that a script could compare")
    if want.raises is not None:
        return {"oracle": "error", "error_code": repr(want.raises.code), "error_says": repr(want.raises.says)}
    if want.status == "unconnected":
        return {"oracle": "unconnected"}
    assert want.value is not None and want.dtype is not None
    if want.status == "sparse":
        values = array_text(np.asarray(want.value.astype(want.dtype)), writer)
        return {"oracle": "sparse", "indices": array_text(np.asarray(want.indices), writer), "values": values}
    return _of_value(discrepancy, want, writer)


def _of_value(discrepancy: Discrepancy, want: Want, writer: Writer) -> dict[str, Any]:
    """The words about a promised value, its allowed errors and its alternatives."""
    assert want.dtype is not None
    value, allowed = allowed_errors(discrepancy, want)
    others, *wholes = (
        [array_text(other.astype(value.dtype), writer) for other in each] for each in (want.apart, *want.wholes)
    )
    same = allowed.size and (allowed == allowed.flat[0]).all()
    bound = repr(float(allowed.flat[0])) if same else array_text(allowed, writer)
    return {
        "oracle": "value",
        "want": array_text(value, writer),
        "dtype": dtype_text(want.dtype),
        "allowed": bound,
        "others": others,
        "wholes": [f"[{', '.join(whole)}]" for whole in wholes],
    }


def _of_itself(discrepancy: Discrepancy) -> dict[str, Any]:
    """The words about a run that is compared with itself: again, in pieces, in rows, its inputs; empty for others."""
    if discrepancy.kind == "nondeterministic":
        return {"oracle": "again"}
    if discrepancy.kind == "input_mutated":
        if discrepancy.plan.mode == "graph":
            raise Unwritable("a session copies its inputs, so no program sees that they change")
        return {"oracle": "inputs"}
    if discrepancy.kind == "position":
        return {"oracle": "pieces", "pieces": list(PIECES), "ulps": _ulps(discrepancy)}
    if discrepancy.kind in ROW_CHECKS:
        shared = list(discrepancy.case.spec.batch or ())
        return {"oracle": "rows", "leak": discrepancy.kind == "leak", "shared": shared, "ulps": _ulps(discrepancy)}
    return {}


@np.errstate(all="ignore")
def _ambiguous(want: Want | None, writer: Writer) -> dict[str, Any]:
    """The elements for which the promise has several values, and these values; empty if it has one for each."""
    if want is None or want.value is None or not want.alternatives:
        return {"ambiguous": "", "others": []}
    wide = np.complex128 if want.value.dtype.kind == "c" else np.float64
    others = [array_text(np.asarray(value).astype(wide), writer) for value in (want.value, *want.alternatives)]
    return {"ambiguous": array_text(want.ambiguous, writer), "others": others}


def _bounds(discrepancy: Discrepancy, want: Want | None, writer: Writer) -> dict[str, str]:
    """The errors that two plans may have together, where the promise has a limit for each element."""
    if want is None or want.value is None or (want.bound is None and np.ndim(want.budget) == 0):
        return {}
    return {"bounds": array_text(2 * allowed_errors(discrepancy, want)[1], writer)}


def _ulps(discrepancy: Discrepancy) -> float:
    return float(discrepancy.budget) if np.isfinite(discrepancy.budget) else 0.0


@np.errstate(all="ignore")
def allowed_errors(discrepancy: Discrepancy, want: Want) -> tuple[np.ndarray, np.ndarray]:
    """The promised array, in float64 at most, and the largest allowed absolute error of each element."""
    assert want.value is not None and want.dtype is not None
    value, dtype = np.asarray(want.value), want.dtype
    if not (is_float(dtype) or dtype.kind == "c"):
        return value if dtype.kind == "O" else value.astype(dtype), np.zeros(1)
    part, wide = dtype, value.astype(np.float64 if dtype.kind != "c" else np.complex128)
    size = np.abs(wide)
    if dtype.kind == "c":
        part, size = np.dtype(f"f{dtype.itemsize // 2}"), np.maximum(np.abs(wide.real), np.abs(wide.imag))
    size = np.where(np.isfinite(size), size, 0.0)
    rounding = np.abs(value - wide).astype(np.float64)
    unit = ulp_of(size, part)
    ulps, limit = want.limits(unit)
    allowed = ulps * unit + np.where(np.isfinite(rounding), rounding, 0.0)
    if limit is not None:
        allowed = np.fmax(allowed, np.broadcast_to(limit, wide.shape))
    return wide, np.where(np.isfinite(allowed), allowed, 0.0).astype(np.float64)
