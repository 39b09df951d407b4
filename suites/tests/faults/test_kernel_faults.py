"""`bench.kernel_faults`: the suites see faults of kernels; a right result is none, and one out of reach is not seen."""

from dataclasses import replace

import numpy as np
import pytest

from bench.faults import FAULTS
from bench.faults.arithmetic import wide
from bench.kernel_faults import main, results, subjects_of
from bench.planter import Fault, outputs

#: Ops whose cases are quick to promise: about a second each.
_QUICK = (
    *("BatchMatMul", "MatMul", "MatrixSolve", "NonMaxSuppressionV3", "ResizeBilinear", "ResourceScatterUpdate"),
    *("ScatterNdAdd", "Softmax", "SparseApplyAdagrad", "StatelessRandomNormalV2", "UniqueWithCounts"),
)
_OF_QUICK = [fault for fault in FAULTS if fault.op in _QUICK]


@pytest.fixture(scope="module")
def seen():
    """The first case that sees each fault, by the op and the words of the fault."""
    return {(fault.op, fault.says): cases for fault, cases in results(_OF_QUICK, "default", most=1)}


@pytest.mark.parametrize("fault", _OF_QUICK, ids=lambda fault: f"{fault.op}: {fault.says}")
def test_every_fault_is_seen_by_a_case_of_its_op(fault, seen):
    assert seen[fault.op, fault.says]


def test_right_results_are_no_fault():
    def right(a, b, transpose_a=False, transpose_b=False, **_):
        return np.matmul(wide(a.T if transpose_a else a), wide(b.T if transpose_b else b))

    fault = Fault("MatMul", "none", "none", right)
    planted = [
        outputs(s.case, s.inputs, fault) for s in subjects_of("MatMul", "default") if s.case.spec.derivatives.vjp
    ]
    assert sum(map(len, planted)) > 10
    assert [cases for _, cases in results([fault], "default")] == [[]]


def test_a_fault_that_no_case_reaches_is_not_seen(monkeypatch, capsys):
    of_matmul = next(fault for fault in FAULTS if fault.op == "MatMul")
    far = replace(of_matmul, says="beyond 4,000 columns", f=lambda a, b, **_: None)
    monkeypatch.setattr("bench.kernel_faults.FAULTS", [far])
    assert main([]) == 1
    assert "NOT SEEN  MatMul: beyond 4,000 columns" in capsys.readouterr().out
