"""A planted spec whose first case ends only if the inputs of its second case are computed while the first one runs."""

import socket

import numpy as np

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.tests.patience import PATIENCE

#: By a name: the socket at which the recipe of the second case waits for the program of the first one.
_listening = {}
#: Empty after the first run of the program in its device server.
_once = [True]


def _port(draw, dtype):
    """The port of a new socket in the process that computes inputs."""
    listener = _listening["program"] = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(PATIENCE / 4)
    return (np.array([listener.getsockname()[1]], dtype),)


def _while_running(draw, dtype):
    """Zero, when the program of the first case has said that it runs; lets that program end.

    Raises:
      TimeoutError: that program does not run.
    """
    with _listening.pop("program") as listener:
        connection, _ = listener.accept()
    with connection:
        assert connection.recv(1) == b"r"
        connection.sendall(b"e")
    return (np.zeros(1, dtype),)


def _until_allowed(port):
    if port[0] and _once:
        _once.pop()  # the self-check runs the program again
        with socket.create_connection(("127.0.0.1", int(port[0])), PATIENCE) as connection:
            connection.sendall(b"r")
            assert connection.recv(1) == b"e", "nobody computed inputs meanwhile"
    return port


SPECS = (
    Spec(
        name="waits-for-the-next-inputs",
        ops="",
        program=lambda tf, x: tf.ensure_shape(tf.numpy_function(_until_allowed, [x], x.dtype), x.shape),
        reference=lambda x: x,
        recipes={"first": _port, "second": _while_running},
        dtypes=("int32",),
        modes=("eager",),
    ),
)
