"""What child processes of tests do, without TensorFlow."""

import ctypes
import os
import sys
import tempfile


def ready(channel, device, kept):
    """A device server that is ready at once, and never asked for anything."""
    channel.send("")
    channel.receive()


def hang(channel, device, kept):
    """A device server that leaves a temporary file, and then never gives the GIL back."""
    channel.send("")
    tempfile.mkstemp()
    ctypes.PyDLL(None).sleep(600)


def safe_path(channel):
    """Sends what its environment says of the path of imports."""
    channel.send(os.environ.get("PYTHONSAFEPATH"))
    channel.receive()


def planted(channel):
    """Sends what its environment says of a planted fault."""
    channel.send(os.environ.get("OPDIFF_PLANTED"))
    channel.receive()


def import_path(channel):
    """Sends its path of imports, and what a wrapper script of its Python has set."""
    channel.send((sys.path, os.environ.get("WRAPPED")))
    channel.receive()
