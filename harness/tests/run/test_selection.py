"""What the command line selects: paths, ops and cases narrow each other, and what does not exist is refused."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.run.sessions.path_arguments import scopes_of
from tf_opdiff.harness.spec.catalog import Catalog


@pytest.fixture(scope="module")
def suites():
    return Catalog.load("tf_opdiff.suites")


def within(*arguments):
    config = SimpleNamespace(args=list(arguments), invocation_params=SimpleNamespace(dir=ROOT))
    return scopes_of(config), config.args


def ids(catalog, *arguments, **more):
    return [item.id for item in catalog.select(within=within(*arguments)[0], **more)]


def test_a_family_and_an_op_select_what_is_of_both(suites):
    assert set(ids(suites, "suites/ops/math/elementary/rounding.py", ops=["floor"])) == {
        *("floor-float16", "floor-bfloat16", "floor-float32", "floor-float64")
    }
    assert ids(suites, "suites/ops/math/elementary/sign.py", ops=["floor"]) == []
    assert ids(suites, "suites/ops/math/elementary/sign.py", cases=["floor-float32-edges"]) == []
    assert ids(suites, "suites/ops/math/elementary/rounding.py", ops=["floor"], cases=["ceil-float32-edges"]) == []


@pytest.mark.parametrize("name", ["floor-float32", "test_op[floor-float32]"])
def test_an_item_can_be_named_behind_its_family_or_the_generic_test(suites, name):
    assert ids(suites, f"suites/ops/math/elementary/rounding.py::{name}") == ["floor-float32"]
    assert ids(suites, f"suites/test_ops.py::{name}") == ["floor-float32"]


def test_the_smoke_tier_has_one_case_for_every_op(suites):
    about = {spec.name: {op for mode in spec.modes for op in spec.ops_in(mode)} for spec in suites.specs.values()}
    specs = suites.specs
    usual = {op for name in about if specs[name].tier != "full" and not specs[name].files for op in about[name]}
    chosen = suites.select(tier="smoke")
    assert {op for item in chosen for op in about[item.spec.name]} == usual
    assert {item.id for item in chosen} == suites.smoke.keys()
    whole = {item.id for item in chosen if item.spec.tier == "smoke"}
    assert whole == {item.id for item in suites.items if item.spec.tier == "smoke"}
    for item in chosen:
        assert suites.smoke[item.id] == tuple(c.id for c in item.cases[: None if item.id in whole else 1])


def test_paths_add_up_and_stand_for_the_generic_test(suites):
    both = within(
        "suites/ops/math/elementary/rounding.py::floor-float32", "suites/ops/math/elementary/sign.py::sign-float32"
    )
    assert both[1] == [str(ROOT / "suites" / "test_ops.py")] * 2
    assert [item.id for item in suites.select(within=both[0])] == ["floor-float32", "sign-float32"]
    assert within("suites/ops/math/elementary/rounding.py", "suites")[0] == within("suites")[0] == within(".")[0] == []
    assert within("harness/tests/test_plan.py")[0] is within("suites/tests")[0] is None
    assert within("suites")[1] == [str(ROOT / "suites" / "test_ops.py")]


def test_a_file_within_a_family_selects_its_own_specs(suites):
    own = ids(suites, "suites/claims/c25_queues/claims.py")
    assert own == ids(suites, "suites/claims/c25_queues")
    assert set(own) < set(ids(suites, "suites/claims"))
    assert ids(suites, "suites/claims") == ids(suites, "suites", ops=["claims"])


def test_a_folder_selects_the_families_in_it(suites):
    math, rounding = ids(suites, "suites/ops/math"), ids(suites, "suites/ops/math/elementary/rounding.py")
    assert set(rounding) < set(math) < set(ids(suites, "suites"))
    assert not set(math) & set(ids(suites, "suites/ops/nn"))


@pytest.mark.parametrize(
    ("path", "says"),
    [
        (
            "suites/ops/math/elementary/rounding.py::flor",
            "no spec or item of tf_opdiff.suites.ops.math.elementary.rounding: 'flor'; there is floor",
        ),
        (
            "suites/ops/math/elementary/rounding.py::sign",
            "no spec or item of tf_opdiff.suites.ops.math.elementary.rounding: 'sign'",
        ),
        ("suites::floor-float31", "no spec or item 'floor-float31'; there is floor-float"),
        ("suites/claims/evidence.py", "suites.claims.evidence: expected a module of suites, with SPECS"),
        ("suites/known/math.toml", "suites.known.math can't be imported: ModuleNotFoundError"),
    ],
)
def test_what_a_path_does_not_name_is_refused(suites, path, says):
    with pytest.raises((LookupError, ValueError)) as refused:
        ids(suites, path)
    assert says in str(refused.value)


def test_a_path_that_does_not_exist_is_refused():
    with pytest.raises(pytest.UsageError, match=r"no file 'suites/ops/math/roundin\.py'; there is .*/rounding\.py"):
        within("suites/ops/math/roundin.py")


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            "recipes={}, ops='Floor'",
            "line 2: TypeError: spec x: Spec.__init__() missing 1 required keyword-only argument: 'r",
        ),
        ("recipes={}, ops='Floor', reference=None", "line 2: TypeError: spec x: reference: expected a function, got N"),
        ("recipes={}, ops='Floor', reference=", "SyntaxError: invalid syntax (planted_broken.py, line 2)"),
    ],
)
def test_a_suite_that_cannot_be_imported_is_named_with_its_line(tmp_path: Path, monkeypatch, body, says):
    (tmp_path / "planted_broken.py").write_text(
        f"from tf_opdiff.harness.spec.spec import Spec\nSPECS = (Spec(name='x', program=abs, {body}),)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=r"planted_broken can't be imported") as refused:
        Catalog.load("planted_broken")
    assert says in str(refused.value)


def test_the_table_of_specs_is_made_once_and_nobody_changes_it(suites):
    """It was made anew for each known failure: half of the time of a run's start."""
    assert suites.specs is suites.specs
    with pytest.raises(TypeError):
        suites.specs["another"] = suites.specs["floor"]


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("--mode=jit", "no mode 'jit'"),
        ("--tier=nightly", "no tier 'nightly'"),
        ("--device=GPU-1", "expected TYPE or TYPE:INDEX"),
        ("--shard=0/3", "expected I/N"),
        ("--no-such-option", "unrecognized arguments"),
        ("suites/ops/math/roundin.py", "no file"),
    ],
)
def test_a_wrong_option_is_answered_before_anything_slow_is_imported(argument, says):
    """The answer takes half a second: no TensorFlow, no NumPy, and no suites."""
    command = [sys.executable, "-X", "importtime", "-m", "pytest", "-p", "no:cacheprovider", "-n", "0", argument]
    process = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    lines = [line.rpartition("|")[2].strip() for line in process.stderr.splitlines() if line.startswith("import time:")]
    assert process.returncode == 4
    assert says in process.stderr
    assert "tf_opdiff.harness.run.options" in lines
    slow = re.compile(r"(tensorflow|numpy|pandas|scipy|mpmath|tf_opdiff\.suites)\b")
    assert [name for name in lines if slow.match(name)] == []
