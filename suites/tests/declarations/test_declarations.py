"""Declarations of ops: what they share, what they refuse, and how their files are laid out."""

import ast
import re
from dataclasses import replace

import numpy as np
import pytest

from tf_opdiff.harness.paths import ROOT, SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.plan import MODES, WITHOUT_XLA, without_modes
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.elementwise.binary import floats
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, together
from tf_opdiff.suites.forms.recipes.elements import plain as elements
from tf_opdiff.suites.reference.elementwise.arithmetic import SUM
from tf_opdiff.suites.reference.promises.promise import OfOneTensor
from tf_opdiff.suites.reference.promises.wide import Wide

#: The most that a file of declarations may have.
OPS, LINES = 12, 250
FILES = [path for path in sorted((ROOT / "suites" / "ops").rglob("*.py")) if path.name != "__init__.py"]


#: The functions that take the declaration of an op, or of one spec.
DECLARING = {"op", "Spec"}


def entries(source):
    """The entries of a module's `SPECS`, as code: those of a tuple, or the only one."""
    (specs,) = [
        node.value
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and [t.id for t in node.targets if isinstance(t, ast.Name)] == ["SPECS"]
    ]
    each = specs.elts if isinstance(specs, ast.Tuple) else [specs]
    return [node.value if isinstance(node, ast.Starred) else node for node in each]


def other_entries(source):
    """The entries that are no call of `op` or `Spec`."""
    return [
        ast.unparse(node)
        for node in entries(source)
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in DECLARING)
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_specs_are_declared_by_op_alone(path):
    assert other_entries(path.read_text()) == []


def test_another_notation_than_op_is_found():
    source = "SPECS = (*op('a', 'A'), Spec(name='b'), *pooled('c'), *_ADDED, *replace(_ADDED, tier='full'))"
    assert other_entries(source) == ["pooled('c')", "_ADDED", "replace(_ADDED, tier='full')"]
    assert other_entries("SPECS = tuple(spec for spec in _ADDED)") == ["tuple((spec for spec in _ADDED))"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_has_few_ops_in_alphabetical_order(path):
    declared = [node.args[0].value for node in entries(path.read_text())]
    assert declared == sorted(declared)
    assert len([name for name in declared if not name.startswith(tuple(f"{other}-" for other in declared))]) <= OPS
    assert len(path.read_text().splitlines()) <= LINES


def test_specs_exclude_modes_and_list_none_so_that_they_run_a_new_one():
    listed = re.compile(r'modes"?(=|: )\("\w+", "')
    files = [path for path in (ROOT / "suites").rglob("*.py") if "tests" not in path.parts]
    assert [path for path in files if listed.search(path.read_text())] == []
    assert WITHOUT_XLA == without_modes("xla") == tuple(mode for mode in MODES if mode != "xla")


def test_a_part_takes_what_it_does_not_say_from_its_op():
    first, second = op(
        "less-one",
        "Sub",
        part(recipes={"plain": plain}),
        part("-twice", ops="AddN", reference=np.negative, recipes={"plain": plain}),
        reference=np.abs,
        ordinary={"*": "the test is about other specs"},
    )
    assert (first.name, first.ops, first.reference) == ("less-one", "Sub", np.abs)
    assert (second.name, second.ops, second.reference) == ("less-one-twice", "AddN", np.negative)
    assert first.program is second.program


def test_every_bound_that_may_be_wide_has_a_written_reason():
    entries = [
        (spec.name, loose) for spec in Catalog.load(SUITES).specs.values() for loose in spec.tolerance.loose.values()
    ]
    assert len(entries) > 50
    assert [name for name, loose in entries if not isinstance(loose, Loose)] == []


def test_a_part_without_a_reference_is_refused():
    with pytest.raises(TypeError, match="spec less-one: reference: expected a function, got None"):
        op("less-one", "Sub", part(recipes={"plain": plain}))


ROLL = {"promise": OfOneTensor(lambda x, **attrs: x), "calls": {"one": call((3,), shift=1, axis=0)}}
OF_ONE = {"f": Wide(abs), "df": Wide(abs), "ulp": {}}


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({}, "op less-one: it has no specs: expected recipes, parts, or f and df"),
        ({"df": Wide(abs)}, "op less-one: it has no specs: expected recipes, parts, or f and df"),
        (ROLL, "op less-one: it has no specs: expected recipes, parts, or f and df"),
        (OF_ONE | {"f": abs}, "op less-one: f: expected Wide"),
        (
            OF_ONE | {"ulp": {"output": (1, 2)}, "dtypes": ("float32",)},
            "op less-one: ulp: expected one number, or one for",
        ),
        ({"calls": ROLL["calls"], "recipes": {"plain": elements}}, "op less-one: calls: expected a promise of the op"),
        (ROLL | {"recipes": {"plain": elements}, "second": ("plane",)}, "op less-one: second: .* got 'plane'"),
        (
            {"parts": (part(recipes={"plain": plain}),), "dtypes": "float32"},
            "dtypes: expected a tuple, or dtype → tier",
        ),
        ({"parts": (part(recipes={"plain": plain}),), "dtypes": {"float32": "ful"}}, "dtypes: expected tiers of smoke"),
        ({"parts": (part(recipes={"plain": plain}),), "dtypes": ("flaot32",)}, "spec less-one: dtype 'flaot32'"),
    ],
)
def test_an_incomplete_declaration_is_refused_in_words(declared, says):
    with pytest.raises((TypeError, ValueError), match=says):
        op("less-one", "Sub", **{"reference": np.abs, **declared} if "parts" in declared else declared)


@pytest.mark.parametrize("make", [part, lambda **more: floats(SUM, ulp={"output": 0.5, "grad": 0}, **more)])
def test_an_unknown_keyword_is_refused(make):
    with pytest.raises(TypeError, match="budget"):
        op("sum", "Add", make(budget=1))


def test_an_op_leaves_out_an_aspect_that_it_would_have():
    parts = (part(positions=True, recipes={"plain": plain}),)
    specs = op("less-one", "Sub", *parts, reference=np.abs, without={"position": "it is a test"})
    assert {spec.aspect for spec in specs} == {"elementwise", "sizes", "unknown-shape"}
    with pytest.raises(ValueError, match="less-one: without: there is no aspect"):
        op("less-one", "Sub", *parts, reference=np.abs, without={"batches": "it has none"})


def test_an_op_changes_its_specs_and_leaves_some_out():
    parts = (part(recipes={"plain": plain}), part("-two", recipes={"plain": plain}, dtypes=("int32", "int64")))
    specs = op(
        "less-one",
        "Sub",
        parts=parts,
        reference=np.abs,
        ordinary={"*": "the test is about other specs"},
        changed=lambda spec: None if "int64" in spec.dtypes else replace(spec, tier="smoke"),
    )
    assert [(spec.name, spec.tier) for spec in specs] == [("less-one", "smoke")]


def test_position_is_tried_where_a_part_says_so():
    parts = together(part(recipes={"plain": plain}), part("-moved", positions=True, recipes={"plain": plain}))
    specs = op("less-one", "Sub", parts, reference=np.abs)
    assert [spec.name for spec in specs if "sizes" not in spec.name] == [
        *("less-one", "less-one-moved", "less-one-moved-position", "less-one-moved-position-xla")
    ]
