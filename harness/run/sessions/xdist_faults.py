"""xdist faults: a run ends with its report when xdist itself fails, as when a worker dies while it starts.

xdist replaces a worker that dies later. One that dies while it starts ends xdist with an error.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Generator
from contextlib import closing
from typing import Any

import pytest

from tf_opdiff.harness.run.sessions.session import Session
from tf_opdiff.harness.run.sessions.session_hooks import SESSION, items_of
from tf_opdiff.harness.run.sessions.xdist_worker import is_worker
from tf_opdiff.harness.store.run_directories.rundir import open_shard

#: The errors that xdist raises when a worker is gone.
_ERRORS = (OSError, EOFError, RuntimeError, AssertionError, KeyError)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> Generator[None, Any, Any]:
    """Lets a session begin although a worker died while it started; `pytest_runtestloop` then finds no worker."""
    try:
        return (yield)
    except _ERRORS as why:
        if not _note(session, "a worker of xdist ended while it started, so that nothing was run", why):
            raise
        return None


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, Any, Any]:
    """Ends the run with its report if xdist fails, as when a worker dies while it replaces another one."""
    try:
        return (yield)
    except _ERRORS as why:
        ours = _note(session, "xdist failed, so that not all was run", why)
        if not ours:
            raise
        if not session.testscollected:
            _plan(session, ours)
        return True


def _note(session: pytest.Session, what: str, why: BaseException) -> Session | None:
    """Notes the first failure of xdist in the run; returns the run, or None if there is no run with xdist."""
    ours = session.config.stash.get(SESSION, None)
    if not ours or is_worker(session.config) or not getattr(session.config.option, "numprocesses", None):
        return None
    if not ours.faults:
        ours.faults.append(f"{what}: {type(why).__name__}: {why}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # about the worker that xdist was starting
        traceback.clear_frames(why.__traceback__)
    return ours


def _plan(session: pytest.Session, ours: Session) -> None:
    """Writes the items that would have run to a shard of this process: no worker has collected any."""
    assert ours.directory is not None
    session.perform_collect()
    with closing(open_shard(ours.directory, "main")) as shard:
        shard.write("plan", items=[item.id for item in items_of(session)])
