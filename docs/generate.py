"""Writes the pages of the reference from the code: `make reference`. A test keeps them current."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from docs import drawings
from docs.command_line_page import command_line
from docs.markdown import code, docstring, first_paragraph, page, table
from docs.public_api_page import public_api
from docs.run_pages import record, run_directory
from tf_opdiff.checking import api
from tf_opdiff.checking.overrides import api as overrides
from tf_opdiff.checking.overrides.request import OverrideResult
from tf_opdiff.harness.judge.verdicts.severity import SEVERITIES
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.run import exit_status
from tf_opdiff.harness.spec.derivatives import Derivatives
from tf_opdiff.harness.spec.execution import Execution
from tf_opdiff.harness.spec.spec import Claim, Raises, Side, Sparse, Spec, Undocumented
from tf_opdiff.harness.spec.spec_fields import SpecFields
from tf_opdiff.harness.spec.tolerances.tolerance import Tolerance
from tf_opdiff.harness.tests.test_rooms import ROOMS
from tf_opdiff.reports.text.glossary import TERMS
from tf_opdiff.suites.derived.op_types import REMOVED, WITHOUT_TWINS, every_op
from tf_opdiff.suites.forms.array_ops.layout import Layout
from tf_opdiff.suites.forms.array_ops.moves import Moves
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.elementwise.binary import floats
from tf_opdiff.suites.forms.elementwise.comparison import compared
from tf_opdiff.suites.forms.elementwise.gradient_op import gradient_op
from tf_opdiff.suites.forms.elementwise.integers import integers
from tf_opdiff.suites.forms.part import Op
from tf_opdiff.suites.forms.state.variables import Variables, final
from tf_opdiff.suites.forms.unary import Unary
from tf_opdiff.suites.glossary import WORDS
from tf_opdiff.suites.reference.arrays.moves import Moved
from tf_opdiff.suites.reference.arrays.placed import Placed
from tf_opdiff.suites.reference.promises.function import Function
from tf_opdiff.suites.reference.promises.promise import Promise
from tf_opdiff.suites.reference.promises.wide import Wide

#: The page whose part between these two comments is generated, and those comments.
ARCHITECTURE = "docs/explanations/architecture.md"
BEGIN, END = "<!-- rooms: written from the code by `make reference` -->\n", "<!-- end of rooms -->\n"
#: The page of the rules that do not hold for some ops yet, its comments, and each list of such ops with its rule.
CHECKS = "docs/explanations/checks.md"
EXCEPTIONS, END_OF_EXCEPTIONS = (
    "<!-- exceptions: written from the code by `make reference` -->\n",
    "<!-- end of exceptions -->\n",
)
LISTS: Mapping[str, str] = {
    "suites/tests/aspects/without_sizes.txt": "It meets tensors of zero elements and of one element.",
    "suites/tests/aspects/without_special_operands.txt": "If it takes floats, each operand meets special numbers.",
    "suites/tests/aspects/untested_dtypes.txt": "Each dtype is tested or refused by promise.",
}
#: Rows of the table of notations: the kind of op, its declaration, the words to import, and an example (module, name).
LIKE: tuple[tuple[str, str, tuple[Any, ...], str, str], ...] = (
    ("a function of one real number", "`op` with `f` and `df`", (Wide,), "ops.nn.layers.activation", "softsign"),
    (
        "a function of two numbers, whose tensors are broadcast",
        "`op` with the part `floats`",
        (floats, Function),
        "ops.math.elementary.arithmetic",
        "sub",
    ),
    (
        "a comparison, or an op of integers",
        "`op` with `compared` or `integers`",
        (compared, integers),
        "ops.math.truth_values.comparison",
        "greater",
    ),
    (
        "the gradient of such an op, as an OpDef",
        "`op` with `gradient_op`",
        (gradient_op,),
        "ops.math.elementary.hyperbolic",
        "tanh-grad",
    ),
    (
        "sums, products or windows, with attributes",
        "`op` with `calls` and a `promise`",
        (call, Promise),
        "ops.nn.layers.bias",
        "bias-add",
    ),
    (
        "the same elements in other places",
        "`op` with a promise of `Moved` (fields of [Moves](#moves)) or `Placed` (fields of [Layout](#layout))",
        (Moved, Placed),
        "ops.array.layouts.layout",
        "transpose",
    ),
    ("a change of variables", "`op` with `variables`", (Variables, final), "ops.state.assign", "assign-sub-variable"),
    ("a program of several ops", "`Spec`", (Spec,), "programs.forward_mode", "forward-mode-of-many-shapes"),
)


#: The function that gives the text of each generated file, by its path in the repository.
FILES: Mapping[str, Callable[[], str]] = {
    "docs/reference/api.md": lambda: page(_api()),
    "docs/reference/command-line.md": lambda: page(command_line()),
    "docs/reference/exit-status.md": lambda: page(_exit_status()),
    "docs/reference/glossary.md": lambda: page(_glossary()),
    "docs/reference/public-api.md": lambda: page(public_api()),
    "docs/reference/record.md": lambda: page(record()),
    "docs/reference/run-directory.md": lambda: page(run_directory()),
    "docs/reference/spec.md": lambda: page(_spec()),
    "docs/images/flow.svg": drawings.flow,
    "docs/images/rooms.svg": lambda: drawings.rooms({room: _about(room).partition(":")[0] for room in ROOMS}),
    ARCHITECTURE: lambda: _within(ARCHITECTURE, BEGIN, _rooms(), END),
    CHECKS: lambda: _within(CHECKS, EXCEPTIONS, _exceptions(), END_OF_EXCEPTIONS),
}


def _within(path: str, begin: str, lines: Iterable[str], end: str) -> str:
    """The text of a page, with these lines between its two comments."""
    before, _, rest = (ROOT / path).read_text().partition(begin)
    return before + begin + "\n".join(["", *lines, end]) + rest.partition(end)[2]


def _exceptions() -> Iterator[str]:
    """A table of the rules that do not hold for every op, with the number of ops on each list of exceptions."""
    ops = len([*every_op()]) + len(WITHOUT_TWINS) + len(REMOVED)
    counts = {path: len((ROOT / path).read_text().splitlines()) for path in LISTS}
    rows = [[rule, f"{ops - counts[path]} of {ops}", str(counts[path]), code(path)] for path, rule in LISTS.items()]
    yield from table(["what is checked of an op", "ops", "exceptions", "their list"], rows)


def main() -> None:
    """Writes every file."""
    argparse.ArgumentParser(prog="python -m docs.generate", description=__doc__).parse_args()
    for name, text in FILES.items():
        (ROOT / name).write_text(text())


def _api() -> Iterator[str]:
    yield from ("# API", "")
    yield "The names of `tf_opdiff`; [Check your own code](../guides/check-your-own-code.md) shows them at work."
    yield "pytest's fixture `opdiff` is `check` with the command that runs the test again as `rerun`."
    of_overrides = (overrides.check_override, overrides.OverrideOptions, overrides.OverrideChecked, OverrideResult)
    values = (api.check, api.Options, api.uniform, api.Checked, api.Differs, *of_overrides, overrides.NotApplied)
    for value in values:
        yield from ("", f"## {value.__name__}", "")
        if not isinstance(value, type):
            signature = inspect.signature(value)
            yield from ("```python", f"{value.__name__}(")
            yield from (f"    {parameter},".replace("'", "") for parameter in signature.parameters.values())
            yield from (f") -> {signature.return_annotation}".replace("'", ""), "```", "")
        yield from docstring(inspect.getdoc(value) or "")


def _glossary() -> Iterator[str]:
    yield from ("# Glossary", "")
    yield "The words on the page of a run. The page shows the same sentences as tooltips and at its end."
    yield ""
    yield from table(["word", "meaning"], ([term, meaning] for term, meaning in TERMS.items()))
    yield from ("## Severities", "")
    yield "The highest first. [The pages of a run](../explanations/pages.md#the-order) has the order of discrepancies."
    yield ""
    yield from table(["severity", "rule"], ([one.title, one.rule] for one in SEVERITIES.values()))


def _exit_status() -> Iterator[str]:
    yield from ("# Exit status", "")
    yield "The statuses of a run: of `pytest`, `sweep`, `merge` and `campaign`."
    yield ""
    yield from table(["status", "meaning"], ([str(n), text] for n, text in exit_status.MEANINGS.items()))
    yield "The other verbs end with 0 for success, 2 after an interrupt and 4 for wrong usage. These compare:"
    yield ""
    yield "- `check` and `model` end with 1 where a result differs by more than allowed."
    yield "- `check --override` ends with 1 where the override is not applied."
    yield "- `check` of an override of the suites ends with 1 where its state is not the expected one."
    yield "- `diff` ends with 1 where something got worse."
    yield "- `score` ends with 1 where an input cannot tell right from wrong."
    yield "- `repro` ends with 1 where a result differs."
    yield "- `night` ends with 1 where something differs or got worse, and with 3 where a run is at fault or absent."
    yield ""
    yield f"In the code: {code('harness/run/exit_status.py')}."


def _spec() -> Iterator[str]:
    yield from (
        "# Declarations and specs",
        "",
        "A declaration of an op becomes specs. Take the first row that fits:",
        "",
        *table(
            ["my op is like …", "write …", "import", "example"],
            ([like, how, "<br>".join(map(_home, words)), _example(*of)] for like, how, words, *of in LIKE),
        ),
        f"`op` is in {_link('suites/forms/op.py')}, `part` and `tiered` are in {_link('suites/forms/part.py')}.",
        "[Add an op](../tutorial/add-an-op.md) explains the first declaration word by word, and shows others whole.",
        "",
        "## Words",
        "",
        *table(["word", "meaning"], ([code(word), meaning] for word, meaning in WORDS.items())),
        "## Forms",
        "",
    )
    modules = sorted((ROOT / "suites" / "forms").rglob("[a-z]*.py"))
    rows = ([code(path.relative_to(ROOT).as_posix()), first_paragraph(path)] for path in modules)
    yield from table(["module", "holds"], rows)
    groups = {"Tolerance": Tolerance, "Derivatives": Derivatives, "Execution": Execution}
    fields = {"Op": Op, "Unary": Unary, "Moves": Moves, "Layout": Layout, "Spec": SpecFields, **groups}
    nouns = {**fields, "Raises": Raises, "Sparse": Sparse, "Undocumented": Undocumented, "Side": Side, "Claim": Claim}
    for title, noun in nouns.items():
        about = (noun.__doc__ or "").replace("\n    ", "\n")
        yield from (f"## {title}", "", "```text", about.rstrip(), "```", "")


def _example(module: str, name: str) -> str:
    path = f"suites/{module.replace('.', '/')}.py"
    return f"{code(name)} in {_link(path)}"


def _home(word: Any) -> str:
    """A word of declarations, and the module that it is imported from."""
    return f"{code(word.__name__)} from {_link(Path(inspect.getfile(word)).resolve().relative_to(ROOT).as_posix())}"


def _link(path: str) -> str:
    return f"[{path}](../../{path})"


def _rooms() -> Iterator[str]:
    """A table of the rooms, from top to bottom, with the first sentence of each."""
    rows = [[code(f"{room.replace('.', '/')}/"), about] for room in ROOMS if (about := _about(room))]
    yield from table(["room", "holds"], rows)


def _about(room: str) -> str:
    """The first paragraph of a room's docstring; empty for a room that is one module."""
    path = ROOT / room.replace(".", "/") / "__init__.py"
    return first_paragraph(path) if path.exists() else ""


if __name__ == "__main__":
    main()
