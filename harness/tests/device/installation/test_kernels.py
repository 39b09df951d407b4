"""The list of kernels says exactly what TensorFlow's registry says."""

from tf_opdiff.harness.tests.forked_python import forked_python

#: Compares the list with the registry, one kernel and one combination of dtypes at a time.
COMPARE = """
import itertools
import tensorflow as tf
from tensorflow.python.framework import kernels as registry
from tf_opdiff.harness.device.installation.kernels import registered

def combinations(row):
    return {frozenset(zip(row, types)) for types in itertools.product(*row.values())}

listed = registered()
wanted = {}
for kernel in registry.get_all_registered_kernels().kernel:
    row = {c.name: [tf.as_dtype(t).name for t in c.allowed_values.list.type] for c in kernel.constraint}
    row = {name: types for name, types in row.items() if types}
    if not kernel.label and len(row) < 3:
        wanted.setdefault((kernel.op, kernel.device_type), set()).update(combinations(row))
checked = 0
for (op, kind), combined in wanted.items():
    rows = listed[op][kind]
    if all(len(row) < 3 for row in rows):
        assert set().union(*map(combinations, rows)) == combined, (op, kind, rows)
        checked += 1
assert checked > 2000, checked
labelled = {kernel.op for kernel in registry.get_all_registered_kernels().kernel if kernel.label}
assert labelled
print(len(listed["Cast"]["GPU"]), listed["If"]["CPU"], "XLA_CPU_JIT" in listed["Asinh"])
"""


def test_the_list_of_kernels_is_that_of_the_registry():
    process = forked_python("-c", COMPARE)
    assert process.returncode == 0, process.stderr
    few, unconstrained, xla = process.stdout.split(maxsplit=2)[0], "[{}]", "True"
    assert 1 < int(few) < 20  # int4 casts to integers only: one dict cannot say that
    assert process.stdout.split()[1:] == [unconstrained, xla]


#: Finds the op without a kernel in the placer's message about ops that must be on one device.
COLOCATED = r"""
from tf_opdiff.harness.device.installation.kernels import ops_without_kernel
from tf_opdiff.harness.device.observation import Result

message = '''Cannot assign a device for operation map/TensorArray_3: Could not satisfy explicit device specification ''
because the node {{colocation_node map/TensorArray_3}} was
colocated with a group of nodes that required incompatible device '/device:GPU:0'. Devices: CPU:0.
Root Member(requested_device_name_='/device:GPU:0' supported_device_types_=[CPU] possible_devices_=[]
Range: GPU CPU
TensorArrayWriteV3: CPU
Cast: GPU CPU
'''
print(ops_without_kernel({"output[0]": Result("error", code="INVALID_ARGUMENT", message=message)}))
"""


def test_a_group_of_ops_without_a_common_device_names_the_op_that_lacks_a_kernel():
    process = forked_python("-c", COLOCATED)
    assert process.stdout.split("\n")[0] == "['TensorArrayWriteV3']", process.stderr
