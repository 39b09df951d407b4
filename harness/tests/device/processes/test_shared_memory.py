"""Shared memory: arrays arrive as they were, and a segment that its owner has closed is not written to."""

import os

import numpy as np
import pytest

from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.device.processes.shared_memory import Placed, Segment, from_shared_memory, to_shared_memory

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="there is no such memory here")


def observation(*arrays):
    return Observation({f"output[{n}]": Result("value", a) for n, a in enumerate(arrays)})


@pytest.fixture
def segment():
    segment = Segment(4096)
    yield segment
    segment.close()


def test_arrays_go_through_a_segment_and_those_that_do_not_fit_beside_it(segment):
    arrays = [np.arange(3, dtype=np.float16), np.arange(500.0), np.arange(5, dtype=np.int64)]
    sent = to_shared_memory(observation(*arrays), segment.address)
    values = [result.value for result in sent.quantities.values()]
    assert values[:2] == [Placed(0, "float16", (3,)), Placed(64, "float64", (500,))]
    assert values[2] is arrays[2]
    received = from_shared_memory(sent, segment.address)
    for array, result in zip(arrays, received.quantities.values(), strict=True):
        assert result.value.dtype == array.dtype
        np.testing.assert_array_equal(result.value, array)


def test_a_segment_that_was_closed_is_not_taken_for_the_file_that_has_its_descriptor_now(segment, tmp_path):
    path = segment.address.split()[0]
    descriptor = int(path.rpartition("/")[2])
    segment.close()
    file = os.open(tmp_path / "shard.jsonl", os.O_RDWR | os.O_CREAT)
    os.write(file, b"results" * 100)
    if file != descriptor:
        os.dup2(file, descriptor)
        os.close(file)
    try:
        with pytest.raises(OSError, match="expected the file of the segment, got another file"):
            to_shared_memory(observation(np.ones(8)), segment.address)
    finally:
        os.close(descriptor)
    assert (tmp_path / "shard.jsonl").read_bytes() == b"results" * 100
