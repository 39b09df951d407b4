"""Program settings: the variants of a device, as lines of the program of a finding."""

from __future__ import annotations

from dataclasses import dataclass

from tf_opdiff.harness.spec.settings.variant import VARIANTS, environment, split


@dataclass(frozen=True)
class ProgramSettings:
    """Variants in the program of a finding.

    Attributes:
      environment: the variables that the program sets first.
      lines: its lines after the configuration of devices.
      session_lines: its lines after the `config` of a v1 session.
    """

    environment: dict[str, str]
    lines: list[str]
    session_lines: list[str]


def program(variants: tuple[str, ...]) -> ProgramSettings:
    """The variants in the program of a finding.

    Raises:
      OSError: a program can't apply one of the variants itself.
    """
    if "denormals" in variants:
        raise OSError("a library has to be loaded before TensorFlow for it: see harness/spec/settings/variant.py")
    pairs = [(VARIANTS[name], argument) for name, argument in map(split, variants)]
    lines = [line for variant, argument in pairs for line in variant.lines(argument)]
    session = [line for variant, argument in pairs for line in variant.session_lines(argument)]
    return ProgramSettings(environment(variants), lines, session)
