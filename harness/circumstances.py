"""Circumstances: what has to be the same wherever the parts of one run ran, and in what it is not."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

#: What TensorFlow says of a device that tells one model from another.
MODEL = ("device_name", "compute_capability")
_K = TypeVar("_K", bound=Hashable)


def apart(told: Mapping[_K, Mapping[str, str]]) -> dict[str, dict[_K, str]]:
    """In what some differ of whom each tells facts by name: each such name, with what each says, if only nothing."""
    names = dict.fromkeys(name for facts in told.values() for name in facts)
    said = {name: {who: facts.get(name, "") for who, facts in told.items()} for name in names}
    return {name: values for name, values in said.items() if len(set(values.values())) > 1}
