"""Bootstrap: the first program of a remote device server; it needs Python's standard library alone.

An interactive Python reads it as one line from its standard input. It greets, receives this project's code as a zip
file, and serves from a temporary folder, which it deletes at the end. It runs before anybody knows the version of
Python, so it uses no new syntax.
"""

import importlib.util
import io
import os
import pickle
import shutil
import struct
import sys
import tempfile
import zipfile
from typing import BinaryIO

#: The greeting, before the version of Python and a newline; the number is that of the protocol.
GREETING = b"tf-opdiff device server 1, Python "
#: The length of a message, before its bytes.
LENGTH = struct.Struct("!Q")
#: The packages that a device server imports, by their import names and by their names in a package index.
NEEDED = {
    "ml_dtypes": "ml-dtypes",
    "mpmath": "mpmath",
    "msgspec": "msgspec",
    "numpy": "numpy",
    "packaging": "packaging",
    "scipy": "scipy",
    "tensorflow": "tensorflow",
}
#: The first byte of a message that has an error in words instead of an answer.
ERROR = b"!"


def receive(source: BinaryIO) -> bytes:
    """Waits for the next message; raises EOFError at the end of the connection."""
    head = source.read(LENGTH.size)
    data = source.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""
    if not data:
        raise EOFError
    return data


def send(target: BinaryIO, data: bytes) -> None:
    """Sends a message."""
    target.write(LENGTH.pack(len(data)) + data)
    target.flush()


def main() -> None:
    """Serves in a process and session of its own, and ends as that process does.

    Whoever kills this process and its group leaves the other one the time to delete its files.
    """
    server = os.fork()
    if server:
        status = os.waitpid(server, 0)[1]
        os._exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
    os.setsid()
    serve()


def serve() -> None:
    """Serves until the standard input ends, and then ends the process. Other output goes to the standard error."""
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    folder = tempfile.mkdtemp(prefix="opdiff-")
    try:
        target.write(GREETING + sys.version.split()[0].encode() + b"\n")
        target.flush()
        zipfile.ZipFile(io.BytesIO(pickle.loads(receive(source)))).extractall(folder)
        sys.path[:] = [folder] + [place for place in sys.path if place]
        missing = [package for name, package in NEEDED.items() if importlib.util.find_spec(name) is None]
        if missing:
            raise ImportError(f"{sys.executable} lacks packages; run there: pip install {' '.join(missing)}")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
        from tf_opdiff.harness.remote import serving

        serving.serve(folder, lambda: receive(source), lambda data: send(target, data))
    except EOFError:
        pass
    except BaseException as why:  # noqa: BLE001  the other side learns it
        send(target, ERROR + f"{type(why).__name__}: {why}".encode("utf-8", "replace"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)
