"""Differential testing of TensorFlow ops and gradient overrides across devices and execution modes.

`check` runs a callable of one's own on every device and in every mode; `uniform` is a domain of its inputs. `harness`,
`reports` and `suites` are the folders of these names at the top of the repository.
"""

from __future__ import annotations

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
