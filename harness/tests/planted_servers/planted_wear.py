"""Programs that use up mappings of memory: each alone has enough, and both together have not."""

import mmap
from functools import cache
from pathlib import Path

from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.tests.planted_specs.planted import floor

MOST = int(Path("/proc/sys/vm/max_map_count").read_text())


@cache
def _mapped(name):
    """Six tenths of all mappings, once; neighbours have other rights, so that the kernel joins none."""
    rights = (mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE)
    return [mmap.mmap(-1, mmap.PAGESIZE, prot=rights[i % 2]) for i in range(MOST * 6 // 10)]


def _mapping(name):
    return lambda tf, x: (_mapped(name), tf.floor(x))[1]


SPECS = (
    floor("first", _mapping("first"), modes=("eager",)),
    floor("between", lambda tf, x: tf.floor(x), modes=("eager",), recipes={f"r{i}": plain for i in range(16)}),
    floor("second", _mapping("second"), modes=("eager",)),
)
