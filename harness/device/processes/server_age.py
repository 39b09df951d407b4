"""Server age: how much of its limits a process has used.

XLA maps memory for each program that it compiles, and a process has at most 65,530 mappings on most machines. A device
server that ran out of them would crash in a program that is not at fault.
"""

from __future__ import annotations

import re
import resource
from pathlib import Path

#: A server is replaced when it has used up this share.
SHARE = 0.5
#: It is looked at after each request of this number: to count 30,000 mappings takes 20 ms.
EVERY = 16


def worn() -> bool:
    """Whether this process has used up half of its mappings, or half of the memory that it may allocate."""
    try:
        most = int(Path("/proc/sys/vm/max_map_count").read_bytes())
        mappings = Path("/proc/self/maps").read_bytes().count(b"\n")
        kib = re.search(r"VmData:\s+(\d+)", Path("/proc/self/status").read_text("utf-8"))
    except OSError:  # not Linux
        return False
    limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
    data = int(kib[1]) << 10 if kib and limit != resource.RLIM_INFINITY else 0
    return mappings > SHARE * most or data > SHARE * limit > 0
