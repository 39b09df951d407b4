"""Every dtype that TensorFlow has is tested or refused by promise, for every OpDef that specs are about."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import pytest

from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.inputs.recipes import INTEGERS
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.tests.forked_python import forked_python
from tf_opdiff.suites.derived.op_types import DTYPES, FILE, REMOVED, TO_DO, OpTypes, every_op
from tf_opdiff.suites.derived.other_dtypes import NO_XLA, twins_of

OPS = {op.name: op for op in every_op()}
#: Ops whose input is a handle: their dtype is that of a variable, which no attribute of an input gives.
HANDLES = {"ResourceGather", "ResourceGatherNd"}
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
    assert set(by_op) == set(OPS) | set(TO_DO) | set(REMOVED)


def test_the_list_of_ops_without_specs_about_refusals_shrinks():
    assert not (set(OPS) | set(REMOVED)) & set(TO_DO)
    assert len(TO_DO) <= 331


def test_each_op_of_the_list_has_a_dtype_to_test_or_to_refuse(installed):
    assert [name for name in TO_DO if not installed[name].attrs] == []


def test_the_ops_of_the_list_that_take_a_dtype_without_a_spec_get_fewer(installed, by_op):
    """The others lack only the promises of refusals."""
    assert len([name for name in TO_DO if [*uncovered(installed[name], by_op[name])]]) <= 139


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


def table(*left_out: str) -> str:
    """The text of the file, written by the installed TensorFlow."""
    process = forked_python("-m", "tf_opdiff.harness.device.installation.op_types", "tf_opdiff.suites.ops", *left_out)
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.fixture(scope="module")
def installed() -> dict[str, OpTypes]:
    """The types of every OpDef that specs are about, those of the list too, in the installed TensorFlow."""
    return {name: OpTypes(name=name, **types) for name, types in json.loads(table())["ops"].items()}


def test_the_file_is_that_of_the_installed_tensorflow():
    assert table(*TO_DO) == FILE.read_text("utf-8")


def test_a_kernel_or_a_dtype_that_the_file_lacks_is_red(run_module):
    """The planted twins expect errors of Floor for dtypes that it computes with."""
    records = run_module("tf_opdiff.suites.tests.planted.planted_other_dtypes", ["eager"], ["float32", "int32"])
    verdicts = {(r.spec, r.dtype): (r.verdict, r.kind, r.got) for r in records if r.against == "numpy"}
    value = ("mismatch", "status", "value float32[4]")
    assert verdicts["floor-other-dtypes", "float32"] == verdicts["floor-dtypes-of-xla", "float32"] == value
    assert verdicts["floor-other-dtypes", "int32"][0] == verdicts["eager-other-dtypes", "int32"][0] == "match"
    assert verdicts["eager-other-dtypes", "float32"] == ("mismatch", "value", "b'Floor: no error'")
