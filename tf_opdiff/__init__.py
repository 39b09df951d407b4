"""Differential testing of TensorFlow ops and gradient overrides across devices and execution modes.

`check` runs a callable of one's own on every device and in every mode; `uniform` is a domain of its inputs. `harness`,
`reports` and `suites` are the folders of these names at the top of the repository.
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

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tf_opdiff.checking.api import Checked as Checked
    from tf_opdiff.checking.api import Differs as Differs
    from tf_opdiff.checking.api import check as check
    from tf_opdiff.checking.api import uniform as uniform

_API = ("Checked", "Differs", "check", "uniform")


def __getattr__(name: str) -> Any:
    """The names of the API, imported when they are used: every process of a run imports this package."""
    if name in _API:
        from tf_opdiff.checking import api

        return getattr(api, name)
    raise AttributeError(f"module 'tf_opdiff' has no attribute {name!r}")
