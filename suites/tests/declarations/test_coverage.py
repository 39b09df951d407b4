"""Every raw op of the registry has a spec, a reason to be left out, or a place in the list of ops to do."""

import json

import pytest

from tf_opdiff.harness.paths import RAW_OPS, SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.lists.raw_ops import EXCLUDED, FAMILIES, GAPS, REGISTRY, TO_DO, RawOps, to_do
from tf_opdiff.harness.tests.forked_python import forked_python


@pytest.fixture(scope="module")
def raw_ops():
    return RawOps.load()


@pytest.fixture
def folder(tmp_path):
    """A copy of the data files, to plant faults in."""
    for name in (REGISTRY, FAMILIES, EXCLUDED, GAPS, TO_DO):
        (tmp_path / name).write_text((RAW_OPS / name).read_text("utf-8"), "utf-8")
    return tmp_path


def test_each_op_has_a_spec_or_a_reason_or_is_to_do(raw_ops):
    """The list shrinks: an op that a spec names, or that is excluded, may not stand in it."""
    assert len(raw_ops.ops) == 660
    assert to_do() == raw_ops.unnamed(Catalog.load(SUITES)), "python -m harness coverage --to-do writes the list"


def test_an_op_without_spec_is_to_do_unless_it_is_excluded(raw_ops):
    unnamed = raw_ops.unnamed(Catalog.load("tf_opdiff.suites.ops.math.elementary.rounding"))
    assert "Floor" not in unnamed and "Tile" in unnamed
    assert raw_ops.ops["CheckPinned"].excluded and "CheckPinned" not in unnamed


def test_the_registry_is_that_of_the_installed_tensorflow():
    process = forked_python("-m", "tf_opdiff.harness.device.installation.op_registry")
    assert process.returncode == 0, process.stderr
    installed, stored = json.loads(process.stdout), json.loads((RAW_OPS / REGISTRY).read_text("utf-8"))
    if installed["tensorflow"] == stored["tensorflow"]:
        assert process.stdout == (RAW_OPS / REGISTRY).read_text("utf-8")
    else:  # another version adds and removes ops, but the common ones are most of them
        assert len(installed["ops"].keys() & stored["ops"].keys()) > 550


def test_kernels_gradients_and_attributes_are_read(raw_ops):
    conv, fill, identity = (raw_ops.ops[name] for name in ("Conv2D", "Fill", "Identity"))
    assert conv.data == "T" and "float16" in conv.both("T") and "complex64" not in conv.both("T")
    assert conv.attributes["data_format"] == ["NHWC", "NCHW"] and conv.attributes["use_cudnn_on_gpu"] == [False, True]
    assert (
        "bytes" in fill.dtypes["T"]["CPU"] and "bytes" not in fill.both("T") and "qint8" not in fill.dtypes["T"]["CPU"]
    )
    assert "int32" in fill.both("T")  # a kernel for any device, which stands under neither of the two
    assert [raw_ops.ops[op].gradient for op in ("Floor", "Shape", "Where")] == ["function", "none", "absent"]
    assert "broadcast" in raw_ops.ops["AddV2"].shapes and "broadcast" not in identity.shapes


FAULTS = {
    "'Floored' is no op": (FAMILIES, '"Floor"', '"Floored"'),
    "'Ceil' has no family": (FAMILIES, '"Ceil", ', ""),
    "'Ceil' stands in elementwise too": (FAMILIES, '"Tile", ', '"Tile", "Ceil", '),
    "shape 'even' is none of": (FAMILIES, '"odd"]', '"even"]'),
    "'CheckPinned' has no reason": (EXCLUDED, 'reason = "A debugging op: ', 'reason = ""\nnote = "'),
    "exclusion: 'TopKs' is no op": (EXCLUDED, '"TopK"', '"TopKs"'),
    "gap: 'Rounded' is no op": (GAPS, '"Round"', '"Rounded"'),
    "'Round' has no reason": (GAPS, 'reason = "XLA rounds', 'reason = ""\nnote = "XLA rounds'),
}


@pytest.mark.parametrize("message", FAULTS)
def test_a_fault_in_a_file_is_named(folder, message):
    name, text, planted = FAULTS[message]
    whole = (folder / name).read_text("utf-8")
    assert text in whole
    (folder / name).write_text(whole.replace(text, planted), "utf-8")
    with pytest.raises(ValueError, match=message):
        RawOps.load(folder)
