"""Spec: what an op or a small program promises, and the cases that it yields."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import DEVICE_TYPE, MODES, Plan
from tf_opdiff.harness.spec.recipes import Draw
from tf_opdiff.harness.spec.variant import VARIANTS

QUANTITY = re.compile(r"(output|grad|jvp|hvp)(\[\d+\])?")
CASE_ID = re.compile(r"[A-Za-z0-9_.=,:+-]{1,150}")
#: The recipes of a sweep: every bit pattern but the subnormal ones, and those.
SWEEPS = ("sweep", "sweep_subnormal")
TIERS = ("smoke", "default", "full")
#: The kinds of evidence that a spec can ask for, beside `ops`.
EVIDENCE = ("ran", "built", "replaced", "called", "graphs", "sessions")
Recipe = Callable[[Draw, np.dtype], tuple[np.ndarray, ...]]


class Unavailable(Exception):
    """Raised by a program that can't run here at all; the message says what is lacking, such as a compiler."""


@dataclass(frozen=True)
class Raises:
    """The promise of an error.

    `code` is a TensorFlow error code (`INVALID_ARGUMENT`) or, for errors that Python raises, the class name
    (`LookupError`). `says` is a text that the message has to contain.
    """

    code: str
    says: str = ""


@dataclass(frozen=True)
class Sparse:
    """The promise of a gradient that stays an `IndexedSlices`: values (n, ...), indices (n,), dense shape."""

    values: np.ndarray
    indices: np.ndarray
    shape: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Side:
    """One side of a contract: what the plans that a pattern selects promise instead of the reference.

    `why` says where the divergence is documented, `link` points there.
    A side without `vjp` keeps that of the spec. `unless` names a variant of a device under which it does not hold.
    """

    reference: Callable[..., Any]
    why: str
    vjp: Callable[..., Any] | None = None
    link: str = ""
    unless: str = ""


@dataclass(frozen=True, kw_only=True)
class Topic:
    """What several claims are about: its number, a title, in a sentence the program, and where such things are said."""

    id: str
    title: str
    program: str
    origin: str
    link: str = ""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence that people believe about a spec's program, and what would be seen if it were so.

    topic, letter               together its id: `C08` and `b` make `C08b`.
    says                        the sentence.
    about                       the quantities that it speaks of, or their families (`output[0]`, `grad`).
    reference, vjp              what it predicts, in the form of those of the spec. Without them, it predicts what the
                                spec itself promises, contracts aside.
    denies                      it says that the program does *not* give that.
    ulp                         budgets, as in the spec, in place of the spec's.
    plans                       patterns of the plans that it speaks of.
    refuted                     pattern of plans → why it does not hold there, in a line. Elsewhere it is expected to
                                hold. What a run computes is checked against this, both ways.
    instead                     the name of the spec that does what was wanted.
    """

    topic: Topic
    letter: str
    says: str
    about: tuple[str, ...]
    reference: Callable[..., Any] | None = None
    vjp: Callable[..., Any] | None = None
    denies: bool = False
    ulp: Mapping[str, float | Mapping[str, float]] | None = None
    plans: tuple[str, ...] = ("*/*",)
    refuted: Mapping[str, str] = field(default_factory=dict)
    instead: str = ""

    @property
    def id(self) -> str:
        return self.topic.id + self.letter

    def why_refuted(self, plan: Plan) -> str:
        """Why the claim is expected not to hold under a plan; empty where it is expected to."""
        return next((why for pattern, why in self.refuted.items() if plan.matches(pattern)), "")

    def concerns(self, quantity: str) -> bool:
        """Whether the claim speaks of a quantity."""
        return quantity in self.about or quantity.partition("[")[0] in self.about


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What an op or a small program promises, for every dtype and every input recipe.

    program(tf, *inputs)        → a tensor or a tuple of tensors; with `state`, program(tf, state, *inputs).
    reference(*inputs)          → the same from NumPy. Float inputs arrive as float64, complex ones as complex128;
                                  a float64 or complex128 result, or one in long double, which is wider, stands for a
                                  result in the case's dtype, any other dtype for itself. `Raises` promises an error.
                                  A dict at the end of the tuple promises final values of `state`.
    second(*inputs)             → the same by another way; where the two disagree, the reference is suspect, not
                                  TensorFlow.
    vjp(g, *inputs)             → the vector-Jacobian product, one entry an input (and then one a state variable):
                                  an array, None (unconnected), `Sparse`, or `Raises` for all of them. `g` is shaped
                                  like the reference's result. Without `vjp` no gradient is asked for.
    jvp(t, *inputs)             → forward mode: the Jacobian times the tangents `t`, one entry an output. `t` is shaped
                                  like the input, or a tuple where there are several.
    hvp(g, t, *inputs)          → second order: the derivative of the VJP along `t`, one entry an input; with `vjp`.
    elementwise                 an element of an output comes from the inputs' elements in its place alone, so that it
                                  must not matter where it stands: each run of inputs that have one shape is held
                                  against one in pieces, which is another program to build.
    recipes                     name → recipe(draw, dtype) → input arrays. One of the name `bits` says of a program of
                                one input that it is elementwise and that the spec is about every bit pattern: it is
                                then swept, for which a reference that is slow may look at `harness.spec.precision`.
    ops                         OpDef names, `;`-joined, that the executed graph has to contain, or a dict by mode and,
                                where TensorFlow takes other ops under a variant of a device, by `+VARIANT`.
    evidence                    what else a run has to show to be about its subject: `KIND:NAME`, `;`-joined, or a
                                dict by mode. `ran:OP` is in the executed graph, on whatever device. `built:OP` is in
                                the graph that the program built; it may have been pruned since. `replaced:OP=GRADIENT`,
                                or `replaced:OP`: a map replaced the gradient of that op. `called:NAME`: the program
                                called this function, method or class of TensorFlow, such as `compat.v1.py_func`.
                                `graphs:N`, `sessions:N`: that many ran in a program with sessions.
    modes                       the modes that can express the program at all; one that refuses it is a contract.
    state(tf, *inputs)          → dict of variables, and of lists to which Python side effects append; what is under a
                                name with `_` in front, such as an optimizer, is kept between steps and not looked at.
    steps                       how often the program runs on one state; outputs are stacked on a new first axis.
    ulp                         budget in ULPs of the result's dtype by quantity (`output`, `grad[1]`, `jvp`) and,
                                where it differs, dtype. Absent means exact.
    bound                       quantity, or family → bound(u, g, *inputs), or bound(u, g, t, *inputs) of `jvp` and
                                `hvp` → largest absolute error, for accumulations and where the error goes with the
                                input; u is the unit round-off of the case's dtype.
    unsigned_zeros              quantities, or families, in which a zero of either sign is right, as of the maximum of
                                zeros: see docs/explanations/conventions.md.
    contract                    pattern of plans (`gpu/*`, `*/xla`) → `Side`; the first that matches counts.
    constant                    the outputs (`output[1]`) that are meant to ignore the inputs' values, such as a shape.
                                Any other output like that is a fault.
    sessions                    the program opens v1 sessions itself, in mode `graph`: program(tf, session, *arrays) →
                                arrays. `with session() as s:` makes a graph the default one, on the plan's device, and
                                a session on it, closed in the end; `session(graph)` opens another one on that graph.
                                It has a second CPU, `CPU:1`, and fills a `run_metadata` with the graphs that ran.
    claims                      what people say of the program; each is held against what it gives.
    files                       what the program is made of besides Python, such as an op in C++; shown with it.
    """

    name: str
    program: Callable[..., Any]
    reference: Callable[..., Any]
    recipes: Mapping[str, Recipe]
    ops: str | Mapping[str, str]
    evidence: str | Mapping[str, str] = ""
    second: Callable[..., Any] | None = None
    vjp: Callable[..., Any] | None = None
    jvp: Callable[..., Any] | None = None
    hvp: Callable[..., Any] | None = None
    elementwise: bool = False
    dtypes: tuple[str, ...] = ("float32",)
    modes: tuple[str, ...] = MODES
    state: Callable[..., dict[str, Any]] | None = None
    steps: int = 1
    ulp: Mapping[str, float | Mapping[str, float]] = field(default_factory=dict)
    bound: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    unsigned_zeros: tuple[str, ...] = ()
    contract: Mapping[str, Side] = field(default_factory=dict)
    constant: tuple[str, ...] = ()
    sessions: bool = False
    claims: tuple[Claim, ...] = ()
    files: tuple[Path, ...] = ()
    tier: str = "default"

    def __post_init__(self) -> None:
        if not callable(self.reference):
            raise TypeError(f"spec {self.name}: reference: expected a function, got {self.reference!r}")
        ops = self.ops if isinstance(self.ops, Mapping) else {}
        for mode in (*self.modes, *(key for key in ops if not key.startswith("+"))):
            if mode not in MODES:
                raise ValueError(f"spec {self.name}: mode {mode!r} is none of {', '.join(MODES)}")
        for mode in self.modes:
            for kind, name in self.evidence_in(mode):
                if kind not in EVIDENCE or not name:
                    kinds = ", ".join(EVIDENCE)
                    raise ValueError(f"spec {self.name}: evidence {kind}:{name}: expected KIND:NAME, of {kinds}")
        for variant in (*(key[1:] for key in ops if key.startswith("+")), *(s.unless for s in self.contract.values())):
            if variant and variant not in VARIANTS:
                raise ValueError(f"spec {self.name}: variant {variant!r} is none of {', '.join(VARIANTS)}")
            if variant and VARIANTS[variant].facts:  # a device without the variant may be the same
                raise ValueError(f"spec {self.name}: no promise can go by {variant!r}: the processor decides too")
        for pattern in (*self.contract, *(p for c in self.claims for p in (*c.plans, *c.refuted))):
            device, _, mode = pattern.partition("/")
            if not (device == "*" or DEVICE_TYPE.fullmatch(device)) or mode not in (*MODES, "*"):
                raise ValueError(f"spec {self.name}: pattern {pattern!r}: expected DEVICE_TYPE/MODE, each may be *")
        if self.tier not in TIERS:
            raise ValueError(f"spec {self.name}: tier {self.tier!r} is none of {', '.join(TIERS)}")
        if self.steps > 1 and self.vjp:
            raise ValueError(f"spec {self.name}: a program of several steps can't have a vjp")
        if self.state and (self.jvp or self.hvp or self.elementwise):
            raise ValueError(f"spec {self.name}: a program with state can't have jvp, hvp or be elementwise")
        if self.sessions and (self.modes != ("graph",) or self.state or self.vjp or self.steps > 1):
            raise ValueError(f"spec {self.name}: a program with sessions of its own has mode graph only, and no vjp")
        if any(c.vjp for c in self.claims) and not self.vjp:
            raise ValueError(f"spec {self.name}: a claim predicts a gradient, and the spec has no vjp")
        if self.hvp and not self.vjp:
            raise ValueError(f"spec {self.name}: hvp is the derivative of vjp, which it lacks")
        for ulp in (self.ulp, *(c.ulp or {} for c in self.claims)):
            for quantity, budget in ulp.items():
                self._check_budget(quantity, budget)
        for quantity in self.constant:
            if not re.fullmatch(r"output\[\d+\]", quantity):
                raise ValueError(f"spec {self.name}: constant {quantity!r}: expected output[i]")
        for quantity, bound in self.bound.items():
            self._check_quantity(quantity)
            if not callable(bound):
                raise TypeError(f"spec {self.name}: bound of {quantity}: expected a function, got {bound!r}")
        for case in self.cases():
            if not CASE_ID.fullmatch(case.id):
                raise ValueError(f"spec {self.name}: case id {case.id!r} does not match {CASE_ID.pattern}")

    def _check_quantity(self, quantity: str) -> None:
        if not QUANTITY.fullmatch(quantity):
            expected = "output, grad, jvp or hvp, and [i] for one of several"
            raise ValueError(f"spec {self.name}: quantity {quantity!r}: expected {expected}")

    def _check_budget(self, quantity: str, budget: object) -> None:
        self._check_quantity(quantity)
        by_dtype: Mapping[str, object] = budget if isinstance(budget, Mapping) else {"": budget}
        for dtype, ulps in by_dtype.items():
            try:
                np.dtype(dtype or "f4")
            except TypeError as error:
                raise ValueError(f"spec {self.name}: budget of {quantity}: there is no dtype {dtype!r}") from error
            if isinstance(ulps, (bool, np.bool_)) or not isinstance(ulps, Real) or not 0 <= float(ulps) < math.inf:
                where = f"{quantity} in {dtype}" if dtype else quantity
                raise ValueError(f"spec {self.name}: budget of {where}: expected a number of ULPs >= 0, got {ulps!r}")

    def cases(self, dtype: str | None = None) -> tuple[Case, ...]:
        """The spec's cases, or those of one dtype, in the order of their declaration."""
        dtypes = self.dtypes if dtype is None else (dtype,)
        return tuple(Case(self, d, recipe) for d in dtypes for recipe in self.recipes)

    def ops_in(self, mode: str, variants: Iterable[str] = ()) -> tuple[str, ...]:
        """The OpDef names that the graph of this mode has to contain, on a device of these variants."""
        names = self.ops
        if isinstance(names, Mapping):
            names = next((names[f"+{v}"] for v in variants if f"+{v}" in names), names.get(mode, ""))
        return tuple(filter(None, names.split(";")))

    def evidence_in(self, mode: str) -> tuple[tuple[str, str], ...]:
        """The evidence that a run in this mode has to show, as pairs of a kind and a name."""
        entries = self.evidence if isinstance(self.evidence, str) else self.evidence.get(mode, "")
        return tuple((e.partition(":")[0], e.partition(":")[2]) for e in entries.split(";") if e)

    def side(self, plan: Plan) -> Side | None:
        """The side of the contract that this plan is on, if any."""
        return next(
            (s for p, s in self.contract.items() if plan.matches(p) and s.unless not in plan.device.variants), None
        )

    @property
    def sweepable(self) -> bool:
        """Whether the spec is about every input of a program of one input."""
        parameters = signature(self.program).parameters.values()
        needed = [p for p in parameters if p.default is p.empty]
        several = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        return "bits" in self.recipes and not (self.state or several) and len(needed) == 2

    @staticmethod
    def of(mapping: Mapping[str, Any], quantity: str) -> Any:
        """What a mapping has for a quantity (`grad[1]`) or, failing that, for its family (`grad`); else None."""
        return mapping.get(quantity, mapping.get(quantity.partition("[")[0]))

    def has_unsigned_zeros(self, quantity: str) -> bool:
        """Whether a zero of either sign is right in a quantity."""
        return quantity in self.unsigned_zeros or quantity.partition("[")[0] in self.unsigned_zeros

    def budget(self, quantity: str, dtype: str) -> float:
        """Allowed distance in ULPs of the result's dtype."""
        found = self.of(self.ulp, quantity) or 0
        return float(found.get(dtype, 0) if isinstance(found, Mapping) else found)


@dataclass(frozen=True)
class Case:
    """One dtype and one input recipe of a spec."""

    spec: Spec
    dtype: str
    recipe: str

    @property
    def id(self) -> str:
        return f"{self.spec.name}-{self.dtype}-{self.recipe}"

    @property
    def seed(self) -> int:
        """A hash of the id, so that the id names the same numbers on every machine."""
        return int.from_bytes(hashlib.blake2b(self.id.encode(), digest_size=8).digest(), "big")

    def inputs(self) -> tuple[np.ndarray, ...]:
        """The case's input arrays, the same ones at every call."""
        with np.errstate(all="ignore"):
            arrays = self.spec.recipes[self.recipe](Draw(self.seed), np.dtype(self.dtype))
        return tuple(np.asarray(a) for a in arrays)
