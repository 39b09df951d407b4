"""Every option of a raw op has a spec or a reason; what specs are said to show is what their programs do."""

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from tf_opdiff.harness.paths import SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.lists.options import LEFT_OUT, SHOWN, Options
from tf_opdiff.harness.spec.lists.raw_ops import RawOps
from tf_opdiff.harness.tests.forked_python import forked_python
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.options import NEUTRAL, OPTION, changed, with_inputs, with_results, with_values
from tf_opdiff.suites.forms.part import part

PROGRAM = "tf_opdiff.harness.device.installation.option_values"
WRITE = f"python -m {PROGRAM} {SUITES} > suites/coverage/{SHOWN}"


@pytest.fixture(scope="module")
def raw_ops():
    return RawOps.load()


@pytest.fixture(scope="module")
def options():
    return Options.load()


def test_each_option_has_a_spec_or_a_reason(raw_ops, options):
    ops = [op for op in raw_ops.ops.values() if not op.excluded]
    missing = [f"{op.name}.{text}" for op in ops for text in options.missing(op, without=op.data)]
    assert not missing, f"give each a spec and run {WRITE}, or a reason in {LEFT_OUT}"


def test_no_reason_is_spent(raw_ops, options):
    assert not options.spent(raw_ops), f"these are no options, or specs show them: delete them from {LEFT_OUT}"


def test_every_spec_that_shows_an_option_exists(options):
    names = {n for by in options.shown.values() for values in by.values() for specs in values.values() for n in specs}
    assert not names - Catalog.load(SUITES).specs.keys(), f"run {WRITE}"


def test_programs_show_the_options_that_the_file_says(options):
    """A sample of the suites: the whole file takes minutes."""
    modules = [
        f"{SUITES}.ops.{name}" for name in ("math.products.matmul", "nn.layers.top_k", "state.assign", "training")
    ]
    process = forked_python("-m", PROGRAM, *modules)
    assert process.returncode == 0, process.stderr
    own, shown = Catalog.load(" ".join(modules)).specs, json.loads(process.stdout)
    here = flat(shown)
    stored = {(*value, name) for value, names in flat(options.shown).items() for name in names if name in own}
    assert here.keys() <= flat(options.shown).keys(), f"run {WRITE}"
    assert stored <= {(*value, name) for value, names in here.items() for name in names}, f"run {WRITE}"


def flat(table):
    return {(op, attr, v): names for op, by in table.items() for attr, vs in by.items() for v, names in vs.items()}


def test_a_value_without_a_spec_and_without_a_reason_is_missing(raw_ops):
    empty = Options({"TopKV2": {"sorted": {"True": ["top-k-v2"]}}}, {"TopKV2": {"sorted": {"False": "It is slow."}}})
    top = raw_ops.ops["TopKV2"]
    assert not [text for text in empty.missing(top) if text.startswith("sorted")]
    assert "sorted=True" in empty.missing(top, specs={"another"}) and "Tk=int64" in empty.missing(top)
    assert "sorted=False" in replace(empty, left_out={}).missing(top)
    assert replace(empty, left_out={"TopKV2": {"sorted": {"True": "", "Both": ""}}}).spent(raw_ops) == [
        "TopKV2.sorted=True",
        "TopKV2.sorted=Both",
    ]


@pytest.mark.parametrize("text", ['reason = ""', 'reason = "One."\n[[left_out]]\noptions = ["A.b=c"]\nreason = "Two."'])
def test_an_option_that_is_left_out_has_one_reason(tmp_path, text):
    (tmp_path / SHOWN).write_text("{}", "utf-8")
    (tmp_path / LEFT_OUT).write_text(f'[[left_out]]\noptions = ["A.b=c"]\n{text}\n', "utf-8")
    with pytest.raises(ValueError, match=r"A\.b=c: expected one reason"):
        Options.load(tmp_path)


class Unique(NamedTuple):
    """The results of an op with two."""

    y: np.ndarray
    idx: np.ndarray


class Recorder:
    """A stand-in for TensorFlow, whose raw ops return their arguments."""

    raw_ops = property(lambda self: self)
    name = "tf"
    as_dtype = staticmethod(np.dtype)

    def cast(self, x, dtype):
        return np.asarray(x).astype(dtype)

    def Unique(self, x, out_idx=np.int32):  # noqa: N802  an OpDef
        return Unique(x, np.arange(len(x)).astype(out_idx))

    def Size(self, input, out_type=np.int32):  # noqa: N802  an OpDef
        return np.asarray(len(input), out_type)

    def MatMul(self, **arguments):  # noqa: N802  an OpDef
        return arguments

    def Floor(self, x):  # noqa: N802
        return x


def test_a_program_gets_an_option_in_each_call_and_keeps_everything_else():
    program = changed(
        lambda tf, a: (tf.name, tf.raw_ops.Floor(x=a), tf.raw_ops.MatMul(a=a)), "MatMul", with_values({"grad_a": True})
    )
    assert program(Recorder(), 1) == ("tf", 1, {"a": 1, "grad_a": True})


def test_the_dtype_of_inputs_is_converted():
    program = changed(lambda tf, a: tf.raw_ops.MatMul(a=a, b=a), "MatMul", with_inputs(["b"], "int64"))
    result = program(Recorder(), np.int32(3))
    assert (result["a"].dtype, result["b"].dtype, result["b"]) == (np.int32, np.int64, 3)


def test_results_of_another_dtype_are_converted_back_and_others_stay():
    seen = []
    change = with_results("out_idx", "int64", "int32")
    call = lambda **arguments: seen.append(arguments["out_idx"]) or Recorder().Unique(**arguments)  # noqa: E731
    result = change(Recorder(), call, {"x": np.ones(2, "float64")})
    assert seen == [np.int64] and (result.y.dtype, result.idx.dtype) == (np.float64, np.int32)
    of_one = changed(lambda tf, x: tf.raw_ops.Size(input=x), "Size", with_results("out_type", "int64", "int32"))
    assert of_one(Recorder(), [1, 2]).dtype == np.int32


def test_a_program_that_does_not_call_the_op_is_an_error():
    with pytest.raises(LookupError, match=r"does not call tf\.raw_ops\.MatMul"):
        changed(lambda tf, a: tf.raw_ops.Floor(x=a), "MatMul", with_values({"grad_a": True}))(Recorder(), 1)


def test_an_op_has_a_spec_for_each_neutral_value_but_the_default():
    values = part(reference=np.matmul, recipes={"plain": lambda draw, d: (np.ones((2, 2), d),) * 2, "more": None})
    specs = op("product", "MatMul", values, arguments=("a", "b"), dtypes=("float64", "float32"))
    names = {spec.name: spec for spec in specs if spec.aspect == OPTION}
    assert set(names) == {"product-option-grad-a", "product-option-grad-b"}
    for spec in names.values():
        assert (spec.dtypes, list(spec.recipes), spec.reference) == (("float32",), ["plain"], np.matmul)
    assert names["product-option-grad-a"].program(Recorder(), 1, 2) == {"a": 1, "b": 2, "grad_a": True}
    silent = op("product", "MatMul", values, arguments=("a", "b"), without={OPTION: "for this test"})
    assert not [spec for spec in silent if spec.aspect == OPTION]


def test_an_integer_attribute_is_given_a_fraction_that_python_cuts_to_it():
    seen = []
    call = lambda *, input, axis=(0, -1), k=2: seen.append((axis, k))  # noqa: E731
    tf = SimpleNamespace(raw_ops=SimpleNamespace(Squeeze=call))
    values = part(reference=np.squeeze, recipes={"plain": lambda draw, d: (np.ones((2, 1), d),)})
    specs = op("squeezed", "Squeeze", values, arguments=("input",), dtypes=("float32",))
    (spec,) = (spec for spec in specs if spec.name == "squeezed-option-fractions")
    spec.program(tf, 1)
    assert seen == [([0.5, -1.5], 2)] and [int(axis) for axis in seen[0][0]] == [0, -1]
    assert (spec.reference, spec.modes) == (np.squeeze, ("eager", "function", "graph"))


def test_every_neutral_attribute_belongs_to_some_op(raw_ops):
    assert NEUTRAL.keys() <= {name for op in raw_ops.ops.values() for name in op.defaults}
