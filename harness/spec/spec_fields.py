"""Spec fields: what a spec says of an op or a small program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.attrs import Keywords
from tf_opdiff.harness.spec.budget import Budgets
from tf_opdiff.harness.spec.by_mode import ByMode
from tf_opdiff.harness.spec.ceiling import Ceilings
from tf_opdiff.harness.spec.claim import Claim
from tf_opdiff.harness.spec.contract import Side
from tf_opdiff.harness.spec.loose import Loose
from tf_opdiff.harness.spec.override_cell import OverrideCell
from tf_opdiff.harness.spec.plan import MODES

#: recipe(draw, dtype) → input arrays.
Recipe = Callable[..., tuple[np.ndarray, ...]]


@dataclass(frozen=True, kw_only=True)
class SpecFields:
    """The promises of an op or a small program, for every dtype, every set of attributes and every input recipe.

    aspect                      what made the spec from another one, such as `sizes` or `second-order`; empty for a spec
                                that a declaration makes itself. Only suites read it.
    program(tf, *inputs)        → a tensor or a tuple of tensors; with `state`, program(tf, state, *inputs).
    reference(*inputs)          → the expected outputs, computed with NumPy. Float inputs arrive as float64, complex
                                  inputs as complex128. A result in float64, complex128 or long double promises a result
                                  in the case's dtype; any other dtype promises a result in that dtype. `Raises`
                                  promises an error. A dict at the end of the tuple promises final values of `state`.
    second(*inputs)             → the same outputs, computed by another method. If the two disagree, the reference is
                                  suspect, not TensorFlow.
    vjp(g, *inputs)             → the vector-Jacobian product: one entry for each input, then one for each state
                                  variable. An entry is an array, None (unconnected) or `Sparse`; `Raises` in place of
                                  the entries promises an error. `g` has the shape of the reference's result. Without
                                  `vjp`, no gradient is computed.
    jvp(t, *inputs)             → forward mode: the Jacobian times the tangents `t`, one entry for each output. `t` has
                                  the shape of the input; it is a tuple if the program has several inputs.
    hvp(g, t, *inputs)          → second order: the derivative of the VJP along `t`, one entry for each input. Needs
                                  `vjp`.
    elementwise                 each element of an output depends only on the input elements at its position, so the
                                position must not change the result. If all inputs have one shape, their run is
                                compared with runs of pieces of them; this costs one more program to build.
    batch                       the first axis of each input and of each output is the axis of a batch, and a row must
                                give the same result in every batch; the numbers of the inputs that all rows share, such
                                as filters, or an empty tuple. A row of the run is compared with the row alone, and with
                                the row beside rows of NaN and infinities. None promises nothing about batches.
    recipes                     name → recipe(draw, dtype) → input arrays.
    sweep                       the spec is elementwise, has one input, and holds for every bit pattern, so sweeps run
                                it on all of them. A slow reference can then use `harness.spec.precision`. By default,
                                a program of one input is swept if it has a recipe named `bits`.
    attrs                       label → keyword arguments. Each label gives its own cases: the program, the reference,
                                every derivative and every bound are called with its keyword arguments; recipes and
                                `state` are called with those that they accept. Values are literals. Without `attrs`,
                                functions get no keyword arguments and ids have no label.
    ops                         names of OpDefs, joined by `;`, that the executed graph must contain; or a dict by mode
                                and by `+VARIANT`, for device variants under which TensorFlow uses other ops.
    evidence                    further proof that a run tested its subject: `KIND:NAME`, joined by `;`, or a dict by
                                mode. `ran:OP`: the executed graph contains this op, on any device. `built:OP`: the
                                graph that the program built contains it; TensorFlow may have pruned it since.
                                `replaced:OP=GRADIENT` or `replaced:OP`: a gradient override map replaced the gradient
                                of this op. `waits:OP=UPDATE`: in a v1 graph, an op of the first type runs only after
                                one of the second, by its control inputs. `called:NAME`: the program called this
                                function, method or class of TensorFlow, such as `compat.v1.py_func`; with an argument,
                                as in `called:identity(name=Identity)`, it passed this argument. `graphs:N`,
                                `sessions:N`: a program with sessions ran this many graphs or sessions.
    modes                       the modes that can express the program. A mode that rejects the program belongs in
                                `contract`.
    state(tf, *inputs)          → a dict of variables and of lists to which Python side effects append. An entry whose
                                name begins with `_`, such as an optimizer, lives through all steps and is not compared.
    steps                       the number of times that the program runs on one state; outputs are stacked along a new
                                first axis.
    ulp                         budgets in ULPs of the result's dtype, by quantity (`output`, `grad[1]`, `jvp`) and,
                                where needed, by dtype. `by_mode(eager=…, xla=…)` in place of a budget has one for XLA
                                and another for all other modes. A quantity without a budget must be exact.
    bound                       quantity or family → bound(u, g, *inputs), for `jvp` and `hvp` bound(u, g, t, *inputs),
                                → the largest allowed absolute error. For accumulations, and for errors that grow with
                                the input. `u` is the unit round-off of the case's dtype. May be `by_mode` as well.
    ceilings                    quantity → dtype → family of modes → `harness.spec.ceiling.Ceiling`: the largest
                                distance in ULPs by exponent of the only input, as measured. It narrows the budget and
                                the bound where it was measured: on the CPU of this machine.
    loose                       quantity or family → `harness.spec.loose.Loose`: the elements at which the bound may
                                allow more than half of the digits, or more than 2^12 ULPs (see `harness.judge.room`),
                                because the program itself loses them, and a sentence that says how.
    alternatives                quantity or family → alternatives(dtype, g, *inputs), for `jvp` and `hvp`
                                alternatives(dtype, g, t, *inputs), → further arrays of the promise's shape. Each
                                element is right if it keeps the promise or one of them: see `suites.forms.flushed`.
                                `dtype` is the NumPy dtype of the case. A side of a contract has its own.
    mistaken                    `output` or `grad` → a function with the arguments and results of `reference` or `vjp`:
                                what TensorFlow computes in its place because of a known failure. It changes no promise;
                                the region of a known failure may compare a result with it.
    upstreams                   name of a recipe → upstream(draw, dtype, *shape) → the upstream of an output, in place
                                of random numbers away from zero.
    only_gradients              the run fetches no output, only gradients, so that TensorFlow may remove the forward op.
    unknown_shapes              functions are traced, and placeholders made, with unknown sizes of all dimensions: one
                                program for all shapes of a rank.
    unsigned_zeros              quantities or families in which zeros of either sign are right, such as the maximum of
                                +0 and -0: see docs/explanations/conventions.md.
    contract                    pattern of plans (`gpu/*`, `*/xla`) → `Side`; the first matching pattern applies.
    constant                    outputs (`output[1]`) that may ignore the values of the inputs, such as a shape. If any
                                other output ignores them, the spec is at fault.
    sessions                    the program opens v1 sessions itself, in mode `graph`: program(tf, session, *arrays) →
                                arrays. `with session() as s:` makes a new default graph on the plan's device and a
                                session on this graph, and closes the session at the end. `session(graph)` opens
                                another session on that graph. Each session has a second CPU, `CPU:1`, and stores the
                                executed graphs in a `run_metadata`.
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
    evidence: str | Mapping[str, str] = ""
    second: Callable[..., Any] | None = None
    vjp: Callable[..., Any] | None = None
    jvp: Callable[..., Any] | None = None
    hvp: Callable[..., Any] | None = None
    elementwise: bool = False
    batch: tuple[int, ...] | None = None
    dtypes: tuple[str, ...] = ("float32",)
    modes: tuple[str, ...] = MODES
    state: Callable[..., dict[str, Any]] | None = None
    steps: int = 1
    ulp: Budgets = field(default_factory=dict)
    bound: Mapping[str, Callable[..., Any] | ByMode] = field(default_factory=dict)
    ceilings: Ceilings = field(default_factory=dict)
    loose: Mapping[str, Loose] = field(default_factory=dict)
    alternatives: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    mistaken: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    upstreams: Mapping[str, Callable[..., np.ndarray]] = field(default_factory=dict)
    only_gradients: bool = False
    unknown_shapes: bool = False
    unsigned_zeros: tuple[str, ...] = ()
    contract: Mapping[str, Side] = field(default_factory=dict)
    constant: tuple[str, ...] = ()
    sessions: bool = False
    names: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    files: tuple[Path, ...] = ()
    tier: str = "default"
    attrs: Mapping[str, Keywords] = field(default_factory=dict)
    sweep: bool | None = None
    override: OverrideCell | None = None

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
        return not (self.state or several) and len(needed) == 2
