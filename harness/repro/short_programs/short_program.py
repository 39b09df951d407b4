"""Short program: a discrepancy as a program of one call, its expected result as a number, in `LINES` lines at most.

The call is that of the public function or raw op, without the helpers of the spec; see `traced_call`. The program shows
one element. There is one for outputs and gradients against NumPy, of programs without state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tf_opdiff.harness.judge.promises.expectation import Expectation
from tf_opdiff.harness.repro.discrepancy import Discrepancy, promise_of
from tf_opdiff.harness.repro.program_text.function_source import Unwritable
from tf_opdiff.harness.repro.program_text.program_writer import complete
from tf_opdiff.harness.repro.script import quoted, template
from tf_opdiff.harness.repro.script_runs.script_oracle import check_names
from tf_opdiff.harness.repro.short_programs.array_text import array_text
from tf_opdiff.harness.repro.short_programs.short_verdict import verdict
from tf_opdiff.harness.repro.short_programs.traced_call import Symbol, symbols_in, traced
from tf_opdiff.harness.repro.trace_writer import TraceWriter, without_parentheses
from tf_opdiff.harness.spec.quantity import Quantity, family_of
from tf_opdiff.harness.spec.settings.program_settings import ProgramSettings, program

#: The most lines of a short program, and the most characters of a line.
LINES, COLUMNS = 30, 4000
#: Mode → the call of a function `program` in it.
_CALLS = {
    "eager": "program{}({})",
    "function": "tf.function(program, autograph=False{})({})",
    "xla": "tf.function(program, autograph=False, jit_compile=True{})({})",
}
_SIZELESS = ", input_signature=[tf.TensorSpec([None] * a.ndim, tf.as_dtype(a.dtype)) for a in [{}]]"
#: The families that a short program computes, by mode: `graph` or another one.
_FAMILIES = ("output", "grad", "jvp")


@np.errstate(all="ignore")
def short_program(discrepancy: Discrepancy, tf: str) -> str:
    """The short program of a discrepancy that was seen with TensorFlow `tf`.

    Raises:
      Unwritable: there is none, or it has too many lines.
    """
    spec, plan, run = discrepancy.case.spec, discrepancy.plan, discrepancy.case.spec.execution
    check_names(plan.mode, discrepancy.quantity, tf)
    if discrepancy.against != "numpy" or discrepancy.together or family_of(discrepancy.quantity) not in _FAMILIES:
        raise Unwritable("its oracle is no number, or several programs are needed")
    if run.state or run.sessions or spec.files or run.steps > 1 or plan.device.index:
        raise Unwritable("it has a state, files, or several steps")
    try:
        settings = program((*plan.device.variants, *discrepancy.settings))
    except OSError as why:
        raise Unwritable(str(why)) from why
    if settings.session_lines and plan.mode == "graph":
        raise Unwritable("its session has settings")
    expected = promise_of(discrepancy)
    want = expected.wants.get(discrepancy.quantity)
    if want is None:
        raise Unwritable("it is not promised")
    text = complete(lambda writer: _text(discrepancy, expected, settings, tf, writer), TraceWriter)
    lines = text.splitlines()
    if len(lines) > LINES or max(map(len, lines)) > COLUMNS:
        raise Unwritable(f"it has more than {LINES} lines, or many numbers")
    return text


def _text(
    discrepancy: Discrepancy, expected: Expectation, settings: ProgramSettings, tf: str, writer: TraceWriter
) -> str:
    plan, want = discrepancy.plan, expected.wants[discrepancy.quantity]
    body, arrays = _body(discrepancy, expected, writer)
    oracle = verdict(discrepancy, want)
    device = plan.device.tf_name
    lines = [] if plan.device.type == "cpu" else ["tf.config.set_soft_device_placement(False)"]
    constants = ", ".join(f"tf.constant({name})" for name in arrays)
    sizeless = discrepancy.case.spec.execution.unknown_shapes
    signature = _SIZELESS.format(", ".join(arrays)) if sizeless and plan.mode != "eager" else ""
    written = {name: array_text(array, writer) for name, array in arrays.items()}
    writer.imports |= {"sys": "sys", **({"os": "os"} if settings.environment else {})}
    return template("short.py.jinja").render(
        sentence=quoted(discrepancy.sentence or discrepancy.case.id),
        case=discrepancy.case.id,
        tf=tf,
        imports=writer.import_lines,
        settings=settings,
        definitions=[*lines, *writer.parts],
        arrays=written,
        body=body,
        mode=plan.mode,
        device=device,
        call=_CALLS.get(plan.mode, "").format(signature, constants),
        sizeless=sizeless,
        error=oracle.may_raise,
        arrays_only=oracle.array,
        verdict=oracle.lines,
    )


def _body(
    discrepancy: Discrepancy, expected: Expectation, writer: TraceWriter
) -> tuple[list[str], dict[str, np.ndarray]]:
    """The lines of the function, and its arguments: the inputs, upstreams and tangents that it uses."""
    case, (family, number) = discrepancy.case, Quantity.parse(discrepancy.quantity)
    names = _names(len(discrepancy.inputs))
    inputs = dict(zip(names, discrepancy.inputs, strict=True))
    outputs = len(expected.upstreams or ()) or sum(family_of(q) == "output" for q in expected.wants) or 1
    results = traced(case.spec.program, inputs, case.keywords, outputs)
    chosen: dict[int, np.ndarray | None]
    if family in ("output", "jvp"):
        chosen = {number: None} if number < len(results) else {}
    else:
        chosen = {i: g for i, g in enumerate(expected.upstreams or ()) if g is not None and i < len(results)}
    if family == "grad" and len(chosen) > 1:
        chosen = {i: g for i, g in chosen.items() if _uses(results[i], names[number])} or chosen
    values = [results[i] for i in chosen]
    if not values or any(value is None for value in values):
        raise Unwritable("a result of its program is None")
    lines = writer.statements(values)
    used = [name for name in names if any(_uses(value, name) for value in values)]
    y = without_parentheses(writer.expression(values[0] if len(values) == 1 else values))
    arrays = {name: inputs[name] for name in used}
    if family == "output":
        return [*lines, f"return {y}"], arrays
    inner = [*lines, f"result = {y}"]
    if family == "jvp":
        tangents = {f"d{name}": t for name, t in zip(names, expected.tangents or (), strict=False) if name in used}
        head = f"with tf.autodiff.ForwardAccumulator([{', '.join(used)}], [{', '.join(tangents)}]) as forward:"
        return [head, *(f"    {line}" for line in inner), "return forward.jvp(result)"], arrays | tangents
    x, upstreams = names[number], {f"g{i}" if len(chosen) > 1 else "g": g for i, g in chosen.items() if g is not None}
    g = next(iter(upstreams)) if len(upstreams) == 1 else f"[{', '.join(upstreams)}]"
    arrays |= {x: inputs[x], **upstreams}
    if discrepancy.plan.mode == "graph":
        return [*inner, f"return tf.gradients(result, {x}, {g})[0]"], arrays
    tape = ["with tf.GradientTape() as tape:", f"    tape.watch({x})", *(f"    {line}" for line in inner)]
    return [*tape, f"return tape.gradient(result, {x}, {g})"], arrays


def _names(count: int) -> Sequence[str]:
    return "xyz"[:count] if count <= 3 else [f"x{i}" for i in range(count)]


def _uses(value: Any, name: str) -> bool:
    """Whether a result may depend on an input: functions in it may use any."""
    symbols = list(symbols_in([value]))
    return any(part == name for s in symbols if not s.computed for part in s.parts if isinstance(part, str)) or any(
        callable(part) and not isinstance(part, (Symbol, type)) for s in symbols for part in s.parts
    )
