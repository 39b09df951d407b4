"""Writes the pages of the reference from the code: `make reference`. A test keeps them current."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path

from docs import drawings
from tf_opdiff.checking import api
from tf_opdiff.checking.overrides import api as overrides
from tf_opdiff.checking.overrides.request import OverrideResult
from tf_opdiff.command_line import VERBS
from tf_opdiff.harness.judge.severity import SEVERITIES
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.run import exit_status
from tf_opdiff.harness.run.options import CAMPAIGN, OPTIONS, Option
from tf_opdiff.harness.spec.derivatives import Derivatives
from tf_opdiff.harness.spec.execution import Execution
from tf_opdiff.harness.spec.kinds import KIND
from tf_opdiff.harness.spec.spec import Claim, Raises, Side, Sparse
from tf_opdiff.harness.spec.spec_fields import SpecFields
from tf_opdiff.harness.spec.tolerance import Tolerance
from tf_opdiff.harness.spec.trait import ABOUT as TRAITS_ABOUT
from tf_opdiff.harness.spec.trait import TRAITS
from tf_opdiff.harness.store import columns
from tf_opdiff.harness.store.record import COLUMNS, Record
from tf_opdiff.harness.tests.test_rooms import ROOMS
from tf_opdiff.reports.data.error_frames import BINS, PROFILE, STEPS
from tf_opdiff.reports.data.frame import OBSERVATIONS
from tf_opdiff.reports.data.tables import NAMED
from tf_opdiff.reports.pages.extra_pages import run_files
from tf_opdiff.reports.text.glossary import TERMS
from tf_opdiff.reports.text.verdicts import VERDICTS
from tf_opdiff.suites.derived.op_types import REMOVED, TO_DO, every_op
from tf_opdiff.suites.forms.part import Op
from tf_opdiff.suites.forms.unary import Unary
from tf_opdiff.suites.glossary import WORDS

NOTE = "<!-- Written from the code by `make reference`. Do not edit. -->"
#: The page whose part between these two comments is generated, and those comments.
ARCHITECTURE = "docs/explanations/architecture.md"
BEGIN, END = "<!-- rooms: written from the code by `make reference` -->\n", "<!-- end of rooms -->\n"
#: The same for the page that tells which ops a rule does not hold for yet, and what it says of each list of them.
CHECKS = "docs/explanations/checks.md"
EXCEPTIONS, END_OF_EXCEPTIONS = (
    "<!-- exceptions: written from the code by `make reference` -->\n",
    "<!-- end of exceptions -->\n",
)
LISTS: Mapping[str, str] = {
    "suites/tests/without_sizes.txt": "It meets tensors of zero elements and of one element.",
    "suites/tests/without_special_operands.txt": "If it takes floats, one operand at a time has a special number.",
    "suites/derived/refusals_to_do.txt": "Each dtype is tested or refused by promise.",
}
#: What an op is like, what its declaration is, and an example: the module of the suites, and the name of the op there.
LIKE = (
    ("a function of one real number", "`op` with `f` and `df`", "ops.nn.activation", "softsign"),
    (
        "a function of two numbers, whose tensors are broadcast",
        "`op` with the part `floats`",
        "ops.math.arithmetic",
        "sub",
    ),
    ("a comparison, or an op of integers", "`op` with `compared` or `integers`", "ops.math.comparison", "greater"),
    ("the gradient of such an op, as an OpDef", "`op` with `gradient_op`", "ops.math.hyperbolic", "tanh-grad"),
    ("sums, products or windows, with attributes", "`op` with `calls` and a `promise`", "ops.nn.bias", "bias-add"),
    (
        "the same elements in other places",
        "`op` with a promise of `Moved` or `Placed`",
        "ops.array.layout",
        "transpose",
    ),
    ("a change of variables", "`op` with `variables`", "ops.state.assign", "assign-sub-variable"),
    ("a program of several ops", "`Spec`", "programs.forward_mode", "forward-mode-of-many-shapes"),
)
OBSERVATION_COLUMNS: Mapping[str, str] = {
    "case": "The id of the case.",
    "device": "The device of the plan.",
    "mode": "The mode of the plan.",
    "quantity": "`output[i]`, `grad[i]`, `jvp[i]` or `hvp[i]`.",
    "status": "A value, an error, a crash, a hang, or an unconnected gradient.",
    "dtype": "The dtype of the array, or of the values of a sparse gradient.",
    "shape": "The shape of that array.",
    "bytes": "The elements: little-endian, in C order.",
    "indices": "The indices of a sparse gradient.",
    "dense_shape": "The dense shape of a sparse gradient.",
    "code": "The code of an error, or the signal of a crash.",
    "message": "The message of an error, or the end of a crashed process's output.",
}
ERRORS_ABOUT = (
    "How far floating-point and complex results are from the reference, for each item under each plan: a row for each "
    "sign and binary exponent of the argument. A complex number is as far off as the worse of its parts. Only elements "
    "that this run compared with NumPy count, in recipes and in sweeps of 16-bit dtypes. A plan that gave no value has "
    "no row. A recording holds no profiles: a run that uses one compares its arrays again, and has no row for sweeps "
    "and for arrays that were too large to record. `reports.load_errors` and `reports.load_error_histogram` read the "
    "two files."
)


def files() -> dict[str, str]:
    """The text of each generated file, by its path in the repository."""
    return {
        "docs/reference/api.md": _page(_api()),
        "docs/reference/command-line.md": _page(_command_line()),
        "docs/reference/exit-status.md": _page(_exit_status()),
        "docs/reference/glossary.md": _page(_glossary()),
        "docs/reference/record.md": _page(_record()),
        "docs/reference/run-directory.md": _page(_run_directory()),
        "docs/reference/spec.md": _page(_spec()),
        "docs/images/flow.svg": drawings.flow(),
        "docs/images/rooms.svg": drawings.rooms({room: _about(room).partition(":")[0] for room in ROOMS}),
        ARCHITECTURE: _within(ARCHITECTURE, BEGIN, _rooms(), END),
        CHECKS: _within(CHECKS, EXCEPTIONS, _exceptions(), END_OF_EXCEPTIONS),
    }


def _within(page: str, begin: str, lines: Iterable[str], end: str) -> str:
    """The text of a page, with these lines between its two comments."""
    before, _, rest = (ROOT / page).read_text().partition(begin)
    return before + begin + "\n".join(["", *lines, end]) + rest.partition(end)[2]


def _exceptions() -> Iterator[str]:
    """A table of the rules that do not hold for every op, with the number of ops on each list of exceptions."""
    ops = len([*every_op()]) + len(TO_DO) + len(REMOVED)
    counts = {path: len((ROOT / path).read_text().split()) for path in LISTS}
    rows = [[rule, f"{ops - counts[path]} of {ops}", str(counts[path]), _code(path)] for path, rule in LISTS.items()]
    yield from _table(["what is checked of an op", "ops", "exceptions", "their list"], rows)


def main() -> None:
    """Writes every file."""
    argparse.ArgumentParser(prog="python -m docs.generate", description=__doc__).parse_args()
    for name, text in files().items():
        (ROOT / name).write_text(text)


def _page(lines: Iterable[str]) -> str:
    return "\n".join([NOTE, "", *lines]).rstrip() + "\n"


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    head = list(heads)
    for cells in (head, ["---"] * len(head), *(list(row) for row in rows)):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|').replace(chr(10), ' ') for cell in cells)} |"
    yield ""


def _code(name: object) -> str:
    return f"`{name}`"


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
        yield from _docstring(inspect.getdoc(value) or "")


def _docstring(text: str) -> Iterator[str]:
    """A docstring as Markdown: the entries of `Args`, `Attributes` and `Raises` become lists."""
    for line in text.splitlines():
        if re.fullmatch(r"(Args|Attributes|Raises):", line):
            yield from (f"**{line.rstrip(':')}**", "")
        elif entry := re.fullmatch(r"  (\w+): (.*)", line):
            yield f"- `{entry[1]}`: {entry[2]}"
        else:
            yield line.removeprefix("  ")


def _command_line() -> Iterator[str]:
    yield from ("# Command line", "")
    yield "`python -m harness VERB` in a checkout and `python -m tf_opdiff VERB` anywhere are the same command."
    yield "For the exit statuses, see [Exit status](exit-status.md)."
    yield from ("", "## make", "")
    yield from _table(["target", "does"], _targets((ROOT / "Makefile").read_text()))
    yield from ("## pytest", "")
    yield "All options of pytest work as well. These options are ours:"
    yield ""
    yield from _table(["option", "meaning"], ([_flag(o), o.settings["help"]] for o in (*OPTIONS, CAMPAIGN)))
    yield "Write `--run-dir=DIR` and `--resume=RUN` with the equals sign: pytest takes a path without it for tests."
    yield ""
    for name, verb in VERBS.items():
        yield from (f"## {name}", "", verb.help, "")
        yield from _verb(name, verb.module)


def _targets(makefile: str) -> Iterator[list[str]]:
    """The targets of the Makefile that say what they do behind `##`."""
    for target, about in re.findall(r"^([a-z]+):[^#\n]*## (.*)$", makefile, re.MULTILINE):
        yield [f"`make {target}`", about[0].upper() + about[1:].rstrip(".") + "."]


def _flag(option: Option) -> str:
    value = option.settings.get("metavar") or "|".join(option.settings.get("choices", ()))
    return _code(f"{option.flag} {value}" if value else option.flag)


def _verb(name: str, module: str) -> Iterator[str]:
    """The arguments of a verb, as its module adds them."""
    parser = argparse.ArgumentParser(prog=f"python -m harness {name}", add_help=False)
    import_module(module).add_options(parser)
    actions = [a for a in parser._actions if a.help != argparse.SUPPRESS]
    positional = [a for a in actions if not a.option_strings]
    words = [f"{a.metavar} …" if a.nargs in ("+", "*") else f"[{a.metavar}]" if a.nargs == "?" else f"{a.metavar}"
             for a in positional]  # fmt: skip
    options = " [OPTIONS]" if len(actions) > len(positional) else ""
    yield from ("```", " ".join([parser.prog, *words]) + options, "```", "")
    shared = {option.flag for option in OPTIONS} if name == "campaign" else set()
    rows = []
    for action in actions:
        if shared & set(action.option_strings):
            continue
        flag = ", ".join(action.option_strings) or str(action.metavar)
        value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else "")
        rows.append([_code(f"{flag} {value}" if action.option_strings and value else flag), action.help or ""])
    if rows:
        yield from _table(["argument", "meaning"], rows)
    if shared:
        yield from ("All options of pytest that stand [above](#pytest) work as well.", "")
    if parser.epilog:
        yield from (parser.epilog, "")


def _glossary() -> Iterator[str]:
    yield from ("# Glossary", "")
    yield "The words on the page of a run. The page shows the same sentences as tooltips and at its end."
    yield ""
    yield from _table(["word", "meaning"], ([term, meaning] for term, meaning in TERMS.items()))
    yield from ("## Severities", "")
    yield "The highest first. [The pages of a run](../explanations/pages.md#the-order) has the order of discrepancies."
    yield ""
    yield from _table(["severity", "rule"], ([one.title, one.rule] for one in SEVERITIES.values()))


def _exit_status() -> Iterator[str]:
    yield from ("# Exit status", "")
    yield "The statuses of a run: of `pytest`, `sweep`, `merge` and `campaign`."
    yield ""
    yield from _table(["status", "meaning"], ([str(n), text] for n, text in exit_status.MEANINGS.items()))
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
    yield f"In the code: {_code('harness/run/exit_status.py')}."


def _record() -> Iterator[str]:
    kinds = {"str": "text", "int": "integer", "float": "float"}
    yield from ("# Record", "", "One record is one verdict. Matches are records as well.", "")
    yield "The order of the columns never changes; new columns are added at the end."
    yield ""
    types = {name: kinds[str(field.type)] for name, field in Record.__dataclass_fields__.items()}
    yield from _table(
        ["column", "type", "meaning"], ([_code(n), types[n], columns.COLUMNS.get(n, "")] for n in COLUMNS)
    )
    yield from ("## Verdicts", "", "From the worst to the best:", "")
    heads = ["verdict", "symbol", "letter", "meaning", "fails the run"]
    rows = ([_code(v.name), v.symbol, _code(v.letter), v.meaning, "yes" if v.fails else ""] for v in VERDICTS.values())
    yield from _table(heads, rows)
    yield from ("## Kinds", "", "The kind says how a result differs.", "")
    yield from _table(["kind", "meaning"], ([_code(name), kind.meaning] for name, kind in KIND.items()))


def _run_directory() -> Iterator[str]:
    yield from ("# Run directory", "", "A run leaves these files. `runs/latest` points to the newest run.", "")
    yield from _table(["file", "holds"], ([_code(n), text] for n, text in run_files().items()))
    yield from ("## observations.parquet", "")
    yield from _table(["column", "meaning"], ([_code(n), OBSERVATION_COLUMNS[n]] for n in OBSERVATIONS.names))
    yield from ("## errors.parquet", "", ERRORS_ABOUT, "")
    yield from _table(["column", "meaning"], ([_code(n), text] for n, text in {**PROFILE, **BINS}.items()))
    yield from ("## error_histogram.parquet", "", "The same elements by the size of their errors.", "")
    yield from _table(["column", "meaning"], ([_code(n), text] for n, text in {**PROFILE, **STEPS}.items()))
    yield from ("## Traits", "", TRAITS_ABOUT, "")
    yield from _table(["trait", "says"], ([_code(name), text] for name, text in TRAITS.items()))
    yield from ("## Tables", "", "`python -m harness table NAME RUN` makes these tables of `records.parquet`.", "")
    yield from _table(["table", "holds"], ([_code(n), (f.__doc__ or "").partition("\n")[0]] for n, f in NAMED.items()))


def _spec() -> Iterator[str]:
    yield from (
        "# Declarations and specs",
        "",
        "A declaration of an op becomes specs. Take the first row that fits:",
        "",
        *_table(["my op is like …", "write …", "example"], ([like, how, _example(*of)] for like, how, *of in LIKE)),
        "[Add an op](../tutorial/add-an-op.md) explains the first declaration word by word, and shows others whole.",
        "",
        "## Words",
        "",
        *_table(["word", "meaning"], ([_code(word), meaning] for word, meaning in WORDS.items())),
        "## Forms",
        "",
    )
    modules = sorted((ROOT / "suites" / "forms").glob("[a-z]*.py"))
    rows = ([_code(path.relative_to(ROOT).as_posix()), _first_paragraph(path)] for path in modules)
    yield from _table(["module", "holds"], rows)
    groups = {"Tolerance": Tolerance, "Derivatives": Derivatives, "Execution": Execution}
    fields = {"Op": Op, "Unary": Unary, "Spec": SpecFields, **groups}
    nouns = {**fields, "Raises": Raises, "Sparse": Sparse, "Side": Side, "Claim": Claim}
    for title, noun in nouns.items():
        about = (noun.__doc__ or "").replace("\n    ", "\n")
        yield from (f"## {title}", "", "```text", about.rstrip(), "```", "")


def _example(module: str, name: str) -> str:
    path = f"suites/{module.replace('.', '/')}.py"
    return f"{_code(name)} in [{path}](../../{path})"


def _rooms() -> Iterator[str]:
    """A table of the rooms, from top to bottom, with the first sentence of each."""
    rows = [[_code(f"{room.replace('.', '/')}/"), about] for room in ROOMS if (about := _about(room))]
    yield from _table(["room", "holds"], rows)


def _about(room: str) -> str:
    """The first paragraph of a room's docstring; empty for a room that is one module."""
    path = ROOT / room.replace(".", "/") / "__init__.py"
    return _first_paragraph(path) if path.exists() else ""


def _first_paragraph(path: Path) -> str:
    """The first paragraph of a module's docstring, in one line."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return " ".join(text.partition("\n\n")[0].split())


if __name__ == "__main__":
    main()
