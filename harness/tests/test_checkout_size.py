"""The checkout stays small: everyone who uses the project copies it, with its recordings."""

import os
import subprocess

from tf_opdiff.harness.paths import ROOT

#: Bytes that the tracked files may have together.
LARGEST = 40 << 20


def test_the_tracked_files_have_at_most_40_mib():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [name for name in listed.split("\0") if name and os.path.lexists(ROOT / name)]
    assert len(files) > 1000, "expected the files of a checkout"
    sizes = {name: os.lstat(ROOT / name).st_size for name in files}
    largest = ", ".join(f"{name} {sizes[name] / 2**20:.1f}" for name in sorted(files, key=sizes.__getitem__)[-8:][::-1])
    total = sum(sizes.values())
    advice = "give recordings a base: python -m harness rebase NAME --base OTHER"
    assert total <= LARGEST, f"{total / 2**20:.1f} MiB, expected at most {LARGEST >> 20}; {advice}; MiB: {largest}"
