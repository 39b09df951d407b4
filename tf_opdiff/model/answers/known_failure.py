"""Known failure: the entries of the suites' known failures that fit the ops of an answer."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tf_opdiff.harness.device.repeat import SELF_CHECKS
from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.harness.judge.known_failures import known_files
from tf_opdiff.harness.judge.known_failures.entry import Difference, Entry
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.judge.known_failures.selectors import EVERY, listed
from tf_opdiff.harness.paths import KNOWN, ROOT, SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.kinds import NO_ANSWER
from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.model.analysis import BASE
from tf_opdiff.model.answers.answer import Answer
from tf_opdiff.model.answers.tolerance import MINOR
from tf_opdiff.model.recordings.recorded import RecordedOp, Recording

#: Python's operators → the ops that they are, in lower case; others are empty words, which fit no op.
_OPERATORS = {ast.Add: "addv2", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "realdiv", ast.USub: "neg"}


def op_words(text: str) -> tuple[str, ...]:
    """The ops that the text of a program of the suites calls: their names in lower case, sorted.

    A name in `tf` that is not that of its op, such as `divide_no_nan`, fits no op. None for a name that is no program.
    """
    try:
        nodes = list(ast.walk(ast.parse(text, mode="eval")))
    except SyntaxError:
        return ()
    calls = [ast.unparse(node.func).rpartition(".")[2].replace("_", "") for node in nodes if isinstance(node, ast.Call)]
    operators = [_OPERATORS.get(type(n.op), "") for n in nodes if isinstance(n, (ast.BinOp, ast.UnaryOp))]
    operators += ["" for n in nodes if isinstance(n, (ast.Compare, ast.BoolOp, ast.Subscript))]
    return tuple(sorted([*calls, *operators]))


@dataclass(frozen=True)
class _Subject:
    """Ops of a program as specs have them.

    Attributes:
      types: the types that a spec must name, no other and none less.
      family: the family of quantities that they give: `output`, or `grad` for the forward op of a gradient.
      present: further types that the spec may name.
      words: the ops as the text of a program names them; see `op_words`.
    """

    types: frozenset[str]
    family: str = "output"
    present: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()

    def quantities(self, spec: Spec, modes: Iterable[str]) -> Iterator[str]:
        """The quantities of a spec, or the family of them, that are about the ops."""
        for mode in modes:
            if mode in spec.modes and self.types <= {*spec.ops_in(mode)} <= self.types | self.present:
                yield self.family
        for number, text in enumerate(spec.names or ()):
            if self.words and self.words == op_words(text):
                yield f"output[{number}]"


def with_known(answer: Answer, plan: Plan, recording: Recording, tf: str) -> Answer:
    """The answer, with the known failure that fits the ops that it names; `tf` is TensorFlow's version."""
    if answer.kind in ("rounding", "amplified"):
        return replace(answer, known="expected: each op is within its budget")
    if answer.kind not in ("alone", "together"):
        return answer
    catalog = Catalog.load(SUITES)
    entries = list(_fitting(answer, plan, recording, tf, (catalog, known_files.load(ROOT / KNOWN, catalog))))
    types = ", ".join(dict.fromkeys(recording.ops[n].type for n in answer.ops))
    if not entries:
        return replace(answer, known=f"new: no known failure that names {types} fits on {plan}")
    causes = {entry.cause.id: entry.cause for entry in sorted(entries, key=lambda e: not _about(e, plan, tf))}
    first, *others = causes.values()
    evidence = first.link or first.source or first.measured
    more = f"; {len(others)} more fit" if others else ""
    return replace(answer, known=f"known: {first.title} ({evidence}){more}", causes=tuple(causes))


def _fitting(
    answer: Answer, plan: Plan, recording: Recording, tf: str, declared: tuple[Catalog, Known]
) -> Iterator[Entry]:
    """The entries about the ops, a dtype of theirs, one of the two plans, and a kind in which they differ."""
    catalog, known = declared
    ops = [recording.ops[n] for n in answer.ops]
    difference = _difference(answer)
    dtypes = {stored.dtype for op in ops for v in (*op.outputs, *op.inputs) if (stored := recording.values[v])}
    for subject in _subjects(ops, recording):
        for spec in catalog.specs.values():
            quantities = set(subject.quantities(spec, (plan.mode, BASE.mode)))
            for _, entry in known.of_spec(spec.name) if quantities else ():
                if entry.kind in SELF_CHECKS or not quantities & {*listed(entry.quantity), *_families(entry)}:
                    continue
                if entry.expects(difference) and _of_one_plan(entry, plan, dtypes, tf):
                    yield entry


def _families(entry: Entry) -> set[str]:
    """The families of the quantities that an entry selects."""
    names = listed(entry.quantity)
    return {"output", "grad"} if EVERY in names else {family_of(name) for name in names}


def _subjects(ops: Sequence[RecordedOp], recording: Recording) -> Iterator[_Subject]:
    """The ops themselves; for one op of a gradient, also its forward op, alone and with others of the program."""
    yield _Subject(frozenset(op.type for op in ops), words=tuple(sorted(op.type.lower() for op in ops)))
    if len(ops) == 1 and ops[0].gradient_of is not None:
        forward = frozenset({recording.ops[ops[0].gradient_of].type})
        yield _Subject(forward, "grad")
        yield _Subject(forward, "grad", frozenset(op.type for op in recording.ops))


def _difference(answer: Answer) -> Difference:
    """The kinds in which the ops differ, as known failures have them, and its code or signal; no distance."""
    if answer.kind == "together":
        return Difference(_kinds(result.comparison for result in answer.results))
    report = answer.reports[answer.ops[0]]
    status, _, how = report.failure.partition(": ")
    if status in NO_ANSWER:  # as an op report's failure begins
        return Difference((status,), how.partition(" ")[0] if status == "crash" else "")  # the signal comes first
    if status:
        return Difference(("status", "error_code"), status)
    return Difference(_kinds(report.comparisons))


def _kinds(comparisons: Iterable[Comparison]) -> tuple[str, ...]:
    return tuple({kind for comparison in comparisons for kind in comparison.kinds} - MINOR)


def _of_one_plan(entry: Entry, plan: Plan, dtypes: set[str], tf: str) -> bool:
    """Whether an entry is about one of the plans, or about their difference; not if both are wrong alike."""
    if not any(entry.selects({"dtype": dtype}, tf) for dtype in dtypes):
        return False
    here, there = _about(entry, plan, tf), _about(entry, BASE, tf)
    return here != there or (here and "plan" in listed(entry.against))


def _about(entry: Entry, plan: Plan, tf: str) -> bool:
    """Whether an entry is about a plan."""
    return entry.selects({"device": str(plan.device), "mode": plan.mode}, tf, plan.device.type)
