"""List devices: the verb that prints the devices that TensorFlow lists here."""

from __future__ import annotations

import argparse
import json

from tf_opdiff.harness.device.installation.probe import probe


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds none."""


def main(options: argparse.Namespace) -> int:
    """Prints the devices, versions and flags as JSON; 0."""
    print(json.dumps(probe(), indent=1))
    return 0
