"""Spec fields: what a spec says of an op or a small program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.claim import Claim
from tf_opdiff.harness.spec.contract import Side
from tf_opdiff.harness.spec.derivatives import Derivatives
from tf_opdiff.harness.spec.execution import Execution
from tf_opdiff.harness.spec.inputs.attrs import Keywords
from tf_opdiff.harness.spec.lists.override_cell import OverrideCell
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.tolerances.tolerance import Tolerance

#: recipe(draw, dtype) → input arrays.
Recipe = Callable[..., tuple[np.ndarray, ...]]


@dataclass(frozen=True, kw_only=True)
class SpecFields:
    """The promises of an op or a small program, for every dtype, every set of attributes and every input recipe.

    `Spec(…)` and `Spec.but(…)` also take the fields of `Tolerance`, `Derivatives` and `Execution`, such as `ulp`, `vjp`
    and `state`: a declaration writes all fields alike.

    aspect                      what made the spec from another one, such as `sizes` or `second-order`; empty for a spec
                                that a declaration makes itself. Only suites read it.
    twin_of                     the name of a spec whose promise, inputs and known failures it has: its cases have the
                                seeds of the other spec's, and an entry that names the other spec is about it, too.
    program(tf, *inputs)        → a tensor or a tuple of tensors; with `state`, program(tf, state, *inputs).
    reference(*inputs)          → the expected outputs, computed with NumPy. Float inputs arrive as float64, complex
                                  inputs as complex128. A result in float64, complex128 or long double promises a result
                                  in the case's dtype; any other dtype promises a result in that dtype. `Raises`
                                  promises an error. A dict at the end of the tuple promises final values of `state`.
    second(*inputs)             → the same outputs, computed by another method. If the two disagree, the reference is
                                  suspect, not TensorFlow.
    elementwise                 each element of an output depends only on the input elements at its position, so the
                                position must not change the result. If all inputs have one shape, their run is
                                compared with runs of pieces of them; this costs one more program to build.
    batch                       the first axis of each input and of each output is the axis of a batch, and a row must
                                give the same result in every batch; the numbers of the inputs that all rows share, such
                                as filters, or an empty tuple. A row of the run is compared with the row alone, and with
                                the row beside rows of NaN and infinities. None promises nothing about batches.
    recipes                     name → recipe(draw, dtype) → input arrays.
    every_input                 the spec is elementwise, and its promise holds for every bit pattern: sweeps run a
                                program of one input on all of them, and searches take floats of all sizes. A slow
                                reference can use `harness.spec.tolerances.precision`.
    attrs                       label → keyword arguments. Each label gives its own cases: the program, the reference,
                                every derivative and every bound are called with its keyword arguments; recipes and
                                `state` are called with those that they accept. Values are literals. Without `attrs`,
                                functions get no keyword arguments and ids have no label.
    ops                         names of OpDefs, joined by `;`, that the executed graph must contain; or a dict by mode
                                and by `+VARIANT`, for device variants under which TensorFlow uses other ops.
    tolerance                   how far each result may be off: see `Tolerance`.
    tier                        the lowest tier that runs it: see `harness.spec.lists.tiers`.
    full_dtypes                 the dtypes, out of its own, that only the full tier runs: another one stands for them.
    derivatives                 the promised gradients and second derivatives: see `Derivatives`.
    execution                   how a run calls the program: see `Execution`.
    evidence                    further proof that a run tested its subject: `KIND:NAME`, joined by `;`, or a dict by
                                mode. `ran:OP`: the executed graph contains this op, on any device. `also:CPU:1`: ops
                                ran on this device too. `built:OP`: the graph that the program built contains it;
                                TensorFlow may have pruned it since.
                                `replaced:OP=GRADIENT` or `replaced:OP`: a gradient override map replaced the gradient
                                of this op. `waits:OP=UPDATE`: in a v1 graph, an op of the first type runs only after
                                one of the second, by its control inputs. `called:NAME`: the program called this
                                function, method or class of TensorFlow, such as `compat.v1.py_func`; with an argument,
                                as in `called:identity(name=Identity)`, it passed this argument. `graphs:N`,
                                `sessions:N`: a program with sessions ran this many graphs or sessions.
    modes                       the modes that can express the program. A mode that rejects the program belongs in
                                `contract`.
    mistaken                    `output` or `grad` → a function with the arguments and results of `reference` or `vjp`:
                                what TensorFlow computes in its place because of a known failure. It changes no promise;
                                the region of a known failure may compare a result with it. A function with an argument
                                `dtype` gets that of the case, because its arrays are wider.
    contract                    pattern of plans (`gpu/*`, `*/xla`) → `Side`; the first matching pattern applies.
    constant                    outputs (`output[1]`) that may ignore the values of the inputs, such as a shape. If any
                                other output ignores them, the spec is at fault.
    names                       a name for each output, such as the formula of each of many small programs; the detail
                                of an output's records begins with its name.
    claims                      claims of people about the program; each is compared with the program's results.
    override                    the spec's cells in the table of gradient overrides.
    files                       the program's source files other than Python, such as an op in C++; shown with the
                                program.
    """

    name: str
    program: Callable[..., Any]
    reference: Callable[..., Any]
    recipes: Mapping[str, Recipe]
    ops: str | Mapping[str, str]
    aspect: str = ""
    twin_of: str = ""
    evidence: str | Mapping[str, str] = ""
    second: Callable[..., Any] | None = None
    tolerance: Tolerance = field(default_factory=Tolerance)
    derivatives: Derivatives = field(default_factory=Derivatives)
    execution: Execution = field(default_factory=Execution)
    elementwise: bool = False
    batch: tuple[int, ...] | None = None
    dtypes: tuple[str, ...] = ("float32",)
    modes: tuple[str, ...] = MODES
    mistaken: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    contract: Mapping[str, Side] = field(default_factory=dict)
    constant: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    files: tuple[Path, ...] = ()
    tier: str = "default"
    full_dtypes: tuple[str, ...] = ()
    attrs: Mapping[str, Keywords] = field(default_factory=dict)
    every_input: bool = False
    override: OverrideCell | None = None

    def tier_in(self, dtype: str) -> str:
        """The lowest tier that runs it in this dtype."""
        return "full" if dtype in self.full_dtypes else self.tier

    def evidence_in(self, mode: str) -> tuple[tuple[str, str], ...]:
        """The evidence that a run in this mode must give, as pairs (kind, name)."""
        entries = self.evidence if isinstance(self.evidence, str) else self.evidence.get(mode, "")
        return tuple((e.partition(":")[0], e.partition(":")[2]) for e in entries.split(";") if e)

    @property
    def takes_one_input(self) -> bool:
        """Whether the program takes one input, and no state."""
        attr_names = {name for keywords in self.attrs.values() for name in keywords}
        parameters = [p for p in signature(self.program).parameters.values() if p.kind is not p.VAR_KEYWORD]
        needed = [p for p in parameters if p.default is p.empty and p.name not in attr_names]
        several = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        return not (self.execution.state or several) and len(needed) == 2
