"""Device server: the process that owns a device and answers requests. Imported in device servers only."""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import tensorflow as tf

from tf_opdiff.harness.device.installation.kernels import lacking_dtype, lacking_kernel, ops_without_kernel
from tf_opdiff.harness.device.installation.tensorflow_setup import configure, local, works
from tf_opdiff.harness.device.installation.tensorflow_state import ServerState
from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.device.processes import server_age
from tf_opdiff.harness.device.processes.channel import Channel
from tf_opdiff.harness.device.processes.shared_memory import to_shared_memory
from tf_opdiff.harness.device.programs.compiled_programs import CompiledPrograms, circumstances
from tf_opdiff.harness.device.programs.evidence import Evidence, op_names
from tf_opdiff.harness.device.programs.faults import fault, missing_subject, places
from tf_opdiff.harness.device.programs.program_cache import ProgramCache
from tf_opdiff.harness.device.programs.results import error_result, results, value_result
from tf_opdiff.harness.device.repeat import ROW_CHECKS, run_self_checks
from tf_opdiff.harness.device.request import Arguments, Request, attempts
from tf_opdiff.harness.device.rows import run_row_checks
from tf_opdiff.harness.spec.modes import xla_compiles
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.spec.spec import Spec, Unavailable


@dataclass
class _Run:
    """The results of one request, of self-checks too, with the evidence of its last run.

    `unavailable` is the reason if the program says that it cannot run here.
    """

    results: dict[str, Result] = field(default_factory=dict)
    again: dict[str, dict[str, Result]] = field(default_factory=dict)
    evidence: Evidence = field(default_factory=Evidence)
    seconds: float = 0.0
    unavailable: str = ""

    @property
    def failed(self) -> bool:
        return any(result.status == "error" for result in self.results.values())


def observe(request: Request, programs: ProgramCache) -> Observation:
    """Runs a request on the device of the cache, and observes the run."""
    spec, device = programs.enter(request), programs.device
    no_dtype = lacking_dtype(request.dtype)
    if no_dtype:
        return Observation.of_all(request.quantities, error_result(Unavailable(no_dtype)), lacking=no_dtype)
    run = _run(request, spec, programs)
    wanted = spec.ops_in(request.mode, device.variants)
    ran_on = places(wanted, run.evidence, request.dtype)
    subject = spec.evidence_in(request.mode)
    elsewhere = ran_on - {device.tf_name, *(name for kind, name in subject if kind == "also")}
    lacking = run.unavailable or (_lacking(request, wanted, run, device) if run.failed or elsewhere else "")
    if lacking and not run.failed:  # TensorFlow called a function, and ran the op of its body on the CPU
        return Observation.of_all(request.quantities, error_result(Unavailable(lacking)), lacking=lacking)
    missing = "" if lacking else missing_subject(subject, run.evidence, run.results)
    return Observation(
        quantities=run.results,
        ran_on=";".join(sorted(ran_on)),
        raw_op=op_names(tuple(run.evidence.ops), wanted),
        seconds=run.seconds,
        again=run.again,
        fault=missing or ("" if run.failed else fault(wanted, run.evidence, elsewhere, device, spec.constant)),
        lacking=lacking,
        poisoned=run.failed and not works(device),
    )


def _lacking(request: Request, wanted: Sequence[str], run: _Run, device: Device) -> str:
    """A message that names the missing kernel that made a run fail or leave the device; empty if none is known.

    A kernel may lack for dtypes of the call that are not those of the case. The CPU's errors are judged as they are:
    the promise of a spec may be such an error.
    """
    without = ops_without_kernel(run.results)
    lacking = lacking_kernel([*wanted, *without], device, request.mode, request.dtype)
    if lacking or not without or device.type == "cpu":
        return lacking
    op = without[0] or "an op that the error does not name"
    return f"no {device.type.upper()} kernel of {op} takes the dtypes of this call"


def _run(request: Request, whole: Spec, programs: ProgramCache) -> _Run:
    """Runs a request; if the run fails as a whole, runs less and less of it. See `harness.device.request.attempts`."""
    run = _Run()
    before = tuple(x.copy() for x in request.arrays) if request.again else ()
    began = time.perf_counter()
    for spec, arguments in attempts(whole, Arguments(request.arrays, request.upstreams, request.tangents)):
        if spec.execution.only_gradients and arguments.upstreams is None:
            break
        program, run.evidence = programs.get(spec, request.mode, arguments)
        try:
            outcome = program(arguments)
        except Exception as error:  # noqa: BLE001  every error is a result
            run.seconds = time.perf_counter() - began
            requested = [quantity for quantity in request.quantities if arguments.requests(quantity, spec)]
            run.results.update(dict.fromkeys(requested, error_result(error)))
            run.unavailable = str(error) if isinstance(error, Unavailable) else ""
            continue
        run.seconds = time.perf_counter() - began
        first = results(outcome, request.state)
        run.results.update(first)

        def rerun(arguments: Arguments, pieces: bool, spec: Spec = spec) -> tuple[Mapping[str, Result], Result | None]:
            try:
                program, _ = programs.get(spec, request.mode, arguments, pieces=pieces)
                return results(program(arguments)), None
            except Exception as error:  # noqa: BLE001  every error is a result
                return {}, error_result(error)

        after = [value_result(x) for x in outcome.inputs]
        of_rows = [kind for kind in request.again if kind in ROW_CHECKS]
        of_run = [kind for kind in request.again if kind not in ROW_CHECKS]
        run.again = run_self_checks(of_run, arguments, before, after, first, rerun)
        if spec.batch is not None and of_rows:
            run.again |= run_row_checks(of_rows, spec.batch, arguments, first, rerun)
        break
    return run


def _threads_left() -> bool:
    """Whether an op left a Python thread running: no other op may run in its company."""
    others = set(sys._current_frames()) - {threading.get_ident()}
    if others:
        names = {t.ident: t.name for t in threading.enumerate()}
        print(f"threads were left behind: {', '.join(names.get(i, str(i)) for i in others)}", file=sys.stderr)
    return bool(others)


def serve(channel: Channel, device: Device, *, kept: bool = False) -> None:
    """Answers requests until the other side hangs up.

    The first message says why the device is not available; it is empty if it is. If `kept`, programs that XLA compiled
    in earlier servers are loaded, and those of this server kept.
    """
    compiled = CompiledPrograms(circumstances(tf.__file__, device.variants)) if kept else None
    channel.send(configure(device))
    programs, state, owner = ProgramCache(local(device), compiled), ServerState(), os.getpid()
    for number in itertools.count(1):
        try:
            request = channel.receive()
        except EOFError:
            return
        try:
            observation = to_shared_memory(observe(request.with_arrays(), programs), request.segment)
        except Exception as error:  # noqa: BLE001  the harness's own fault: it must not pass for TensorFlow's
            reason = f"the device server failed: {traceback.format_exc(limit=-3)}"
            observation = Observation.of_all(request.quantities, error_result(error), fault=reason)
        if os.getpid() != owner:  # a child that the op forked: its parent answers
            os._exit(0)
        ran_on = observation.ran_on.replace(programs.device.tf_name, device.tf_name)
        used_up = number % server_age.EVERY == 0 and server_age.worn()
        left = state.left_behind()
        if left:
            print(f"{request.case} in mode {request.mode} left behind: {left}", file=sys.stderr)
        poisoned = observation.poisoned or request.last or _threads_left() or used_up or bool(left)
        channel.send(replace(observation, ran_on=ran_on, poisoned=poisoned, left_behind=left))
        if xla_compiles(request.mode) and not left:
            programs.keep()
