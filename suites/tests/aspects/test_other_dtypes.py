"""Every dtype that TensorFlow has is tested or refused by promise, for every OpDef that specs are about."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.inputs.recipes import INTEGERS
from tf_opdiff.harness.spec.lists.raw_ops import SHAPE_DTYPES, RawOps
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.tests.forked_python import forked_python
from tf_opdiff.suites.derived.op_types import DTYPES, FILE, REMOVED, WITHOUT_TWINS, OpTypes, every_op, without_twins
from tf_opdiff.suites.derived.other_dtypes import NO_XLA, twins_of
from tf_opdiff.suites.derived.refused_calls import refused_calls

OPS = {op.name: op for op in every_op()}
#: Ops whose input is a handle: their dtype is that of a variable, which no attribute of an input gives.
HANDLES = {"ResourceGather", "ResourceGatherNd"}
#: OpDef without twins → the dtypes that it computes with, but that no spec is about; each line ends with the reason.
LINES = Path(__file__).with_name("untested_dtypes.txt").read_text("utf-8").splitlines()
UNTESTED = {line.split()[0].rstrip(":"): line.partition(":")[0].split()[1:] for line in LINES}
_COMPLEX = {"complex64", "complex128"}
#: Dtypes for which XLA alone has a kernel, and whose values no spec promises, by OpDef.
_IN_XLA, _HALVES = {"qint8", "quint8", "qint32"}, {"float16", "bfloat16"}
_NIBBLES = {"int4", "uint4"}
_SIGNED = {"int8", "int16", "int32", "int64"}
WITHOUT_VALUES = {
    # Nothing documents whether sums and limits of quantized numbers are those of their bits.
    **dict.fromkeys(("AddN", "ApproximateEqual", "ClipByValue", "Select", "SelectV2"), _IN_XLA),
    **dict.fromkeys(("ArgMax", "ArgMin", "Max", "Mean", "Min", "Prod", "Sum"), _IN_XLA),
    "Relu": {"qint8"},
    # Nothing documents the floor of a complex quotient, or the quotient of integers that is not an integer.
    **dict.fromkeys(("FloorDiv", "TruncateDiv"), _COMPLEX),
    **dict.fromkeys(("Inv", "Reciprocal"), _SIGNED),
    "RealDiv": set(INTEGERS),
    # XLA leaves half of a result of 4 bits unwritten, and two runs may agree in it or not.
    **dict.fromkeys(("ConcatV2", "Pack"), _NIBBLES),
    # XLA alone multiplies matrices of these, and no other mode can be compared with it.
    "BatchMatMulV2": {"uint8", "uint16", "uint32", "uint64"},
    "Einsum": {"uint64"},
    # The references are right for these; the errors of XLA have not been measured.
    **dict.fromkeys(("Igamma", "Igammac"), _HALVES),
}


def specs_by_op() -> dict[str, list[Spec]]:
    """The specs of `suites.ops` about each OpDef."""
    by_op = defaultdict(list)
    for spec in Catalog.load("tf_opdiff.suites.ops").specs.values():
        if isinstance(spec.ops, str) and spec.ops and ";" not in spec.ops:
            by_op[spec.ops].append(spec)
    return by_op


def named(spec: Spec, dtype: str) -> str:
    """TensorFlow's name of the dtype with which a spec computes in a case."""
    text = {"bytes": "string", "object": "string"}.get(dtype, dtype)
    return f"q{text}" if spec.name.endswith("-quantized") else text


def computed(specs: Iterable[Spec], *, inputs: bool) -> set[str]:
    """The names of the dtypes of cases; with `inputs`, of all inputs of the cases of one dtype of each spec."""
    names = set()
    for spec in specs:
        names |= {named(spec, dtype) for dtype in spec.dtypes}
        if inputs:
            names |= {x.dtype.name for case in spec.cases(spec.dtypes[0]) for x in case.inputs()}
    return names


def uncovered(op: OpTypes, specs: Sequence[Spec]) -> Iterator[str]:
    """The attributes and dtypes of an OpDef that neither a spec nor a twin is about."""
    for number, attr in enumerate(op.attrs):
        promised = {named(twin, dtype) for twin in twins_of(op, attr) if twin.aspect != NO_XLA for dtype in twin.dtypes}
        typed_by_another = number > 0 or next(iter(op.inputs.values())).rstrip("*") != attr
        known = computed(specs, inputs=typed_by_another) | promised
        yield from (f"{op.name} {attr} {dtype}" for dtype in DTYPES if dtype not in known)


@pytest.fixture(scope="module")
def by_op():
    return specs_by_op()


def test_the_file_has_every_op_def_that_a_spec_is_about(by_op):
    assert set(by_op) == set(OPS) | set(WITHOUT_TWINS) | set(REMOVED)


def test_the_list_of_ops_without_twins_shrinks():
    assert not (set(OPS) | set(REMOVED)) & set(WITHOUT_TWINS)
    assert len(WITHOUT_TWINS) <= 331 and all(op.attrs for op in without_twins())


def values_without_spec(op: OpTypes, specs: Sequence[Spec]) -> list[str]:
    """The dtypes of the data of an OpDef without twins for which a CPU has a kernel, and no spec values.

    The types of indices, sizes and shapes are options: see `test_options`. NumPy has no quantized dtypes.
    """
    attr = RawOps.load().ops[op.name].data
    if attr not in op.attrs or attr in SHAPE_DTYPES:
        return []
    known = computed(specs, inputs=True) | {*op.disallowed(attr), *op.without_kernel(attr)}
    return [dtype for dtype in DTYPES if dtype not in known and "qu" not in dtype and not dtype.startswith("q")]


def test_each_dtype_without_a_spec_has_a_reason(by_op):
    found = {op.name: values_without_spec(op, by_op[op.name]) for op in without_twins()}
    assert {name: dtypes for name, dtypes in found.items() if dtypes} == UNTESTED


def test_every_op_without_twins_stands_in_the_program_about_refused_calls():
    named = {
        text.decode().split(":")[0].split()[0] for spec in refused_calls([*without_twins()]) for text in texts(spec)
    }
    assert named >= {op.name for op in without_twins() if any(map(op.disallowed, op.attrs))}


def texts(spec: Spec) -> Iterator[bytes]:
    """What a spec about refused calls promises."""
    return (text for case in spec.cases() for text in spec.reference(*case.inputs()))


@pytest.mark.parametrize("name", sorted(set(OPS) - HANDLES))
def test_every_dtype_is_tested_or_promised(by_op, name):
    assert list(uncovered(OPS[name], by_op[name])) == []


@pytest.mark.parametrize("name", sorted(name for name in set(OPS) - HANDLES if OPS[name].attrs))
def test_the_values_that_xla_alone_computes_are_tested_or_listed(by_op, name):
    attr, op = OPS[name].attrs[0], OPS[name]
    of_xla = set(op.without_kernel(attr)) - set(op.without_kernel(attr, xla=True))
    tested = computed([spec for spec in by_op[name] if "xla" in spec.modes], inputs=False)
    assert of_xla - tested == WITHOUT_VALUES.get(name, set())


def test_a_dtype_that_neither_a_spec_nor_a_twin_has_is_named(by_op):
    without = [replace(spec, dtypes=("float32",)) for spec in by_op["Floor"] if "float32" in spec.dtypes]
    lacking = ["Floor T float64", "Floor T bfloat16", "Floor T float16"]
    assert list(uncovered(OPS["Floor"], without)) == lacking


def table(*others: str) -> str:
    """The text of the file, written by the installed TensorFlow."""
    process = forked_python("-m", "tf_opdiff.harness.device.installation.op_types", "tf_opdiff.suites.ops", *others)
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_the_file_is_that_of_the_installed_tensorflow():
    assert table(*WITHOUT_TWINS) == FILE.read_text("utf-8")


def test_each_untested_dtype_has_one_line():
    assert len(UNTESTED) == len(LINES) and all(line.partition(": ")[2] for line in LINES)


def test_a_kernel_or_a_dtype_that_the_file_lacks_is_red(run_module):
    """The planted twins and calls expect errors of Floor for dtypes that it computes with."""
    records = run_module("tf_opdiff.suites.tests.planted.planted_other_dtypes", ["eager"], ["float32", "int32"])
    verdicts = {(r.spec, r.dtype): (r.verdict, r.kind, r.got) for r in records if r.against == "numpy"}
    value = ("mismatch", "status", "value float32[4]")
    assert verdicts["floor-other-dtypes", "float32"] == verdicts["floor-dtypes-of-xla", "float32"] == value
    assert verdicts["floor-other-dtypes", "int32"][0] == verdicts["eager-other-dtypes", "int32"][0] == "match"
    assert verdicts["eager-other-dtypes", "float32"] == ("mismatch", "value", "b'Floor: no error'")
    assert verdicts["every-op-refused", "float32"] == ("mismatch", "value", "b'Floor: no error'")
    assert verdicts["every-op-refused", "int32"][0] == "match"
