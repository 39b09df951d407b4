"""XLA is asked once for a program that lacks a kernel; a program that fails for another reason is tried again."""

from tf_opdiff.harness.tests.forked_python import forked_python

#: Runs two programs twice each, with inputs of different shapes, which trace them anew; prints the numbers of traces.
COUNT = """
import numpy as np
import tensorflow as tf
from tf_opdiff.harness.device.programs.evidence import Evidence
from tf_opdiff.harness.device.programs.modes import xla
from tf_opdiff.harness.device.request import Arguments
from tf_opdiff.harness.spec.spec import Spec

def outcomes(op):
    traces, messages = [], []

    def program(tf, x):
        traces.append(x.shape)
        return op(x)

    spec = Spec(name="planted", ops="", program=program, reference=np.sin, recipes={"plain": np.sin})
    run = xla(spec, "CPU:0", Evidence())
    for size in (3, 4):
        try:
            run(Arguments((np.ones(size, np.float32),)))
            messages.append("")
        except tf.errors.OpError as error:
            messages.append(error.message)
    return len(traces), messages

def fails_of_three(x):
    if x.shape == [3]:
        raise tf.errors.InvalidArgumentError(None, None, "three")
    return x + 1

count, (one, other) = outcomes(tf.math.special.bessel_k0)
print(count, "XLA_CPU_JIT" in one and one == other)
print(*outcomes(fails_of_three))
"""


def test_a_program_without_a_kernel_is_not_compiled_again_and_another_failure_is_tried_again():
    process = forked_python("-c", COUNT)
    assert process.returncode == 0, process.stderr
    assert process.stdout.splitlines() == ["1 True", "2 ['three', '']"]
