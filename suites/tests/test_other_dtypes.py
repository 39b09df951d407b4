"""Every dtype that TensorFlow has is tested or refused by promise, for every OpDef that specs are about."""

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import pytest

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.recipes import INTEGERS
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.tests.patience import PATIENCE
from tf_opdiff.suites.derived.op_types import DTYPES, FILE, OpTypes, every_op
from tf_opdiff.suites.derived.other_dtypes import twins_of

OPS = {op.name: op for op in every_op()}
#: Ops whose input is a handle: their dtype is that of a variable, which no attribute of an input gives.
HANDLES = {"ResourceGather", "ResourceGatherNd"}
#: Dtypes that a kernel takes and that no spec computes with yet, by OpDef.
_COMPLEX = {"complex64", "complex128"}
_QUANTIZED = {"qint8", "quint8", "qint16", "quint16", "qint32"}
NOT_YET = {
    "AddN": _COMPLEX,
    "Cast": {"string", "int2", "uint2", "float4_e2m1fn", *_QUANTIZED},
    "ClipByValue": _COMPLEX,
    "Equal": _QUANTIZED,
    "GatherNd": {"qint8", "quint8", "qint32"},
    "GatherV2": _QUANTIZED,
    "InvGrad": _COMPLEX,
    "NotEqual": _QUANTIZED,
    "ReciprocalGrad": _COMPLEX,
    "Relu6Grad": set(INTEGERS),
    "ReluGrad": set(INTEGERS),
    "RsqrtGrad": _COMPLEX,
    "SigmoidGrad": _COMPLEX,
    "SqrtGrad": _COMPLEX,
    "TanhGrad": _COMPLEX,
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
        promised = {
            named(twin, dtype)
            for twin in twins_of(op, attr)
            if "-dtypes-without-xla" not in twin.name
            for dtype in twin.dtypes
        }
        known = computed(specs, inputs=number > 0) | promised
        yield from (f"{op.name} {attr} {dtype}" for dtype in DTYPES if dtype not in known)


@pytest.fixture(scope="module")
def by_op():
    return specs_by_op()


def test_the_file_has_every_op_def_that_a_spec_is_about(by_op):
    assert set(by_op) == set(OPS)


@pytest.mark.parametrize("name", sorted(set(OPS) - HANDLES))
def test_every_dtype_is_tested_or_promised(by_op, name):
    assert {text.split()[-1] for text in uncovered(OPS[name], by_op[name])} == NOT_YET.get(name, set())


def test_a_dtype_that_neither_a_spec_nor_a_twin_has_is_named(by_op):
    without = [replace(spec, dtypes=("float32",)) for spec in by_op["Floor"] if "float32" in spec.dtypes]
    lacking = ["Floor T float64", "Floor T bfloat16", "Floor T float16"]
    assert list(uncovered(OPS["Floor"], without)) == lacking


def test_the_file_is_that_of_the_installed_tensorflow():
    command = [sys.executable, "-m", "tf_opdiff.harness.device.op_types", "tf_opdiff.suites.ops"]
    process = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert process.returncode == 0, process.stderr
    assert process.stdout == FILE.read_text("utf-8")


def test_a_kernel_or_a_dtype_that_the_file_lacks_is_red(run_module):
    """The planted twins expect errors of Floor for dtypes that it computes with."""
    records = run_module("tf_opdiff.suites.tests.planted_other_dtypes", ["eager"], ["float32", "int32"])
    verdicts = {(r.spec, r.dtype): (r.verdict, r.kind, r.got) for r in records if r.against == "numpy"}
    value = ("mismatch", "status", "value float32[4]")
    assert verdicts["floor-other-dtypes", "float32"] == verdicts["floor-dtypes-of-xla", "float32"] == value
    assert verdicts["floor-other-dtypes", "int32"][0] == verdicts["eager-other-dtypes", "int32"][0] == "match"
    assert verdicts["eager-other-dtypes", "float32"] == ("mismatch", "value", "b'Floor: no error'")
