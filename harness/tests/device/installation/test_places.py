"""The place of a run is where its data were computed: shapes that TensorFlow computes on the CPU are no evidence."""

import json

import pytest

from tf_opdiff.harness.tests.forked_python import forked_python

#: Nodes as `OP DTYPE DEVICE`, the ops that the spec names, the dtype of the case, and the places of the run.
CASES = {
    "the op": ("Prod float32 GPU:0", "Prod", "float32", "GPU:0"),
    "on another device": ("Prod float32 CPU:0", "Prod", "float32", "CPU:0"),
    "on two devices": ("Prod float32 CPU:0, Prod float32 GPU:0", "Prod", "float32", "CPU:0;GPU:0"),
    "beside its own shapes": ("Prod int32 CPU:0, Prod float32 GPU:0", "Prod", "float32", "GPU:0"),
    "of integers alone": ("Prod int32 CPU:0", "Prod", "float32", "CPU:0"),
    "of integers that are the data": ("Prod int32 CPU:0, Prod int32 GPU:0", "Prod", "int32", "CPU:0;GPU:0"),
    "gone, beside a constant": ("Const float32 CPU:0, Mul float32 GPU:0", "Square", "float32", "GPU:0"),
    "gone, beside shapes": ("Prod int32 CPU:0, Mul float32 GPU:0", "Square", "float32", "GPU:0"),
    "gone, beside other data": ("Neg float32 CPU:0, Mul float32 GPU:0", "Square", "float32", "CPU:0;GPU:0"),
    "without a dtype": ("Bare - GPU:0", "Bare", "float32", "GPU:0"),
}
PROGRAM = """
import json, sys
import tensorflow as tf
from tf_opdiff.harness.device.programs.evidence import Evidence
from tf_opdiff.harness.device.programs.faults import places

def place(nodes, wanted, dtype):
    graph = tf.compat.v1.GraphDef()
    for node in nodes.split(", "):
        op, of, device = node.split()
        added = graph.node.add(op=op, device=f"/job:localhost/replica:0/task:0/device:{device}")
        if of != "-":
            added.attr["T"].type = tf.as_dtype(of).as_datatype_enum
    evidence = Evidence()
    evidence.note_partitions([graph])
    return ";".join(sorted(places([wanted], evidence, dtype)))

print(json.dumps([place(*case[:3]) for case in json.loads(sys.argv[1])]))
"""


@pytest.fixture(scope="module")
def places():
    done = forked_python("-c", PROGRAM, json.dumps(list(CASES.values())))
    assert done.returncode == 0, done.stderr
    return dict(zip(CASES, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("case", CASES)
def test_the_place_of_a_run_is_that_of_its_data(places, case):
    assert places[case] == CASES[case][3]
