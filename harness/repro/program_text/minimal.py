"""Minimal: the shortest program that shows a discrepancy, for people who read it: no tolerance, no exit status.

It prints the result of eager mode, that of the plan, and the expected one. There is one for outputs and gradients of
programs without state, in eager mode, in functions and under XLA, on a CPU.
"""

from __future__ import annotations

import ast
import re

import numpy as np

from tf_opdiff.harness.judge.promises.expectation import Expectation
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.repro.discrepancy import Discrepancy, promise_of
from tf_opdiff.harness.repro.program_text.folding import folded
from tf_opdiff.harness.repro.program_text.function_source import Unwritable
from tf_opdiff.harness.repro.program_text.program_writer import ProgramWriter, complete
from tf_opdiff.harness.repro.script import template
from tf_opdiff.harness.repro.short_programs.array_text import array_text
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.quantity import Quantity

#: Mode → the option of `tf.function`: empty without one, None without `tf.function`.
_OPTIONS = {"eager": None, "function": "", "xla": "jit_compile=True"}
#: The most lines of a minimal program, and the most elements of an array in it.
LINES, ELEMENTS = 30, 8


def minimal_of(discrepancy: Discrepancy) -> str:
    """The minimal program of a discrepancy.

    Raises:
      Unwritable: it can't be shown by one, or not in `LINES` lines.
    """
    _check(discrepancy)
    expected, expression = _promise(discrepancy), _expression(discrepancy)
    want = expected.wants.get(discrepancy.quantity)
    several = "output[1]" in expected.wants and not expression
    if want is None or want.value is None or want.dtype is None or several:
        raise Unwritable("it has several outputs, or none that is promised as a value")
    printed = _printable(want.value.astype(want.dtype))
    program = complete(lambda writer: _text(discrepancy, expected, printed, expression, writer))
    if len(program.splitlines()) > LINES:
        raise Unwritable(f"its program has more than {LINES} lines")
    return program


def _text(
    discrepancy: Discrepancy, expected: Expectation, want: np.ndarray, expression: str, writer: ProgramWriter
) -> str:
    """The text of the program, which prints the expected result `want` at last."""
    case, quantity = discrepancy.case, Quantity.parse(discrepancy.quantity)
    if not expression:
        writer.function(case.spec.program, "program")
    names = [f"x{i}" if len(discrepancy.inputs) > 3 else "xyz"[i] for i in range(len(discrepancy.inputs))]
    arrays = {name: array_text(x, writer) for name, x in zip(names, discrepancy.inputs, strict=True)}
    if expression:
        arrays = {name: array for name, array in arrays.items() if re.search(rf"\b{name}\b", expression)}
    listed = ", ".join(arrays)
    keywords = "".join(f", {k}={writer.expression(v, k)}" for k, v in case.keywords.items())
    upstreams = [array_text(g, writer) for g in expected.upstreams or () if g is not None]
    gradient = quantity.family == "grad"
    own = f"def program({listed}):\n    return {expression}"
    return template("minimal.py.jinja").render(
        inputs=arrays.items(),
        upstream=upstreams[0] if gradient else None,
        number=quantity.number,
        names=listed,
        keywords=keywords,
        call=f"gradient({listed})" if gradient else f"program({listed}{keywords})",
        function="gradient" if gradient else f"lambda {listed}: program({listed}{keywords})" if keywords else "program",
        option=_OPTIONS[discrepancy.plan.mode],
        want=array_text(want, writer),
        definitions=own if expression else folded(writer.text, "program", names),
        imports=writer.import_lines,
    )


def _expression(discrepancy: Discrepancy) -> str:
    """The output as an expression of the inputs x, y and z, if that is its name; else empty."""
    quantity, names = Quantity.parse(discrepancy.quantity), discrepancy.case.spec.names
    if quantity.family != "output" or not names:
        return ""
    text = names[quantity.number]
    try:
        used = {node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)}
    except SyntaxError:
        return ""
    own = {*"xyz"[: len(discrepancy.inputs)]}
    return text if used & own and used <= own | {"tf"} else ""


def _promise(discrepancy: Discrepancy) -> Expectation:
    try:
        return promise_of(discrepancy)
    except ReferenceFault as why:
        raise Unwritable(f"its reference does not take these inputs: {why}") from why


def _check(discrepancy: Discrepancy) -> None:
    """Refuses what a minimal program does not show.

    Raises:
      Unwritable: the message says what.
    """
    spec, plan = discrepancy.case.spec, discrepancy.plan
    run = spec.execution
    if run.state or run.sessions or spec.files or run.steps > 1 or run.unknown_shapes:
        raise Unwritable("it has a state, several steps, or shapes that are not known")
    if plan.mode not in _OPTIONS or plan.device.type != "cpu" or plan.device.variants:
        raise Unwritable(f"{plan} needs a setting of its own")
    if Quantity.parse(discrepancy.quantity).family not in ("output", "grad"):
        raise Unwritable(f"{discrepancy.quantity} is no output and no gradient")
    if max((x.size for x in discrepancy.inputs), default=0) > ELEMENTS:
        raise Unwritable("it has many elements")


def _printable(array: np.ndarray) -> np.ndarray:
    """An array whose numbers a program can hold as a literal: floats that NumPy lacks are float32."""
    return array.astype(np.float32) if array.dtype.kind == "V" and is_float(array.dtype) else array
