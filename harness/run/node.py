"""Node: a machine that takes part in campaigns; `python -m harness node` starts Ray there, never open to anybody."""

from __future__ import annotations

import argparse
import ipaddress
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.store.open_run import here

PORT = 6379
#: What Ray reads: no usage statistics; accelerators stay visible to what asks for none, which lists them as not run.
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
#: What makes Ray take the loopback address for its own; despite its name it works on Linux.
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}


def loopback(host: str) -> bool:
    """Whether only this machine can reach what listens on a host's address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def has_token(environ: Mapping[str, str]) -> bool:
    """Whether Ray's token authentication is on, and there is a token where Ray looks for one."""
    if environ.get("RAY_AUTH_MODE", "").lower() != "token":
        return False
    if environ.get("RAY_AUTH_TOKEN", "").strip():
        return True
    path = Path(environ.get("RAY_AUTH_TOKEN_PATH") or Path(environ.get("HOME", "/"), ".ray", "auth_token"))
    try:
        return bool(path.read_text().strip())
    except (OSError, UnicodeDecodeError):
        return False


def guard(what: str, host: str, environ: Mapping[str, str]) -> None:
    """Refuses what others could reach who have no token: on a node of Ray's, they could run whatever they like.

    Raises:
      ValueError: the host is not this machine's loopback, and there is no token.
    """
    if not loopback(host) and not has_token(environ):
        raise ValueError(
            f"{what} {host} is beyond loopback: expected RAY_AUTH_MODE=token and one token on every machine, in "
            "~/.ray/auth_token, RAY_AUTH_TOKEN_PATH (a file) or RAY_AUTH_TOKEN (`ray get-auth-token --generate`)"
        )


def resources(listed: Mapping[str, object]) -> dict[str, int]:
    """How many accelerators of each type a node has, by the names under which Ray counts them: `GPU`, `TOY`, …"""
    types = [Device.parse(name).type.upper() for name in listed]
    return {name: types.count(name) for name in dict.fromkeys(types) if name != "CPU"}


def command(options: argparse.Namespace, listed: Mapping[str, object]) -> list[str]:
    """Ray's command line that starts a node with these devices, in the foreground."""
    found = resources(listed)
    words = [str(Path(sys.executable).with_name("ray")), "start", "--block", "--disable-usage-stats"]
    words += [f"--node-ip-address={options.listen}", f"--num-gpus={found.pop('GPU', 0)}"]
    words += [f"--num-cpus={options.num_cpus}"] if options.num_cpus is not None else []
    words += [f"--resources={json.dumps(found)}"] if found else []
    if options.address:
        return [*words, f"--address={options.address}"]
    return [*words, "--head", f"--port={options.port}", "--include-dashboard=false"]


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m harness node`."""
    parser.add_argument("--address", metavar="HOST:PORT", help="of the head that it joins; without, it is the head")
    told = "this machine's address; default: loopback, where a head is alone and needs no token"
    parser.add_argument("--listen", default="127.0.0.1", metavar="IP", help=told)
    parser.add_argument("--port", type=int, default=PORT, metavar="N", help=f"of the head; default: {PORT}")
    parser.add_argument("--num-cpus", type=int, metavar="N", help="batches at once; default: one a core")


def main(options: argparse.Namespace) -> int:
    """Becomes Ray's node, with the devices that TensorFlow lists here; refuses to listen without a token."""
    guard("the address to listen on,", options.listen, os.environ)
    if options.address and loopback(options.listen):
        raise ValueError(f"--listen {options.listen}: a node that joins a head is reached by it: expected its address")
    words = command(options, here()["devices"])
    if not Path(words[0]).exists():
        raise RuntimeError("a node needs Ray Core: pip install 'ray>=2.52'")
    print(" ".join(words), flush=True)
    os.execve(words[0], words, os.environ | QUIET | (LOOPBACK if loopback(options.listen) else {}))
    return 0
