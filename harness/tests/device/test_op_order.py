"""The ops of a record come in one order in every process and mode: that of the alphabet."""

from tf_opdiff.harness.spec.plan import MODES


def test_the_order_of_ops_depends_neither_on_the_process_nor_on_the_mode(run_module):
    records = run_module("tf_opdiff.harness.tests.planted_specs.planted_op_order", modes=MODES)
    assert {record.verdict for record in records} == {"match"}
    orders = {record.mode: [op for op in record.raw_op.split(";") if op != "PartitionedCall"] for record in records}
    assert orders == {mode: ["Abs", "Ceil", "Exp", "Floor", "Log1p", "Rsqrt", "Sign", "Square"] for mode in MODES}
