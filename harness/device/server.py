"""Device server: the process that owns a device and answers requests. TensorFlow is imported here only."""

from __future__ import annotations

import gc
import os
import platform
import re
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import error_codes_pb2
from tensorflow.python.eager import context
from tensorflow.python.framework.indexed_slices import IndexedSlicesValue

from tf_opdiff.harness.device.call_counts import calls, watch
from tf_opdiff.harness.device.channel import Channel
from tf_opdiff.harness.device.evidence import TRANSPORT, Evidence, op_names
from tf_opdiff.harness.device.kernels import lacking_dtype, lacking_kernel, named
from tf_opdiff.harness.device.modes import MODES
from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.device.program import Outcome, Program, no_value
from tf_opdiff.harness.device.repeat import in_pieces, repeated
from tf_opdiff.harness.device.request import Arguments, Request, find_spec
from tf_opdiff.harness.device.shared_memory import handed
from tf_opdiff.harness.spec import variant
from tf_opdiff.harness.spec.plan import Device, type_of
from tf_opdiff.harness.spec.spec import Spec, Unavailable

#: What a message says of this machine or of what ran before, and not of the op: the Python stack, with paths; the
#: numbers with which TensorFlow tells functions and callbacks apart, which count on in a process; addresses.
_INCIDENTAL = (
    (
        re.compile(
            r"(Graph execution error:\s+)?Detected at node .*? defined at \(most recent call last\):\n"
            r"|^ *File \"[^\n]*\", line \d+, in [^\n]*\n?( {4}[^\n]*\n)?( +[\^~]+ *\n)?",
            re.MULTILINE,
        ),
        "",
    ),
    (re.compile(r"(__(?:inference|forward|backward)_[\w<>]*?)_\d+\b"), r"\1"),
    (re.compile(r"\b(pyfunc|lambda|_Anonymous[A-Za-z]+)_?\d+"), r"\1"),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x…"),
)


def configure(device: Device) -> str:
    """Readies TensorFlow for one device; returns why it can't be had, or nothing."""
    tf.config.set_soft_device_placement(False)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.experimental.enable_tensor_float_32_execution(False)
    try:
        variant.apply(device.variants, tf)
    except OSError as why:
        return str(why)
    kind = device.type.upper()
    present = tf.config.list_physical_devices(kind)
    others = {d.device_type for d in tf.config.list_physical_devices()} - {"CPU", kind}
    for other in others:  # they would be started, and memory taken there
        tf.config.set_visible_devices([], other)
    # A plugin's devices are all started where none is visible, unless their number is given.
    context.context()._config = tf.compat.v1.ConfigProto(device_count=dict.fromkeys(others, 0))
    if kind == "CPU" and device.index:
        # A second CPU is TensorFlow's own stand-in for a second device: placement is as strict as between CPU and GPU.
        logical = [tf.config.LogicalDeviceConfiguration()] * (device.index + 1)
        tf.config.set_logical_device_configuration(present[0], logical)
    elif device.index >= len(present):
        return f"TensorFlow lists no {device.tf_name}"
    else:
        # Only the device asked for: TensorFlow takes memory on every GPU it sees. It counts from 0 again then.
        tf.config.set_visible_devices(present[device.index], kind)
        if kind != "CPU":
            tf.config.experimental.set_memory_growth(present[device.index], True)
    return ""


def local(device: Device) -> Device:
    """The device under the name that it has in its server, which sees no other accelerator."""
    return device if device.type == "cpu" else replace(device, index=0)


def describe() -> dict[str, Any]:
    """The devices that TensorFlow lists, and the versions that matter; for the run's `run.json`.

    `cuda` and `cudnn` are empty where TensorFlow lists no GPU: the version that it was built for is among `versions`.
    """
    devices = {}
    for physical in tf.config.list_physical_devices():
        kind, _, index = physical.name.rpartition("physical_device:")[2].partition(":")
        name = str(Device(kind.lower(), int(index)))
        if not kind.startswith("XLA_"):
            devices[name] = {k: str(v) for k, v in tf.config.experimental.get_device_details(physical).items()}
    devices["cpu"][variant.ONEDNN] = variant.onednn()
    build = tf.sysconfig.get_build_info()
    built_for = {k: str(build.get(f"{k}_version", "")) for k in ("cuda", "cudnn") if build.get("is_cuda_build")}
    versions = {"tensorflow": tf.__version__, "numpy": np.__version__, "python": platform.python_version()}
    gpu = any(type_of(name) == "gpu" for name in devices)
    return {
        "devices": devices,
        "cuda": built_for.get("cuda", "") if gpu else "",
        "cudnn": built_for.get("cudnn", "") if gpu else "",
        "versions": {**versions, **{f"built for {k}": v for k, v in built_for.items()}},
    }


def failure(error: BaseException) -> Result:
    """An exception as a result: TensorFlow's error code, or the class name of what Python raised."""
    if isinstance(error, tf.errors.OpError):
        code, message = error_codes_pb2.Code.Name(error.error_code), str(error.message)
    else:
        code, message = type(error).__name__, str(error)
    for pattern, instead in _INCIDENTAL:
        message = pattern.sub(instead, message)
    return Result("error", code=code, message=message.strip()[:2000])


def _works(device: Device) -> bool:
    """Whether the device still adds one and one: after a fault, a CUDA context may answer with errors for ever."""
    try:
        with tf.device(device.tf_name):
            one = tf.constant(1.0)
            if lacking_kernel(("AddV2",), device, "eager", "float32"):
                return float(tf.identity(one)) == 1.0  # needs no kernel of the device's own
            return float(one + one) == 2.0
    except Exception:  # noqa: BLE001  whatever it raises, it does not work
        return False


def _quantity(value: Any, name: str = "input") -> Result:
    if value is None:
        return Result("unconnected")
    if isinstance(value, IndexedSlicesValue):
        shape = None if value.dense_shape is None else tuple(int(n) for n in value.dense_shape)
        return Result("sparse", value.values, value.indices, shape)
    array = np.asarray(value)
    if array.dtype.type is np.void:
        return failure(TypeError(no_value(name, (array.dtype.names or [array.dtype.name])[0])))
    return Result("value", array.astype(object) if array.dtype.kind == "S" else array)  # a scalar string comes as bytes


def _results(outcome: Outcome, state: Sequence[str]) -> dict[str, Result]:
    """The results of a run by quantity; final values follow the outputs: of the named state, then of what else changed.

    A spec that promises nothing of a variable promises that the run leaves it alone.
    """
    values = {**outcome.quantities, "output": [*outcome.quantities["output"], *(outcome.state[k] for k in state)]}
    pairs = [(f"{family}[{i}]", v) for family, vs in values.items() for i, v in enumerate(vs)]
    results = {name: _quantity(v, name) for name, v in pairs}
    for i, name in enumerate((k for k in outcome.changed if k not in state), len(values["output"])):
        results[f"output[{i}]"] = replace(_quantity(outcome.state[name]), message=f"the run changed the state {name!r}")
    return results


class Programs:
    """The programs that were built for the spec and dtype at hand, one for each mode and set of shapes."""

    def __init__(self) -> None:
        self._of: tuple[str, ...] = ()
        self._built: dict[Any, tuple[Program, Evidence]] = {}

    def enter(self, request: Request) -> Spec:
        """The spec that a request is about; what was built for another spec or dtype is forgotten."""
        spec, of = find_spec(request.module, request.spec), (request.module, request.spec, request.dtype)
        if of != self._of:
            self._of, self._built = of, {}
            if spec.state:
                tf.keras.backend.clear_session()
            gc.collect()
        return spec

    def get(
        self, spec: Spec, mode: str, device: Device, arguments: Arguments, *, pieces: bool = False
    ) -> tuple[Program, Evidence]:
        """The program for these arguments; it is built anew for another signature, and always for a spec with state."""
        key = (mode, pieces, arguments.signature)
        if key not in self._built or spec.state:
            evidence = Evidence()
            made = in_pieces(spec) if pieces else spec
            self._built[key] = _watched(MODES[mode](made, device.tf_name, evidence), spec, mode, evidence), evidence
        return self._built[key]


def _watched(program: Program, spec: Spec, mode: str, evidence: Evidence) -> Program:
    """The program, with the calls counted that are evidence of its subject."""
    names = [name for kind, name in spec.evidence_in(mode) if kind == "called"]
    for name in names:
        watch(tf, name)

    def run(arguments: Arguments) -> Outcome:
        before = {name: calls(name) for name in names}
        try:
            return program(arguments)
        finally:
            evidence.calls.update({name: calls(name) - before[name] for name in names})

    return run if names else program


def observe(request: Request, device: Device, programs: Programs) -> Observation:
    """Runs a request. If what it asks for fails as a whole, less is asked for: no tangents, then no gradients."""
    spec = programs.enter(request)
    before = tuple(x.copy() for x in request.arrays) if request.again else ()
    quantities: dict[str, Result] = {}
    again: dict[str, dict[str, Result]] = {}
    lacking = lacking_dtype(request.dtype)
    if lacking:
        result = failure(Unavailable(lacking))
        return Observation.of_all(request.quantities, result, lacking=lacking)
    started = time.perf_counter()
    for arguments in Arguments(request.arrays, request.upstreams, request.tangents).fallbacks():
        program, evidence = programs.get(spec, request.mode, device, arguments)
        try:
            outcome = program(arguments)
        except Exception as error:  # noqa: BLE001  every error is a result
            quantities.update(dict.fromkeys(filter(arguments.requests, request.quantities), failure(error)))
            lacking = str(error) if isinstance(error, Unavailable) else ""
            seconds = time.perf_counter() - started
            continue
        seconds = time.perf_counter() - started
        found = _results(outcome, request.state)
        quantities.update(found)

        def rerun(arguments: Arguments, pieces: bool) -> tuple[Mapping[str, Result], Result | None]:
            try:
                program, _ = programs.get(spec, request.mode, device, arguments, pieces=pieces)
                return _results(program(arguments), ()), None
            except Exception as error:  # noqa: BLE001
                return {}, failure(error)

        again = repeated(request.again, arguments, before, [_quantity(x) for x in outcome.inputs], found, rerun)
        break
    wanted = spec.ops_in(request.mode, device.variants)
    failed = any(r.status == "error" for r in quantities.values())
    ops = list(dict.fromkeys([*wanted, *named(quantities)]))
    places = _places(wanted, evidence)
    lacking = lacking or (lacking_kernel(ops, device, request.mode, request.dtype) if failed else "")
    missing = "" if lacking else _missing(spec.evidence_in(request.mode), evidence, quantities)
    return Observation(
        quantities=quantities,
        ran_on=";".join(sorted(places)),
        raw_op=op_names(tuple(evidence.ops), wanted),
        seconds=seconds,
        again=again,
        fault=missing or ("" if failed else _fault(wanted, evidence, places, device, spec.constant)),
        lacking=lacking,
        poisoned=failed and not _works(device),
    )


def _places(wanted: Sequence[str], evidence: Evidence) -> set[str]:
    """The devices on which the wanted ops ran; if the optimiser removed those, the devices of the ops that are left.

    The transport between the session and the device does not count, nor an Identity, which follows it.
    """
    places = {place for op in wanted if op not in TRANSPORT for place in evidence.ran_on.get(op, ())}
    return places or {p for op, where in evidence.ran_on.items() if op not in TRANSPORT | {"Identity"} for p in where}


def _missing(subject: Sequence[tuple[str, str]], evidence: Evidence, quantities: Mapping[str, Result]) -> str:
    """Why a run is not about the subject of its spec, if so.

    A run without a first output left no graph to look at. The calls that it made count all the same, and its error is
    part of the reason.
    """
    failed = "output[0]" not in quantities or quantities["output[0]"].status == "error"
    whys = (evidence.lacks(kind, name) for kind, name in subject if kind == "called" or not failed)
    why = next(filter(None, whys), "")
    if not why:
        return ""
    errors = [f"; {r.code}: {r.message}" for r in quantities.values()] if failed else []
    return f"the subject is missing: {why}{''.join(errors[:1])}"


def _fault(wanted: Sequence[str], evidence: Evidence, places: set[str], device: Device, constant: Sequence[str]) -> str:
    """Why a run that gave values proves nothing about the plan, if so."""
    absent = [op for op in wanted if op not in evidence.ops]
    if absent:
        return f"the executed graph has no {', '.join(absent)}; it has {', '.join(evidence.ops) or 'no op'}"
    elsewhere = places - {device.tf_name}
    if elsewhere:
        return f"ran on {', '.join(sorted(elsewhere))}; the plan says {device.tf_name}"
    ignoring = [q for q in (f"output[{i}]" for i in sorted(evidence.constant)) if q not in constant]
    if ignoring:
        what = "the program ignores them, or TensorFlow computed it when the graph was built"
        return f"{', '.join(ignoring)} depends on no input: {what}; a spec that means it says so by `constant`"
    return ""


def _threads_left() -> bool:
    """Whether an op left a Python thread of its own running, in whose company no other op is to run."""
    others = set(sys._current_frames()) - {threading.get_ident()}
    if others:
        names = {t.ident: t.name for t in threading.enumerate()}
        print(f"threads were left behind: {', '.join(names.get(i, str(i)) for i in others)}", file=sys.stderr)
    return bool(others)


def serve(channel: Channel, device: Device) -> None:
    """Answers requests until the other side hangs up. The first answer says why the device can't be had, or nothing."""
    channel.send(configure(device))
    device, outside = local(device), device
    gc.freeze()  # what the imports left behind stays: walking it in every collection took 0.15 s
    programs, owner = Programs(), os.getpid()
    while True:
        try:
            request = channel.receive()
        except EOFError:
            return
        try:
            observation = handed(observe(request.made(), device, programs), request.segment)
        except Exception as error:  # noqa: BLE001  ours, not TensorFlow's: said so, and not taken for an observation
            fault = f"the device server failed: {traceback.format_exc(limit=-3)}"
            observation = Observation.of_all(request.quantities, failure(error), fault=fault)
        if os.getpid() != owner:  # a child that the op forked: the answer is its parent's
            os._exit(0)
        where = observation.ran_on.replace(device.tf_name, outside.tf_name)
        channel.send(replace(observation, ran_on=where, poisoned=observation.poisoned or _threads_left()))
