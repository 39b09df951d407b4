"""A maturity list is held to both ways, and one that is misspelt, or says nothing, is refused."""

import pytest

from tf_opdiff.harness.judge.known_failures.maturity import load
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.store.records.record import Record

PLACE = {"spec": "floor", "dtype": "float32", "mode": "eager", "device": "toy:1", "against": "numpy"}


@pytest.fixture(scope="module")
def catalog():
    return Catalog.load("tf_opdiff.harness.tests.planted_specs.planted_toy")


@pytest.fixture
def listed(tmp_path, catalog):
    def made(*entries, device="toy"):
        path = tmp_path / "toy.toml"
        tables = ["\n".join(f"{k} = {v!r}" for k, v in entry.items()) for entry in entries]
        path.write_text(f"device = {device!r}\n" + "".join(f"[[maturity]]\n{table}\n" for table in tables))
        return load(path, catalog)

    return made


def graded(maturity, *, came, **fields):
    record = maturity.graded(Record(**PLACE | {"quantity": "output[0]", "detail": "no kernel: …"} | fields), came=came)
    return record.verdict, record.kind, record.detail


def test_a_mandatory_kernel_that_is_lacking_is_a_mismatch(listed):
    found = graded(listed({"level": "mandatory", "reason": "released"}), verdict="unavailable", came=False)
    assert found == ("mismatch", "status", "no kernel, which is mandatory, by entry 1 of toy.toml (released): …")


@pytest.mark.parametrize("level", ["expected", "skip"])
def test_any_other_kernel_that_is_lacking_is_unavailable_and_says_what_was_expected(listed, level):
    before = Record(**PLACE, quantity="output[0]", verdict="unavailable", kind="status")
    after = listed({"level": level}).graded(before, came=False)
    assert (after.verdict, after.reason) == ("unavailable", f"{level}, by entry 1 of toy.toml")


@pytest.mark.parametrize("verdict", ["match", "contract"])
def test_what_is_skipped_and_works_is_stale_and_says_what_to_delete(listed, verdict):
    found = graded(listed({"level": "skip"}), verdict=verdict, came=True)
    assert found[0] == "stale"
    assert "delete or narrow entry 1 of toy.toml" in found[2]


def test_what_is_skipped_and_wrong_is_a_mismatch_as_everywhere(listed):
    found = graded(listed({"level": "skip"}), verdict="mismatch", kind="value", came=True)
    assert found[:2] == ("mismatch", "value")
    assert "though entry 1 of toy.toml says that it is not" in found[2]


@pytest.mark.parametrize("level", ["expected", "mandatory", "skip"])
@pytest.mark.parametrize("verdict", ["match", "mismatch", "known", "error", "stale"])
def test_an_error_that_came_as_promised_and_what_else_ran_stay_what_they_are(listed, level, verdict):
    assert graded(listed({"level": level}), verdict=verdict, came=False)[0] == verdict
    if level != "skip":
        assert graded(listed({"level": level}), verdict=verdict, came=True)[0] == verdict


@pytest.mark.parametrize(
    "elsewhere",
    [{"device": "cpu"}, {"against": "cpu/eager"}, {"spec": "ceil"}, {"dtype": "float64"}, {"quantity": "grad[0]"}],
)
def test_an_entry_is_about_its_own_place_only(listed, elsewhere):
    maturity = listed({"level": "mandatory", "op": "Floor", "dtype": ["float32"], "quantity": "output"})
    assert graded(maturity, verdict="unavailable", came=False)[0] == "mismatch"
    assert graded(maturity, verdict="unavailable", came=False, **elsewhere)[0] == "unavailable"


@pytest.mark.parametrize("device", ["toy", "toy:0", "toy+slow", "toy:1+slow"])
def test_a_list_is_about_every_device_of_its_type_and_its_variants(listed, device):
    assert graded(listed({"level": "mandatory"}), verdict="unavailable", came=False, device=device)[0] == "mismatch"


def test_the_first_entry_about_a_cell_counts(listed):
    maturity = listed({"level": "skip", "mode": "xla"}, {"level": "mandatory"})
    assert graded(maturity, verdict="unavailable", came=False, mode="xla")[0] == "unavailable"
    assert graded(maturity, verdict="unavailable", came=False)[0] == "mismatch"


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"level": "must"}, "no level 'must'; there is expected, mandatory, skip"),
        ({"level": "*"}, "no level '*'"),
        ({"op": "Flor"}, "no op 'Flor'; there is"),
        ({"dtype": "float23"}, "no dtype 'float23'; there is float16, float32, float64"),
        ({"op": "Ceil", "dtype": "float16"}, "no dtype 'float16'; there is float32, float64"),
        ({"mode": ["eager", "jit"]}, "no mode 'jit'; there is eager, function, graph, xla"),
        ({"quantity": "grad[0]"}, "no quantity 'grad[0]'; there is grad, hvp, jvp, output"),
        ({"op": "Cos", "quantity": "grad"}, "no spec has these together"),
        ({"dtyp": "float32"}, "unknown field `dtyp`"),
    ],
)
def test_an_entry_that_names_nothing_is_refused_in_one_line(listed, entry, says):
    with pytest.raises((LookupError, ValueError), match=r"^toy.toml: entry 1") as caught:
        listed({"level": "skip"} | entry)
    assert says in caught.value.args[0]
    assert "\n" not in caught.value.args[0]


def test_an_entry_that_can_never_count_is_refused(listed):
    with pytest.raises(ValueError, match="entry 2 is about nothing: the entries before it select all that it does"):
        listed({"level": "skip", "op": "Floor"}, {"level": "mandatory", "op": "floor", "dtype": "float32"})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[maturity]", "toy.toml: "),
        ("[[maturity]]\nlevel = 'skip'\n", "expected a type of device"),
        ("device = 'TOY'\n[[maturity]]\nlevel = 'skip'\n", "device 'TOY': expected a type of device"),
        (
            "device = 'toy'\n[[matrity]]\nlevel = 'skip'\n",
            r"expected device and \[\[maturity\]\] tables, found device, m",
        ),
        ("device = 'toy'\nmaturity = 1\n", "tables"),
        ("device = 'toy'\nmaturity = [1]\n", "entry 1: "),
    ],
)
def test_a_malformed_list_is_refused(tmp_path, catalog, text, says):
    path = tmp_path / "toy.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=says):
        load(path, catalog)
