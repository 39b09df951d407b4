"""Node: a machine that takes part in campaigns; `python -m harness node` starts Ray there, never without a guard."""

from __future__ import annotations

import argparse
import ipaddress
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.store.run_directories.open_run import here
from tf_opdiff.harness.system.number_argument import Number

PORT = 6379
#: Ray's settings: no usage statistics; tasks that need no accelerator still see all of them, and list them as not run.
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
#: The setting by which Ray takes the loopback address for its own; despite its name it works on Linux.
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}


def loopback(host: str) -> bool:
    """Whether a host is the loopback address, which only this machine can reach."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def has_token(environ: Mapping[str, str]) -> bool:
    """Whether Ray's token authentication is on, and a token is in a place where Ray looks for it."""
    if environ.get("RAY_AUTH_MODE", "").lower() != "token":
        return False
    if environ.get("RAY_AUTH_TOKEN", "").strip():
        return True
    path = Path(environ.get("RAY_AUTH_TOKEN_PATH") or Path(environ.get("HOME", "/"), ".ray", "auth_token"))
    try:
        return bool(path.read_text().strip())
    except (OSError, UnicodeDecodeError):
        return False


def guard(noun: str, host: str, environ: Mapping[str, str]) -> None:
    """Refuses an address that others can reach without a token: on a node of Ray, they could run any code.

    Raises:
      ValueError: the host is not this machine's loopback, and there is no token.
    """
    if not loopback(host) and not has_token(environ):
        raise ValueError(
            f"{noun} {host} is beyond loopback: expected RAY_AUTH_MODE=token and one token on every machine, in "
            "~/.ray/auth_token, RAY_AUTH_TOKEN_PATH (a file) or RAY_AUTH_TOKEN (`ray get-auth-token --generate`)"
        )


def resources(listed: Mapping[str, object]) -> dict[str, int]:
    """The number of accelerators of each type among devices, by Ray's name of the type: `GPU`, `TOY`, …"""
    types = [Device.parse(name).type.upper() for name in listed]
    return {name: types.count(name) for name in dict.fromkeys(types) if name != "CPU"}


def command(options: argparse.Namespace, listed: Mapping[str, object]) -> list[str]:
    """Ray's command line that starts a node with these devices, in the foreground."""
    counts = resources(listed)
    words = [str(Path(sys.executable).with_name("ray")), "start", "--block", "--disable-usage-stats"]
    words += [f"--node-ip-address={options.listen}", f"--num-gpus={counts.pop('GPU', 0)}"]
    words += [f"--num-cpus={options.num_cpus}"] if options.num_cpus is not None else []
    words += [f"--resources={json.dumps(counts)}"] if counts else []
    if options.address:
        return [*words, f"--address={options.address}"]
    return [*words, "--head", f"--port={options.port}", "--include-dashboard=false"]


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m harness node`."""
    parser.add_argument(
        "--address", metavar="HOST:PORT", help="the address of the head to join; without it, this node is the head"
    )
    listen = "this machine's address; default: loopback, where a head is alone and needs no token"
    parser.add_argument("--listen", default="127.0.0.1", metavar="IP", help=listen)
    parser.add_argument(
        "--port",
        type=Number("the port", 1, 65535),
        default=PORT,
        metavar="N",
        help=f"the port of the head; default: {PORT}",
    )
    parser.add_argument(
        "--num-cpus",
        type=Number("batches", 0, 65536),
        metavar="N",
        help="batches that run at once; default: one for each core",
    )


def main(options: argparse.Namespace) -> int:
    """Replaces this process by a node of Ray with the devices that TensorFlow lists; never listens without a token."""
    guard("the address to listen on,", options.listen, os.environ)
    if options.address and loopback(options.listen):
        raise ValueError(
            f"--listen {options.listen}: the head must reach a node that joins it: expected this machine's address"
        )
    words = command(options, here()["devices"])
    if not Path(words[0]).exists():
        raise RuntimeError("a node needs Ray Core: pip install 'ray>=2.52'")
    print(" ".join(words), flush=True)
    os.execve(words[0], words, os.environ | QUIET | (LOOPBACK if loopback(options.listen) else {}))
    return 0
