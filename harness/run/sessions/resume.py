"""Resume: the options, the results and the code of an unfinished run that a session continues."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tf_opdiff.harness.run.sessions.import_graph import dependents
from tf_opdiff.harness.run.sessions.xdist_worker import is_worker
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.store.run_directories import run_code
from tf_opdiff.harness.store.run_directories.run_code import RunCode
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards import rewrite_shards
from tf_opdiff.harness.store.shards.merged import Merged, merge

#: The page of a report; a run without it is not whole.
PAGE = "index.html"


@dataclass(frozen=True)
class Resumed:
    """The run that a session continues.

    Attributes:
      merged: the lines of its shards, without those of cases that run again.
      kept: the ids of the cases whose results stay, if some run again because the code changed; else None.
    """

    merged: Merged
    kept: frozenset[str] | None = None

    def drop(self, directory: Path) -> None:
        """Takes the results of cases that run again out of the shards, so that no reader meets them.

        Compressed shards become whole: the next report has other records and arrays than those which they left to it.
        """
        if self.kept is None:
            rewrite_shards.expand(directory)
        else:
            rewrite_shards.keep(directory, self.kept)


def resumed(config: pytest.Config, catalog: Catalog) -> Resumed:
    """Reads the run that `--resume` names, and sets the other options to those of that run.

    Raises:
      ValueError: the run can't be resumed; the message says why, and what to do.
    """
    option, directory = config.option, Path(config.option.resume)
    info = _info(config, directory)
    option.device = [name for name, about in info.devices.items() if about["asked"]]
    option.mode, option.tier, option.case, option.no_sweep = info.modes, info.tier, info.cases, not info.sweeps
    merged = merge([directory])
    if not merged.items:
        raise ValueError(f"--resume {directory}: it had not begun: start it again")
    if is_worker(config):  # the controlling process has compared the code
        return Resumed(merged)
    return _of_this_code(config, directory, catalog, merged)


def _info(config: pytest.Config, directory: Path) -> RunInfo:
    """The run.json of a run that can be resumed."""
    option = config.option
    others = option.device or option.mode or option.op or option.case or option.run_dir or option.shard
    if others and not is_worker(config):  # a worker's options have been set already
        raise ValueError("--resume takes devices, modes, tier and cases from the run: expected no other selection")
    try:
        info = RunInfo.load(untrusted.without_links(directory))
    except (OSError, ValueError, TypeError) as why:
        raise ValueError(f"--resume {directory}: expected the directory of a run ({why})") from why
    if info.suites != config.getini("opdiff_suites"):
        raise ValueError(f"--resume {directory}: it is a run of {info.suites}")
    if info.state == "empty" or (info.state == "complete" and (directory / PAGE).exists()):
        says = f"python -m reports {directory} writes its report again"
        raise ValueError(f"--resume {directory}: that run is whole, there is nothing to resume; {says}")
    return info


def _of_this_code(config: pytest.Config, directory: Path, catalog: Catalog, merged: Merged) -> Resumed:
    """The run, if the code is the same; else without the cases that depend on what changed, if an option allows it."""
    now = RunCode.present(config.getini("opdiff_suites"), config.getini("opdiff_known"))
    before = RunCode.load(directory)
    happened = before.changes(now) if before else {}
    if before and not happened:
        return Resumed(merged)
    if not config.option.rerun_changed:
        what = run_code.sentence(happened) if before else f"it has no {run_code.NAME}, so its code is unknown"
        raise ValueError(
            f"--resume {directory}: expected the code with which that run began, got other code: {what}; "
            "--rerun-changed runs the items again that depend on it"
        )
    modules = {item.module for item in catalog.items}
    again = dependents(modules, happened) if before else modules
    kept = frozenset(c.id for i in catalog.items if i.module not in again for c in (*i.cases, *i.sweeps))
    return Resumed(merged.only(kept), kept)
