"""Op attributes: the attributes of OpDefs that choose among kernels, as the registry of kernels has them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

from tf_opdiff.harness.paths import RAW_OPS
from tf_opdiff.harness.spec.lists.raw_ops import REGISTRY


@cache
def attributes_of(raw: str) -> Mapping[str, Collection[Any] | str]:
    """Attribute → its allowed values, or the type of its values; nothing for an OpDef that the registry lacks."""
    return _registry().get(raw, {}).get("attributes", {})


@cache
def _registry() -> Mapping[str, Any]:
    ops: Mapping[str, Any] = json.loads((RAW_OPS / REGISTRY).read_text("utf-8"))["ops"]
    return ops
