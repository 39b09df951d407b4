"""Differential testing of TensorFlow ops and gradient overrides across devices and execution modes.

`check` runs a callable of one's own on every device and in every mode; `check_override` says where TensorFlow applies
its gradient override; `uniform` is a domain of its inputs. `harness`, `reports` and `suites` are the folders of these
names at the top of the repository.
"""

from __future__ import annotations

import os
import sys


def _leave_current_folder() -> None:
    """Takes the current folder off the path where `python -m` put it, unless this package is in it.

    The current folder may be a run directory from anywhere: a `pandas.py` in it would be imported. `python -m` imports
    this package before any other module of ours.
    """
    as_module = sys.argv[:1] == ["-m"] or getattr(sys.modules["__main__"], "__spec__", None) is not None
    words, here = sys.orig_argv, os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    module = words[words.index("-m") + 1] if "-m" in words[:-1] else ""
    if as_module and module.partition(".")[0] in ("tf_opdiff", "harness", "reports") and not sys.flags.safe_path:
        current = os.getcwd()
        if sys.path[0] == current and os.path.realpath(current) != os.path.realpath(here):
            del sys.path[0]


_leave_current_folder()

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tf_opdiff.checking.api import Checked as Checked
    from tf_opdiff.checking.api import Differs as Differs
    from tf_opdiff.checking.api import check as check
    from tf_opdiff.checking.api import uniform as uniform
    from tf_opdiff.checking.overrides.api import NotApplied as NotApplied
    from tf_opdiff.checking.overrides.api import OverrideChecked as OverrideChecked
    from tf_opdiff.checking.overrides.api import check_override as check_override

_API = {
    "api": ("Checked", "Differs", "check", "uniform"),
    "overrides.api": ("NotApplied", "OverrideChecked", "check_override"),
}


def __getattr__(name: str) -> Any:
    """The names of the API, imported when they are used: every process of a run imports this package."""
    for module, names in _API.items():
        if name in names:
            return getattr(import_module(f"tf_opdiff.checking.{module}"), name)
    raise AttributeError(f"module 'tf_opdiff' has no attribute {name!r}")
