"""Exit status: the number with which a run ends, and the meaning of each."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

#: Every exit status of a run and its meaning. A report of a run and the documentation use these sentences.
MEANINGS: Mapping[int, str] = {
    0: "Clean: every planned test ran, and every result agreed.",
    1: "At least one result differs. After `-x` or `--maxfail`, the report lists the tests that did not run.",
    2: "SIGINT, SIGTERM or SIGHUP interrupted the run; the report says so. A second signal ends the run at once, "
    "without a report.",
    3: "A fault of the suite itself: a broken reference, an op that ran on another device than planned, a planned "
    "cell without a result, nothing tested at all, a deleted run directory, a full disk.",
    4: "Wrong usage: an unknown or absent device, mode, tier, op or case; a malformed list of known failures or "
    "maturity list; a run directory that cannot be written; a TensorFlow older than 2.18.",
    5: "The options selected nothing.",
}


def exit_status(status: int, at_fault: bool) -> int:
    """The session's exit status from pytest's own; a fault of the suite outweighs discrepancies."""
    ended = (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED)
    return int(pytest.ExitCode.INTERNAL_ERROR if at_fault and status not in ended else status)
