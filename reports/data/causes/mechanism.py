"""Mechanism: the part of TensorFlow in which a discrepancy arises, as far as its cause, plans and numbers show it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tf_opdiff.harness.repro.trials.attribution import NONE
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.reports.data.causes.discrepancy import Discrepancy

#: The mechanisms in the order of the page, each with the rule that assigns it. The first rule that holds decides.
MECHANISMS: Mapping[str, str] = {
    "Missing check": "TensorFlow returns a value where an error is expected.",
    "Grappler rewrite": "A setting or the recorded cause names Grappler or one of its rewriters.",
    "oneDNN": "A setting or the recorded cause names oneDNN.",
    "XLA lowering": "Only plans with XLA show it, or a setting names XLA.",
    "Gradient formula": "The example is a gradient, and plans without XLA show it.",
    "Eigen": "The recorded cause names Eigen.",
    "Kernel or function": "None of the rules above holds.",
}
#: The mechanism of the variant of a device, by the name of its setting.
_OF_SETTING = {
    "norewriter": "Grappler rewrite",
    "nohlo": "XLA lowering",
    "noexcess": "XLA lowering",
    "noonednn": "oneDNN",
}
_GRAPPLER = re.compile(r"\bGrappler|\bremapper\b", re.IGNORECASE)


def mechanism(one: Discrepancy) -> str:
    """The mechanism of a discrepancy, a key of `MECHANISMS`."""
    setting = _OF_SETTING.get(one.switch.partition("=")[0], "") if one.switch != NONE else ""
    example = one.example
    if example["kind"] == "status" and str(example["want"]).startswith("error") and _is_value(example["got"]):
        return "Missing check"
    if setting:
        return setting
    if _GRAPPLER.search(one.reason):
        return "Grappler rewrite"
    if all(plan.endswith("/xla") for plan in one.plans):
        return "XLA lowering"
    if "oneDNN" in one.reason:
        return "oneDNN"
    if family_of(str(example["quantity"])) != "output":
        return "Gradient formula"
    return "Eigen" if "Eigen" in one.reason else "Kernel or function"


def _is_value(got: object) -> bool:
    return str(got).startswith("value")
