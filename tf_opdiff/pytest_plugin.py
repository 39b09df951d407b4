"""pytest plugin: the fixture `opdiff`, in every project that has tf-opdiff installed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tf_opdiff.checking.api import Checked


@pytest.fixture
def opdiff(request: pytest.FixtureRequest) -> Callable[..., Checked]:
    """`tf_opdiff.check`; the message of a failure ends with the command that runs this test again."""
    from tf_opdiff.checking.api import check  # half a second, for tests that use it

    return partial(check, rerun=f"pytest '{request.node.nodeid}'")
