"""Planted device servers: `python planted_server.py NAME` speaks the protocol up to a point, and then breaks it."""

import os
import pickle
import struct
import sys
import time

import msgspec

GREETING = b"tf-opdiff device server 1, Python 3.11.7\n"
#: An answer that is right, and one with an observation that is.
READY = {"observation": {"quantities": {}}, "running": True}


def observed(**result):
    return {"observation": {"quantities": {"output[0]": {"status": "value", **result}}}, "running": True}


def array(dtype, shape, data=b""):
    return observed(value=[dtype, shape, data])


class Planted:
    """Its pickle writes a file where it is read."""

    def __reduce__(self):
        return os.mkdir, (os.environ["PLANTED"],)


#: What a server sends instead of an observation: messages, or bytes of its own.
ANSWERS = {
    "a pickle": lambda: frame(pickle.dumps(Planted())),
    "junk": lambda: b"junk " * 100,
    "an empty message": lambda: frame(b""),
    "an enormous length": lambda: struct.pack("!Q", 1 << 62),
    "another type": lambda: msgpack(["observation"]),
    "an error as a number": lambda: msgpack(observed(code=7)),
    "a huge shape": lambda: msgpack(array("float32", [1 << 40, 1 << 20])),
    "a huge shape of nothing": lambda: msgpack(array("float32", [0, 1 << 62, 1 << 62])),
    "a negative size": lambda: msgpack(array("float32", [-1], b"abcd")),
    "NaN as a size": lambda: msgpack(array("float32", [float("nan")])),
    "NaN seconds": lambda: msgpack({"observation": {"quantities": {}, "seconds": float("nan")}, "running": True}),
    "a dtype of objects": lambda: msgpack(array("object", [1], b"abcdefgh")),
    "a path as a dtype": lambda: msgpack(array("../../etc/passwd", [1], b"abcd")),
    "a path as a quantity": lambda: msgpack({**READY, "observation": {"quantities": {"../x": {"status": "hang"}}}}),
    "a path as a self-check": lambda: msgpack({**READY, "observation": {"quantities": {}, "again": {"../x": {}}}}),
    "a value without an array": lambda: msgpack(observed()),
    "a status that is none": lambda: msgpack(observed(status="fine")),
    "a text without end": lambda: msgpack(observed(status="error", message="x" * 10_000_000)),
    "a deep nest": lambda: frame(b"\x91" * 1_000_000),
}
#: What it does instead of answering.
ENDS = {
    "half a message": lambda: send(struct.pack("!Q", 100) + b"half"),
    "a byte now and then": lambda: drip(struct.pack("!Q", 100) + b"x" * 100),
    "dies": lambda: (sys.stderr.write("last words\n"), sys.stderr.flush(), os._exit(5)),
    "closes its pipes": lambda: (os.close(0), os.close(1), time.sleep(600)),
    "hangs": lambda: receive(),
}
#: What it does instead of greeting.
STARTS = {
    "dies at start": lambda: (sys.stderr.write("no such host\n"), sys.stderr.flush(), os._exit(3)),
    "says why on stdout": lambda: (send(b"image not found\n"), os._exit(1)),
    "is no server": lambda: [send(b"hello " * 1000) for _ in range(1000)],
    "has an old Python": lambda: (send(GREETING.replace(b"3.11.7", b"3.8.10")), receive()),
    "sends more than a greeting": lambda: (send(GREETING + b"more"), receive()),
    "refuses the code": lambda: (send(GREETING), receive(), send(frame(b"!ImportError: no msgspec\nhere")), receive()),
    "says nothing": lambda: receive(),
}


def frame(data):
    return struct.pack("!Q", len(data)) + data


def msgpack(message):
    return frame(msgspec.msgpack.encode(message))


def send(data):
    os.write(1, data)


def drip(data):
    """Sends a byte every two seconds, in less time than a late answer has."""
    for n in range(len(data)):
        send(data[n : n + 1])
        time.sleep(2)


def receive():
    head = sys.stdin.buffer.read(8)
    if len(head) < 8:
        os._exit(0)
    return sys.stdin.buffer.read(struct.unpack("!Q", head)[0])


def main(name):
    sys.stdin.buffer.readline()
    if name in STARTS:
        STARTS[name]()
        os._exit(0)
    send(b"* a banner of the container *\n" + GREETING)
    receive()  # the code
    receive()  # the request to serve a device
    send(msgpack(READY))
    while True:
        receive()
        if name in ENDS:
            ENDS[name]()
        else:
            send(ANSWERS[name]())


if __name__ == "__main__":
    main(sys.argv[1])
