"""Subnormals: the sides of contracts on which a processor takes them for zeros."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.reference.subnormal import DENORMALS, LINK, WHY, flushed


def flushing(reference: Callable[..., Any], why: str = WHY) -> Side:
    """The side that promises the reference's result for inputs whose subnormals are zeros."""
    return Side(reference=lambda *xs: reference(*map(flushed, xs)), why=why, link=LINK, unless=DENORMALS)
