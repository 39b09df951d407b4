"""Switch words: the setting of TensorFlow on which a discrepancy depends, in words."""

from __future__ import annotations

from tf_opdiff.harness.repro.trials.attribution import NONE
from tf_opdiff.harness.spec.settings.rewrites import ALL


def short(switch: str) -> str:
    """The setting in a few words: `XLA's pass algsimp`, `kernel or lowering`; `not known` for an empty name."""
    name, _, argument = switch.partition("=")
    if not switch:
        return "not known"
    if switch == NONE:
        return "kernel or lowering"
    if name == "nohlo":
        return "several of XLA's passes" if argument == ALL else f"XLA's pass {argument}"
    if name == "norewriter":
        return "several of Grappler's rewriters" if argument == ALL else f"Grappler's rewriter {argument}"
    return {
        "noonednn": "oneDNN",
        "noexcess": "XLA's excess precision",
        "nofma": "instructions beyond AVX, such as fused multiply-add",
        "deterministic": "ops that are not deterministic",
    }.get(name, switch)


def sentence(switch: str, device: str) -> str:
    """What was seen of a discrepancy on a device, in a sentence; empty for an empty name."""
    if not switch:
        return ""
    if switch == NONE:
        return "No setting that was tried makes it vanish: a kernel or a lowering causes it."
    return f"It depends on {short(switch)}: its program shows it on {device}, but not on {device}+{switch}."
