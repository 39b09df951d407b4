"""An entry that is misspelt, or could never select anything, fails when it is loaded."""

import pytest

from tf_opdiff.harness.judge.known import KnownError, load
from tf_opdiff.harness.spec.catalog import Catalog

GOOD = {"spec": '"right"', "kind": '"value"', "owner": '"us"', "reason": '"planted for this test"'}


def loaded(tmp_path, **fields):
    lines = [f"{name} = {value}" for name, value in (GOOD | fields).items() if value is not None]
    path = tmp_path / "known.toml"
    path.write_text("[[known]]\n" + "\n".join(lines))
    return load(path, Catalog.load("tf_opdiff.harness.tests.planted"))


def test_a_good_entry_loads(tmp_path):
    (entry,) = loaded(tmp_path, dtype='["float32"]', tf='">=2.18,<3"', link='"https://example.org/1"').entries
    assert (entry.spec, entry.mode, entry.dtype) == ("right", "*", ["float32"])


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"resaon": '"x"'}, "unknown field `resaon`"),
        ({"reason": None}, "missing required field `reason`"),
        ({"reason": '"bug"'}, "expected the checked reason"),
        ({"spec": '"rihgt"'}, "no spec 'rihgt'; there is right"),
        ({"kind": '"vaule"'}, "no kind 'vaule'; there is value"),
        ({"owner": '"them"'}, "no owner 'them'; there is driver, nobody, tensorflow, us"),
        ({"mode": '"jit"'}, "no mode 'jit'; there is eager, function, graph, xla"),
        ({"dtype": '"float64"'}, "no dtype 'float64'; there is float32"),
        ({"recipe": '"edges"'}, "no recipe 'edges'; there is plain"),
        ({"quantity": '"output"'}, "expected output[i], grad[i], jvp[i] or hvp[i]"),
        ({"device": '"GPU 0"'}, "expected TYPE or TYPE:INDEX"),
        ({"tf": '"2.21 and up"'}, "expected a version specifier"),
        ({"link": '"javascript:alert(1)"'}, "expected https://"),
        ({"kind": "3"}, "Expected `str`, got `int`"),
    ],
)
def test_a_bad_entry_is_refused_in_one_line_that_names_it(tmp_path, fields, says):
    with pytest.raises(KnownError, match=r"^known.toml: entry 1 \(spec ") as caught:
        loaded(tmp_path, **fields)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "says"), [("[[known]", "known.toml: "), ("[[knwon]]\n", "expected [[known]] tables")])
def test_a_malformed_file_is_refused(tmp_path, text, says):
    path = tmp_path / "known.toml"
    path.write_text(text)
    with pytest.raises(KnownError) as caught:
        load(path, Catalog.load("tf_opdiff.harness.tests.planted"))
    assert says in str(caught.value)
