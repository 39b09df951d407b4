"""Script: a discrepancy as a program of its own, of TensorFlow and NumPy alone, that says whether it is there."""

from __future__ import annotations

import base64
import re
import zlib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from tf_opdiff.harness.device.repeat import PIECES
from tf_opdiff.harness.judge.difference import ulp_of
from tf_opdiff.harness.judge.expectation import Expectation, expectation
from tf_opdiff.harness.judge.want import Want
from tf_opdiff.harness.repro.source import Unwritable, Writer
from tf_opdiff.harness.spec.attrs import Keywords, accepted
from tf_opdiff.harness.spec.plan import MODES, Device, Plan
from tf_opdiff.harness.spec.recipes import is_float
from tf_opdiff.harness.spec.spec import SWEEPS, Case
from tf_opdiff.harness.spec.variant import program
from tf_opdiff.harness.sweep.oracle import expected as swept

_QUANTITY = re.compile(r"(output|grad|jvp|hvp)\[\d+\]")
_VERSION = re.compile(r"[\w.+-]{0,40}", re.ASCII)
#: Elements up to which an array is written as numbers that a person can read.
READABLE = 40


@dataclass(frozen=True)
class Discrepancy:
    """What a script is to show: a quantity of a case under a plan, against `numpy`, another plan, or the plan itself.

    `kind` and `budget` are the record's; `index` is that of the element that is shown; `said` is the record in a
    sentence.
    """

    case: Case
    plan: Plan
    quantity: str
    against: str
    kind: str
    inputs: tuple[np.ndarray, ...]
    budget: float = 0.0
    index: tuple[int, ...] | None = None
    said: str = ""


def smaller(found: Discrepancy) -> Discrepancy | None:
    """The same of the element that is shown alone, where each input has one like it; else None."""
    index, inputs = found.index, found.inputs
    if index is None or not inputs or found.kind in ("position", "nondeterministic"):
        return None
    if {x.shape for x in inputs} != {inputs[0].shape} or len(index) != inputs[0].ndim or inputs[0].size < 2:
        return None
    if any(i >= n for i, n in zip(index, inputs[0].shape, strict=True)):
        return None
    return replace(found, inputs=tuple(x[index].reshape(1) for x in inputs), index=(0,))


def text(found: Discrepancy, tf: str) -> str:
    """The script of a discrepancy that was seen with TensorFlow `tf`.

    It prints what came and what was expected, and exits with 1 while they differ, with 0 once they do not.

    Raises:
      Unwritable: the program names something that has no source, or the quantity is not promised.
    """
    spec, plan = found.case.spec, found.plan
    _named(plan.mode, found.quantity, tf)
    if spec.files:
        raise Unwritable(f"it is made of {', '.join(path.name for path in spec.files)} too")
    try:
        environment, switches = program(plan.device.variants)
    except OSError as why:
        raise Unwritable(str(why)) from why
    expected, writer = promised(found), Writer()
    writer.function(spec.program, "program")
    if spec.state:
        writer.function(spec.state, "make_state")
    writer.imports |= {"sys": "sys", **({"os": "os"} if environment else {})}
    words: dict[str, Any] = {
        "said": _quoted(found.said or found.case.id),
        "case": found.case.id,
        "tf": tf,
        "mode": plan.mode,
        "device": plan.device.tf_name,
        "environment": environment,
        "switches": switches,
        "cpus": plan.device.index + 1 if plan.device.type == "cpu" else 1,
        "state": bool(spec.state),
        "sessions": spec.sessions,
        "keywords": _keywords(found.case.keywords, writer),
        "state_keywords": _keywords(accepted(spec.state, found.case.keywords) if spec.state else {}, writer),
        "steps": spec.steps,
        "example": None if found.kind == "position" else found.index,
        **_quantity(found, expected),
        **_arrays(found, expected, writer),
        "definitions": writer.text.strip(),
        **_oracle(found, expected.wants.get(found.quantity), writer),
    }
    imports = sorted(set(writer.imports.values()) - {"numpy", "tensorflow"})
    return _template().render(words | {"imports": imports})


def _keywords(keywords: Keywords, writer: Writer) -> str:
    """Keyword arguments as they stand in a call behind others: `, axis=1, keepdims=True`."""
    return "".join(f", {name}={writer.expression(value, name)}" for name, value in keywords.items())


def _quantity(found: Discrepancy, expected: Expectation) -> dict[str, Any]:
    """The quantity by its family and number; the name in `final` where that number is of a final state."""
    family, _, number = found.quantity.rstrip("]").partition("[")
    outputs = sum(q.startswith("output") for q in expected.wants) - len(expected.state)
    past = int(number) - outputs if family == "output" else -1
    final = expected.state[past] if 0 <= past < len(expected.state) else ""
    return {"family": family, "number": number, "final": final}


def _arrays(found: Discrepancy, expected: Expectation, writer: Writer) -> dict[str, Any]:
    """The inputs, and the upstreams and tangents that the quantity takes; `taken` numbers outputs with an upstream."""
    family = found.quantity.partition("[")[0]
    upstreams = [] if family == "output" else [g for g in expected.upstreams or () if g is not None]
    tangents = expected.tangents or () if family in ("jvp", "hvp") else ()
    return {
        "taken": [i for i, g in enumerate(expected.upstreams or ()) if g is not None],
        "inputs": [_array(x, writer) for x in found.inputs],
        "upstreams": [_array(g, writer) for g in upstreams],
        "tangents": [_array(t, writer) for t in tangents],
    }


def _named(mode: str, quantity: str, tf: str = "") -> None:
    """Refuses names that are none of ours: they would stand in the program, and a record may come from anywhere."""
    if mode not in MODES or not _QUANTITY.fullmatch(quantity) or not _VERSION.fullmatch(tf):
        raise Unwritable(f"mode {mode!r}, quantity {quantity!r}, TensorFlow {tf!r}: expected names of the harness")


def promised(found: Discrepancy) -> Expectation:
    """What the case promises of these inputs; in a sweep, upstreams go with the bit patterns."""
    side = found.case.spec.side(found.plan)
    if found.case.recipe not in SWEEPS:
        return expectation(found.case, found.inputs, side)
    (x,) = found.inputs
    first = int(x.view(f"u{x.dtype.itemsize}").flat[0])
    return swept(found.case, first, x, side, np.arange(x.size))


@cache
def _template() -> Template:
    folder = Path(__file__).parent / "templates"
    made = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return made.get_template("script.py.jinja")


def _quoted(words: str) -> str:
    """A text that can stand in a docstring."""
    return " ".join("".join(c if c.isprintable() else " " for c in words).replace("\\", "\\\\").split()).replace(
        '"', "'"
    )


def _array(array: np.ndarray, writer: Writer) -> str:
    """An expression for an array: numbers where they are few, else its bytes."""
    if array.dtype == object or (array.size <= READABLE and array.dtype.kind in "biufc"):
        return writer.expression(array)
    writer.imports |= {"base64": "base64", "zlib": "zlib"}
    data = base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 9)).decode()
    made = f'np.frombuffer(zlib.decompress(base64.b64decode("{data}")), {_dtype(array.dtype)})'
    return made if array.ndim == 1 else f"{made}.reshape({array.shape})"


def _dtype(dtype: np.dtype) -> str:
    return "object" if dtype.kind == "O" else f'tf.as_dtype("{dtype.name}").as_numpy_dtype'


def _oracle(found: Discrepancy, want: Want | None, writer: Writer) -> dict[str, Any]:
    """What the template needs to know of what was expected."""
    if found.kind == "nondeterministic":
        return {"oracle": "again"}
    if found.kind == "position":
        return {"oracle": "pieces", "pieces": list(PIECES), "ulps": _ulps(found)}
    if "/" in found.against and found.against != str(found.plan):
        device, _, mode = found.against.rpartition("/")
        _named(mode, found.quantity)
        try:
            other = Device.parse(device)
        except ValueError as why:
            raise Unwritable(f"it is held against {device}, which was recorded") from why
        if other.variants != found.plan.device.variants:
            raise Unwritable(f"it is held against {device}, which takes another process")
        return {"oracle": "plan", "other_mode": mode, "other_device": other.tf_name, "ulps": _ulps(found)}
    if want is None or found.kind == "input_mutated":
        raise Unwritable(f"there is no script for {found.kind} in {found.quantity}")
    if want.raises is not None:
        return {"oracle": "error", "error_code": repr(want.raises.code), "error_says": repr(want.raises.says)}
    if want.status == "unconnected":
        return {"oracle": "unconnected"}
    assert want.value is not None and want.dtype is not None
    if want.status == "sparse":
        values = _array(np.asarray(want.value.astype(want.dtype)), writer)
        return {"oracle": "sparse", "indices": _array(np.asarray(want.indices), writer), "values": values}
    value, allowed = _allowed(found, want)
    same = allowed.size and (allowed == allowed.flat[0]).all()
    told = repr(float(allowed.flat[0])) if same else _array(allowed, writer)
    return {"oracle": "value", "want": _array(value, writer), "dtype": _dtype(want.dtype), "allowed": told}


def _ulps(found: Discrepancy) -> float:
    return float(found.budget) if np.isfinite(found.budget) else 0.0


@np.errstate(all="ignore")
def _allowed(found: Discrepancy, want: Want) -> tuple[np.ndarray, np.ndarray]:
    """The promised array, no wider than float64, and the largest absolute error allowed of each element."""
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
    budget = found.case.spec.budget(found.quantity, found.case.dtype)
    allowed = budget * ulp_of(size, part) + np.where(np.isfinite(rounding), rounding, 0.0)
    if want.bound is not None:
        allowed = np.fmax(allowed, np.broadcast_to(want.bound, wide.shape))
    return wide, np.where(np.isfinite(allowed), allowed, 0.0).astype(np.float64)
