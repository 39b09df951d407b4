"""Keras calls: the spec of a program that calls several classes of Keras."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.calls import Calls, fields, inputs


def spec_of(
    name: str, calls: Calls, classes: Iterable[str], recipes: Mapping[str, Any], *, gradient: bool = True, **more: Any
) -> Spec:
    """The spec, in the full tier, in float32 and float64.

    Args:
      name: the name of the spec.
      calls: label → a call: see `suites.forms.calls`.
      classes: the classes that the run must call, such as `layers.Dense`.
      recipes: name → the elements of the inputs of each call: see `suites.forms.calls.inputs`.
      gradient: whether gradients are promised.
      more: further fields of the spec.
    """
    declared: dict[str, Any] = {
        **fields(calls, gradient=gradient, rounded=("output", "grad") if gradient else ("output",)),
        "recipes": {label: inputs(calls, elements) for label, elements in recipes.items()},
        "ops": "",
        "evidence": ";".join(dict.fromkeys(f"called:keras.{each}" for each in classes)),
        "dtypes": ("float32", "float64"),
        "tier": "full",
    }
    return Spec(name=name, **declared | more)
