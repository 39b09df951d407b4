"""Program cache: the programs built for one spec, dtype and set of attributes. Imported in device servers only."""

from __future__ import annotations

import functools
from collections.abc import Callable

import tensorflow as tf
from tensorflow.python.eager.polymorphic_function import concrete_function

from tf_opdiff.harness.device.programs.call_counts import calls, watch
from tf_opdiff.harness.device.programs.compiled_programs import CompiledPrograms
from tf_opdiff.harness.device.programs.evidence import Evidence
from tf_opdiff.harness.device.programs.garbage import Collector
from tf_opdiff.harness.device.programs.modes import MODES
from tf_opdiff.harness.device.programs.program import Outcome, Program
from tf_opdiff.harness.device.repeat import in_pieces
from tf_opdiff.harness.device.request import Arguments, Request, find_spec
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.spec.spec import Spec


class ProgramCache:
    """The programs of one spec, dtype and set of attributes on one device: one for each mode and signature."""

    def __init__(self, device: Device, compiled: CompiledPrograms | None = None) -> None:
        """`compiled` keeps the programs that XLA compiles; without it, XLA compiles every program."""
        self.device, self._compiled = device, compiled
        if compiled:
            _name_functions(compiled)
        self._subject: tuple[str, ...] = ()
        self._spec: Spec | None = None
        self._programs: dict[tuple, tuple[Program, Evidence]] = {}
        self._garbage = Collector()

    def enter(self, request: Request) -> Spec:
        """The spec of a request, with its attributes; programs of another spec, dtype or set of them are dropped."""
        subject = (request.module, request.spec, request.dtype, repr(sorted(request.attrs.items())))
        if subject != self._subject or self._spec is None:
            self._subject, self._programs = subject, {}
            self._spec = find_spec(request.module, request.spec).called_with(request.attrs)
            # A `tf.scan` that fails in a function leaves its caching device to the variable scope of later programs.
            tf.compat.v1.reset_default_graph()
            if self._spec.execution.state:
                tf.keras.backend.clear_session()
            self._garbage.collect()
            if self._compiled:
                self._compiled.enter(subject)
        return self._spec

    def keep(self) -> None:
        """Keeps the programs that XLA compiled since the last call, if they are kept."""
        if self._compiled:
            self._compiled.keep()

    def get(self, spec: Spec, mode: str, arguments: Arguments, *, pieces: bool = False) -> tuple[Program, Evidence]:
        """The program for arguments of this signature, and its evidence; always a new one for a spec with state.

        With `pieces`, the program of all pieces; see `harness.device.repeat`.
        """
        assert self._spec is not None  # `enter` comes first
        whole, tried = self._spec.derivatives, spec.derivatives
        omitted = [family for family in ("jvp", "hvp") if getattr(whole, family) and not getattr(tried, family)]
        key = (mode, pieces, arguments.ranks if spec.execution.unknown_shapes else arguments.signature, *omitted)
        if self._compiled:
            self._compiled.begin(key)
        if key not in self._programs or spec.execution.state:
            evidence = Evidence()
            program = MODES[mode](in_pieces(spec) if pieces else spec, self.device.tf_name, evidence)
            self._programs[key] = _counting_calls(program, spec, mode, evidence), evidence
        return self._programs[key]


def _name_functions(compiled: CompiledPrograms) -> None:
    """Lets `compiled` name the functions that TensorFlow traces; a TensorFlow without these names compiles more."""
    for kind in ("inference", "forward", "backward"):
        naming = getattr(concrete_function, f"_{kind}_name", None)
        if naming:
            new = functools.partial(_renamed, naming, compiled)
            setattr(concrete_function, f"_{kind}_name", new)


def _renamed(naming: Callable[[str], str], compiled: CompiledPrograms, name: str) -> str:
    return compiled.function_name(naming(name))


def _counting_calls(program: Program, spec: Spec, mode: str, evidence: Evidence) -> Program:
    """The program; each run counts the calls that are evidence of the spec's subject."""
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
