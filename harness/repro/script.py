"""Script: a discrepancy as a program that needs only TensorFlow and NumPy, and says whether the discrepancy exists."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from tf_opdiff.harness.device.repeat import ROW_CHECKS
from tf_opdiff.harness.judge.promises.expectation import Expectation
from tf_opdiff.harness.repro.discrepancy import Discrepancy, promise_of
from tf_opdiff.harness.repro.program_text.function_source import Unwritable
from tf_opdiff.harness.repro.program_text.program_writer import ProgramWriter, complete
from tf_opdiff.harness.repro.program_text.writer import Writer
from tf_opdiff.harness.repro.script_runs.script_oracle import check_names, oracle_words
from tf_opdiff.harness.repro.short_programs.array_text import array_text
from tf_opdiff.harness.repro.short_programs.traced_call import traced
from tf_opdiff.harness.repro.trace_writer import TraceWriter, without_parentheses
from tf_opdiff.harness.spec.inputs.attrs import Keywords, accepted
from tf_opdiff.harness.spec.quantity import Quantity, family_of
from tf_opdiff.harness.spec.settings.program_settings import ProgramSettings, program


@np.errstate(all="ignore")
def script_of(discrepancy: Discrepancy, tf: str) -> str:
    """The script of a discrepancy that was seen with TensorFlow `tf`.

    It prints the result and the expected result; it exits with 1 if they differ, and with 0 if they do not.

    Raises:
      Unwritable: the program uses something that has no source, or the quantity is not promised.
    """
    spec, plan = discrepancy.case.spec, discrepancy.plan
    check_names(plan.mode, discrepancy.quantity, tf)
    if spec.files:
        raise Unwritable(f"it consists of {', '.join(path.name for path in spec.files)} as well")
    try:
        settings = program((*plan.device.variants, *discrepancy.settings))
    except OSError as why:
        raise Unwritable(str(why)) from why
    expected = promise_of(discrepancy)
    text = complete(lambda writer: _text(discrepancy, expected, settings, tf, writer))
    if "eval(" in text and not discrepancy.case.keywords:
        with suppress(Unwritable):  # its calls in place of the texts that it evaluates
            text = complete(lambda writer: _text(discrepancy, expected, settings, tf, writer), TraceWriter)
    return text


def _text(
    discrepancy: Discrepancy, expected: Expectation, settings: ProgramSettings, tf: str, writer: ProgramWriter
) -> str:
    """The text of the script, whose settings are those of its device."""
    spec, plan, run = discrepancy.case.spec, discrepancy.plan, discrepancy.case.spec.execution
    if isinstance(writer, TraceWriter):
        writer.parts.append(_traced(discrepancy, len(expected.wants), writer))
    else:
        writer.function(spec.program, "program")
    if run.state:
        writer.function(run.state, "make_state")
    writer.imports |= {"sys": "sys", **({"os": "os"} if settings.environment else {})}
    words: dict[str, Any] = {
        "sentence": quoted(discrepancy.sentence or discrepancy.case.id),
        "case": discrepancy.case.id,
        "tf": tf,
        "mode": plan.mode,
        "device": plan.device.tf_name,
        "settings": settings,
        "cpus": plan.device.index + 1 if plan.device.type == "cpu" else 1,
        "state": bool(run.state),
        "sessions": run.sessions,
        "keywords": _keywords(discrepancy.case.keywords, writer),
        "state_keywords": _keywords(accepted(run.state, discrepancy.case.keywords) if run.state else {}, writer),
        "together": discrepancy.together,
        "steps": run.steps,
        "sizeless": run.unknown_shapes,
        "example": None if discrepancy.kind in ("position", *ROW_CHECKS) else discrepancy.index,
        **_quantity(discrepancy, expected),
        **_arrays(discrepancy, expected, writer),
        "definitions": writer.text.strip(),
        **oracle_words(discrepancy, expected.wants.get(discrepancy.quantity), writer),
    }
    return template("script.py.jinja").render(words | {"imports": writer.import_lines})


def _traced(discrepancy: Discrepancy, quantities: int, writer: TraceWriter) -> str:
    """The definition of a program as the calls that it makes.

    Raises:
      Unwritable: it can't be traced.
    """
    names = [f"x{i}" for i in range(len(discrepancy.inputs))]
    outputs = len(discrepancy.case.spec.names) or quantities
    results = traced(discrepancy.case.spec.program, dict(zip(names, discrepancy.inputs, strict=True)), {}, outputs)
    lines = [*writer.statements(results), "return ("]
    lines += [f"    {without_parentheses(writer.expression(result))}," for result in results]
    return f"def program({', '.join(['tf', *names])}):\n" + "\n".join(f"    {line}" for line in [*lines, ")"])


def _keywords(keywords: Keywords, writer: Writer) -> str:
    """Keyword arguments at the end of a call: `, axis=1, keepdims=True`."""
    return "".join(f", {name}={writer.expression(value, name)}" for name, value in keywords.items())


def _quantity(discrepancy: Discrepancy, expected: Expectation) -> dict[str, Any]:
    """The quantity as family and number; `final` is the name of a final state, if the number is that of one."""
    quantity = Quantity.parse(discrepancy.quantity)
    outputs = sum(family_of(q) == "output" for q in expected.wants) - len(expected.state)
    past = quantity.number - outputs if quantity.family == "output" else -1
    final = expected.state[past] if 0 <= past < len(expected.state) else ""
    return {"family": quantity.family, "number": quantity.number, "final": final}


def _arrays(discrepancy: Discrepancy, expected: Expectation, writer: Writer) -> dict[str, Any]:
    """The inputs, and the upstreams and tangents of the quantity; `taken` numbers the outputs that have an upstream."""
    family = family_of(discrepancy.quantity)
    upstreams = (
        []
        if family == "output" and not discrepancy.together
        else [g for g in expected.upstreams or () if g is not None]
    )
    tangents = expected.tangents or () if family in ("jvp", "hvp") else ()
    return {
        "taken": [i for i, g in enumerate(expected.upstreams or ()) if g is not None],
        "inputs": [array_text(x, writer) for x in discrepancy.inputs],
        "upstreams": [array_text(g, writer) for g in upstreams],
        "tangents": [array_text(t, writer) for t in tangents],
    }


@cache
def template(name: str) -> Template:
    """The template of a program, by the name of its file."""
    folder = Path(__file__).parent / "templates"
    environment = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template(name)


def quoted(words: str) -> str:
    """A text that is safe in a docstring."""
    return " ".join("".join(c if c.isprintable() else " " for c in words).replace("\\", "\\\\").split()).replace(
        '"', "'"
    )
