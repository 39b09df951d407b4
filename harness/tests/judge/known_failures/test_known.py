"""A cause or an entry that is misspelt, or could never count, fails when it is loaded; a folder is like one file."""

import pytest

from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.judge.known_failures.known_files import KnownError, load
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import MODES

CAUSE = {
    "id": "planted",
    "title": '"A planted failure"',
    "severity": '"accuracy: planted for this test"',
    "owner": '"us"',
    "reason": '"planted for this test"',
    "link": '"https://example.org/1"',
}
ENTRY = {"spec": '"right"', "kind": '"value"'}
PATH = "tensorflow/core/kernels/cwise_ops.h"
REPOSITORY = "https://github.com/tensorflow/tensorflow"
SOURCE = f'"{PATH} at v2.21.0: truncates the rounded quotient"'
OLDER = f'"{PATH} at 08df8c40b437 (2024): truncates the rounded quotient"'


@pytest.fixture(scope="module")
def catalog():
    return Catalog.load("tf_opdiff.harness.tests.planted_specs.planted")


def table(cause, *entries):
    """The table of a cause with its entries."""
    lines = [f"{name} = {value}" for name, value in cause.items() if name != "id" and value is not None]
    items = ["{" + ", ".join(f"{n} = {v}" for n, v in entry.items() if v is not None) + "}" for entry in entries]
    return "\n".join([f"[cause.{cause['id']}]", *lines, *([f"entries = [{', '.join(items)}]"] if items else []), ""])


def loaded(path, catalog, *tables):
    path.write_text("\n".join(tables))
    return load(path, catalog)


def refused(path, catalog, *tables):
    with pytest.raises(KnownError) as caught:
        loaded(path, catalog, *tables)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_good_entry_has_its_cause(tmp_path, catalog):
    entry = ENTRY | {"dtype": '["float32"]', "tf": '">=2.18,<3"'}
    known = loaded(tmp_path / "known.toml", catalog, table(CAUSE, entry))
    (entry,) = known.entries
    assert (entry.spec, entry.mode, entry.dtype) == ("right", "*", ["float32"])
    explained = (entry.cause.id, entry.cause.owner, entry.cause.reason, entry.cause.link)
    assert explained == ("planted", "us", "planted for this test", "https://example.org/1")
    assert str(known.stands(1)) == "entry 1 of cause planted (known.toml)"


@pytest.mark.parametrize(
    ("title", "fields", "function"),
    [
        ("In `tf.function`, `tf.math.floor(x)` is `tf.math.ceil`", {}, "tf.math.floor"),
        ("`tf.raw_ops.Floor` is wrong", {}, ""),
        ("`tf.math.floor` is wrong", {"function": '""'}, ""),
        ("`tf.math.floor` is wrong", {"function": '"keras.ops.floor"'}, "keras.ops.floor"),
    ],
)
def test_a_cause_is_tensorflows_and_reached_by_the_function_of_its_title_unless_it_says_more(
    tmp_path, catalog, title, fields, function
):
    cause = CAUSE | {"owner": None, "title": f'"{title}"'} | fields
    (entry,) = loaded(tmp_path / "known.toml", catalog, table(cause, ENTRY)).entries
    assert (entry.cause.owner, entry.cause.function) == ("tensorflow", function)


def test_a_spec_with_a_star_stands_for_all_specs_of_that_form(tmp_path, catalog):
    entry = ENTRY | {"spec": '["by-length-*-ulp", "right"]'}
    (entry,) = loaded(tmp_path / "known.toml", catalog, table(CAUSE, entry)).entries
    assert entry.spec == ["by-length-1-ulp", "by-length-3-ulp", "right"]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"resaon": '"x"'}, "unknown field `resaon`"),
        ({"cause": '"planted"'}, "cause: expected no such field: the entry stands in its cause"),
        ({"spec": None}, "missing required field `spec`"),
        ({"kind": None}, "missing required field `kind`"),
        ({"kind": "[]"}, "kind []: expected a kind, or a list of different kinds"),
        ({"kind": '["nan", "nan"]'}, "kind ['nan', 'nan']: expected a kind, or a list of different kinds"),
        ({"kind": '["nan", "vaule"]'}, "no kind 'vaule'; there is value"),
        ({"kind": '["nan", 3]'}, "Expected `str`, got `int`"),
        ({"owner": '"us"'}, "unknown field `owner`"),
        ({"spec": '"rihgt"'}, "no spec 'rihgt'; there is right"),
        ({"spec": '"*"'}, "no spec '*'"),
        ({"spec": '"right-*"'}, "no spec 'right-*'; there is right"),
        ({"kind": '"vaule"'}, "no kind 'vaule'; there is value"),
        ({"kind": '"*"'}, "no kind '*'"),
        ({"mode": '"jit"'}, "no mode 'jit'; there is eager, function, graph, xla"),
        ({"against": '"jax"'}, "no against 'jax'; there is itself, numpy, plan"),
        ({"dtype": '"float64"'}, "no dtype 'float64'; there is float32"),
        ({"recipe": '"edges"'}, "no recipe 'edges'; there is plain"),
        ({"quantity": '"output"'}, "expected output[i], grad[i], jvp[i] or hvp[i]"),
        ({"device": '"GPU 0"'}, "expected TYPE or TYPE:INDEX"),
        ({"unless": '"onednnn"'}, "unless 'onednnn': expected a variant"),
        ({"tf": '"2.21 and up"'}, "expected a version specifier"),
        ({"kind": "3"}, "Expected `str`, got `int`"),
    ],
)
def test_a_bad_entry_is_refused_in_one_line_that_names_it(tmp_path, catalog, fields, says):
    path = tmp_path / "known.toml"
    line = refused(path, catalog, table(CAUSE, ENTRY | fields))
    assert line.startswith("known.toml: cause 'planted': entry 1 (spec ") and says in line
    line = refused(path, catalog, table(CAUSE, ENTRY, ENTRY | fields))
    assert line.startswith("known.toml: cause 'planted': entry 2 (spec ") and says in line


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"resaon": '"x"'}, "unknown field `resaon`"),
        ({"reason": None}, "missing required field `reason`"),
        ({"reason": '"bug"'}, "expected the checked reason"),
        ({"owner": '"them"'}, "no owner 'them'; there is driver, keras, nobody, tensorflow, us"),
        ({"title": None}, "title '': expected the discrepancy, in a sentence"),
        ({"title": '"TODO"'}, "title 'TODO': expected the discrepancy, in a sentence"),
        ({"severity": None}, "no severity ''; there is accuracy, convention, error, "),
        ({"severity": '"TODO"'}, "no severity 'TODO'; there is accuracy, convention, error, "),
        ({"severity": '"accuracy"'}, "'accuracy: REASON'; got ''"),
        ({"severity": '"accuracy: TODO"'}, "expected why it applies behind it, in a sentence: 'accuracy: REASON'"),
        ({"severity_reason": '"planted for this test"'}, 'expected behind the severity: severity = "SEVERITY: REASON"'),
        ({"id": '"Planted cause"'}, "expected words of a-z and 0-9"),
        ({"entries": "3"}, "Expected `array`, got `int` - at `$.entries`"),
        ({"entries": "[3]"}, "Expected `object`, got `int` - at `$.entries[0]`"),
        ({"entries": "[]"}, "expected at least one entry: entries = [{spec = …, kind = …}]"),
        ({"defaults": "3"}, "Expected `object`, got `int` - at `$.defaults`"),
        ({"link": '"javascript:alert(1)"'}, "expected https://"),
        ({"link": None}, "expected a link, or the source file that was read (source), or how it was measured"),
        ({"link": None, "source": '"cwise_ops.h"'}, "expected PATH at VERSION"),
        ({"link": None, "source": f'"{PATH} at 08df8c40b437: Compute adds"'}, "such as v2.21.0 or 08df8c40b437"),
        ({"link": None, "source": f'"{PATH} at v2.20.0: Compute adds"'}, "such as v2.21.0 or 08df8c40b437"),
        ({"link": None, "source": f'"{PATH} at master (2024): Compute adds"'}, "such as v2.21.0 or 08df8c40b437"),
        ({"link": None, "source": f'{SOURCE[:-1]}; {PATH} at 08df8c40b437: adds"'}, "such as v2.21.0 or 08df8c40b437"),
        ({"link": f'"{REPOSITORY}/blob/08df8c40b437/{PATH}"'}, "source takes a commit and its year"),
        ({"link": f'"{REPOSITORY}/tree/master/{PATH}"'}, "source takes a commit and its year"),
        ({"link": None, "measured": '"often"'}, "expected how, and on what, in a sentence"),
        ({"measured": '"every float32 on x86-64"'}, "expected only where there is neither a link nor a source"),
    ],
)
def test_a_bad_cause_is_refused_in_one_line_that_names_it(tmp_path, catalog, fields, says):
    path = tmp_path / "known.toml"
    line = refused(path, catalog, table(CAUSE | fields, *([] if "entries" in fields else [ENTRY])))
    assert line.startswith("known.toml: cause '") and says in line


@pytest.mark.parametrize("evidence", [{"source": SOURCE}, {"source": OLDER}, {"measured": '"every float32 on x86-64"'}])
def test_a_cause_without_a_link_says_which_source_was_read_or_how_it_was_measured(tmp_path, catalog, evidence):
    cause = CAUSE | {"link": None} | evidence
    known = loaded(tmp_path / "known.toml", catalog, table(cause, ENTRY))
    assert known.entries[0].cause.link == ""


def test_a_cause_has_its_own_id_and_reason_and_an_entry(tmp_path, catalog):
    folder = tmp_path / "known"
    folder.mkdir()
    (folder / "array.toml").write_text(table(CAUSE, ENTRY))
    path = folder / "math.toml"

    def line(*tables):
        path.write_text("\n".join(tables))
        with pytest.raises(KnownError) as caught:
            load(folder, catalog)
        return str(caught.value)

    other = {"reason": '"planted for another test"'}
    assert line(table(CAUSE | other, ENTRY)) == (
        "known/math.toml: cause 'planted': another file has a cause with the same id"
    )
    assert line(table(CAUSE | {"id": "other"}, ENTRY)) == (
        "known/math.toml: cause 'other': cause 'planted' has the same reason: join the two"
    )
    assert line(table(CAUSE | {"id": "other"} | other)).endswith(
        "cause 'other': expected at least one entry: entries = [{spec = …, kind = …}]"
    )
    twice = table(CAUSE | {"id": "other"} | other, ENTRY)
    assert "known/math.toml: expected TOML (" in line(twice, twice)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[entry]", "known.toml: "),
        ("[cuase.planted]\n", "expected [cause.ID] and [processor.ID] tables, found cuase"),
        ("cause = 1\n", "expected [cause.ID] and [processor.ID] tables, found cause = 1"),
        ("cause.planted = 1\n", "known.toml: cause 'planted': Expected `object`, got `int`"),
        ("[cause.planted]\nid = 'planted'\n", "id: expected in the head of the table alone, [cause.ID]"),
    ],
)
def test_a_malformed_file_is_refused(tmp_path, catalog, text, says):
    assert says in refused(tmp_path / "known.toml", catalog, text)


def test_the_files_of_a_folder_are_read_in_order(tmp_path, catalog):
    folder = tmp_path / "known"
    folder.mkdir()
    (folder / "README.md").write_text("not TOML")
    other = CAUSE | {"id": "other", "reason": '"planted for another test"'}
    (folder / "nn.toml").write_text(table(CAUSE, ENTRY | {"mode": '"xla"'}))
    (folder / "math.toml").write_text(table(other, ENTRY, ENTRY | {"kind": '"nan"'}))
    known = load(folder, catalog)
    assert [str(known.stands(n)) for n in (1, 2, 3)] == [
        "entry 1 of cause other (known/math.toml)",
        "entry 2 of cause other (known/math.toml)",
        "entry 1 of cause planted (known/nn.toml)",
    ]
    assert [(entry.kind, entry.mode) for entry in known.entries] == [("value", "*"), ("nan", "*"), ("value", "xla")]
    (folder / "nn.toml").write_text(table(CAUSE, ENTRY | {"spec": '"rihgt"'}))
    with pytest.raises(KnownError, match=r"^known/nn.toml: cause 'planted': entry 1 \(spec 'rihgt'\): no spec 'rihgt'"):
        load(folder, catalog)


@pytest.mark.parametrize("named", ["one", "both"])
def test_causes_see_each_other_if_one_names_the_other(tmp_path, catalog, named):
    first = CAUSE | ({"see": '["other"]'} if named == "both" else {})
    other = CAUSE | {"id": "other", "reason": '"planted for another test"', "see": '["planted"]'}
    known = loaded(tmp_path / "known.toml", catalog, table(first, ENTRY), table(other, ENTRY))
    assert [entry.cause.see for entry in known.entries] == [("other",), ("planted",)]


def test_a_cause_sees_another_cause_that_exists(tmp_path, catalog):
    other = CAUSE | {"id": "other", "reason": '"planted for another test"'}
    for absent in ("plantde", "other"):
        line = refused(
            tmp_path / "known.toml", catalog, table(CAUSE, ENTRY), table(other | {"see": f'["{absent}"]'}, ENTRY)
        )
        assert f"cause 'other': see '{absent}': no cause '{absent}'; there is planted" in line


def test_an_entry_with_several_kinds_is_an_entry_for_each_at_one_place(tmp_path, catalog):
    several = ENTRY | {"kind": '["nan", "value"]', "within": '"7 ulp"'}
    known = loaded(tmp_path / "known.toml", catalog, table(CAUSE, several, ENTRY | {"kind": '"inf"'}))
    assert [(entry.kind, entry.within) for entry in known.entries] == [("nan", ""), ("value", "7 ulp"), ("inf", "")]
    assert [known.stands(n).number for n in (1, 2, 3)] == [1, 1, 2]


def test_the_defaults_of_a_cause_are_fields_of_its_entries_that_lack_them(tmp_path, catalog):
    cause = CAUSE | {"defaults": '{kind = "nan", mode = "xla", tf = ">=2.18"}'}
    entries = {"spec": '"right"'}, {"spec": '"right"', "kind": '"inf"', "mode": '"*"'}
    known = loaded(tmp_path / "known.toml", catalog, table(cause, *entries))
    assert [(e.kind, e.mode, e.tf) for e in known.entries] == [("nan", "xla", ">=2.18"), ("inf", "*", ">=2.18")]
    line = refused(tmp_path / "known.toml", catalog, table(cause | {"defaults": '{mdoe = "xla"}'}, ENTRY))
    assert "entry 1 (spec 'right'): Object contains unknown field `mdoe`" in line


def test_a_file_of_the_former_format_is_refused_with_the_command_that_converts_it(tmp_path, catalog):
    former = "[[cause]]\nid = 'planted'\n", "[[entry]]\ncause = 'planted'\n"
    for text in (*former, "".join(former)):
        line = refused(tmp_path / "known.toml", catalog, text)
        assert line.startswith("known.toml: expected [cause.ID] tables") and "reports.verbs.former_known FILE" in line


def test_a_folder_without_files_is_refused(tmp_path, catalog):
    with pytest.raises(KnownError, match=r"expected \*.toml files in this folder"):
        load(tmp_path, catalog)


def test_a_list_may_select_everything(tmp_path, catalog):
    entry = ENTRY | {"mode": '["*"]'}
    known = loaded(tmp_path / "known.toml", catalog, table(CAUSE, entry))
    place = {"spec": "right", "dtype": "float32", "recipe": "plain", "device": "cpu", "mode": "xla"}
    assert known.about(place, "2.21.0") == ((1, known.entries[0]),)


def test_an_entry_about_a_spec_is_about_its_twins_and_keeps_its_own_names(tmp_path, catalog):
    entry = loaded(tmp_path / "known.toml", catalog, table(CAUSE, ENTRY)).entries[0]
    known = Known((entry,), twins={"right": ("twin-of-right",)})
    place = {"spec": "twin-of-right", "dtype": "float32", "recipe": "plain", "device": "cpu", "mode": "xla"}
    assert [number for number, _ in known.about(place, "2.21.0")] == [1]
    assert not Known((entry,)).about(place, "2.21.0")
    assert (known.specs_of(entry), known.entries[0].spec) == (["right", "twin-of-right"], "right")


def test_a_list_selects_only_the_names_in_it(tmp_path, catalog):
    entry = ENTRY | {"mode": '["function", "xla"]'}
    (only,) = loaded(tmp_path / "known.toml", catalog, table(CAUSE, entry)).entries
    place = {"spec": "right", "dtype": "float32", "recipe": "plain", "device": "cpu"}
    assert [mode for mode in MODES if only.selects(place | {"mode": mode}, "2.21.0")] == ["function", "xla"]


def test_an_entry_may_leave_out_devices_with_a_variant(tmp_path, catalog):
    entry = ENTRY | {"device": '"cpu"', "unless": '"noonednn"'}
    (only,) = loaded(tmp_path / "known.toml", catalog, table(CAUSE, entry)).entries
    place = {"spec": "right", "mode": "eager", "quantity": "output[0]", "against": "numpy"}
    devices = ("cpu", "cpu+noonednn", "cpu+noonednn+threads=4", "cpu+threads=4", "gpu:0")
    assert [only.selects(place | {"device": device}, "2.21.0") for device in devices] == [
        True,
        False,
        False,
        True,
        False,
    ]


def test_an_entry_may_be_about_processors_with_a_trait(tmp_path, catalog):
    place = {"spec": "right", "dtype": "float32", "recipe": "plain", "mode": "xla"}
    devices = {
        "cpu": {"traits": "avx2 inexact-reciprocal"},
        "cpu@old": {"recorded": "2026-01-01, run a", "device": "cpu", "traits": "avx2"},
        "cpu+threads=2": {},
        "gpu:0": {"compute_capability": "(9, 0)"},
    }

    def selected(**fields):
        entry = ENTRY | {"mode": '["*"]'} | {name: f'"{value}"' for name, value in fields.items()}
        known = loaded(tmp_path / "known.toml", catalog, table(CAUSE, entry)).on(devices)
        return [name for name in devices if known.about(place | {"device": name}, "2.21.0")]

    assert selected() == [*devices]
    assert selected(trait="inexact-reciprocal") == ["cpu"]
    assert selected(trait="avx2") == ["cpu", "cpu@old"]
    assert selected(trait="compute-capability-9.0") == ["gpu:0"]
    assert selected(unless="inexact-reciprocal") == ["cpu@old", "cpu+threads=2", "gpu:0"]


def test_a_trait_that_does_not_exist_is_refused(tmp_path, catalog):
    entry = ENTRY | {"trait": '"avx521"'}
    with pytest.raises(KnownError, match=r"no trait 'avx521'.*avx512"):
        loaded(tmp_path / "known.toml", catalog, table(CAUSE, entry))
    entry = ENTRY | {"unless": '"avx521"'}
    with pytest.raises(KnownError, match=r"unless 'avx521': expected a variant.*or a trait"):
        loaded(tmp_path / "known.toml", catalog, table(CAUSE, entry))


def test_only_a_cause_of_unwritten_memory_may_be_intermittent(tmp_path, catalog):
    entry = ENTRY | {"intermittent": "true"}
    memory = loaded(
        tmp_path / "known.toml", catalog, table(CAUSE | {"severity": '"memory: planted for this test"'}, entry)
    )
    assert memory.entries[0].intermittent
    with pytest.raises(KnownError, match="intermittent: expected for a cause of severity memory, not"):
        loaded(tmp_path / "known.toml", catalog, table(CAUSE, entry))


@pytest.mark.parametrize(
    ("field", "text"), [("within", "4096"), ("where", "x >"), ("where", "upstreams > 0"), ("blind", "because")]
)
def test_a_distance_or_a_region_that_can_not_be_read_is_refused(tmp_path, catalog, field, text):
    entry = ENTRY | {field: f'"{text}"'}
    with pytest.raises(KnownError, match=f"{field} '{text}': .*expected (a|why)"):
        loaded(tmp_path / "known.toml", catalog, table(CAUSE, entry))


def test_a_region_is_for_kinds_of_elements(tmp_path, catalog):
    entry = ENTRY | {"kind": '"shape"', "where": '"x > 0"'}
    with pytest.raises(KnownError, match="expected for a kind of elements, of nan, inf"):
        loaded(tmp_path / "known.toml", catalog, table(CAUSE, entry))


def test_a_bound_is_for_kinds_that_have_a_distance(tmp_path, catalog):
    entry = ENTRY | {"kind": '"nan"', "within": '"4096 ulp"'}
    with pytest.raises(KnownError, match="expected for a kind with a distance, of value, position, batch"):
        loaded(tmp_path / "known.toml", catalog, table(CAUSE, entry))


def test_the_link_of_a_fix_is_that_of_a_change_and_not_of_an_issue(tmp_path, catalog):
    links = ("https://github.com/tensorflow/tensorflow/issues/118701", "http://x/pull/1", "pull/1")
    for link in links:
        cause = CAUSE | {"fixed": f'"{link}"'}
        with pytest.raises(KnownError, match="expected the link of a pull request or a commit"):
            loaded(tmp_path / "known.toml", catalog, table(cause, ENTRY))
    cause = CAUSE | {"fixed": '"https://github.com/tensorflow/tensorflow/pull/1"'}
    assert loaded(tmp_path / "known.toml", catalog, table(cause, ENTRY)).entries
