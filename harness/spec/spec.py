"""Spec: the promises of an op or a small program, and the cases that test them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.attrs import Keywords, accepted, check_attrs
from tf_opdiff.harness.spec.budget import Budgets, check_budgets, check_quantity, entry_of, ulps_of
from tf_opdiff.harness.spec.by_mode import ByMode, each, mode_family
from tf_opdiff.harness.spec.ceiling import Ceiling, Ceilings
from tf_opdiff.harness.spec.claim import Claim, Topic
from tf_opdiff.harness.spec.contract import Raises, Side, Sparse
from tf_opdiff.harness.spec.loose import Loose
from tf_opdiff.harness.spec.plan import MODES, Plan, check_pattern
from tf_opdiff.harness.spec.quantity import family_of, is_quantity, number_of
from tf_opdiff.harness.spec.recipes import Draw
from tf_opdiff.harness.spec.tiers import TIERS
from tf_opdiff.harness.spec.variant import VARIANTS

#: The names that suites import to declare specs.
__all__ = ("Case", "Claim", "Raises", "Side", "Sparse", "Spec", "Topic", "Unavailable")

CASE_ID = re.compile(r"[A-Za-z0-9_.=,:+-]{1,150}")
#: The recipes of a sweep: all bit patterns but the subnormal ones, and all subnormal ones.
SWEEPS = ("sweep", "sweep_subnormal")
#: The recipe of a search: the inputs with the largest errors that it found.
SEARCH = "search"
#: The names of recipes that a spec does not declare: their inputs are known by bit patterns.
BY_PATTERNS = (*SWEEPS, SEARCH)
#: The kinds of evidence that a spec can require in addition to `ops`.
EVIDENCE = ("ran", "built", "replaced", "called", "graphs", "sessions")
Recipe = Callable[..., tuple[np.ndarray, ...]]


class Unavailable(Exception):
    """Raised by a program that can't run on this machine; the message names the missing part, such as a compiler."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """The promises of an op or a small program, for every dtype, every set of attributes and every input recipe.

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
                                of this op. `called:NAME`: the program called this function, method or class of
                                TensorFlow, such as `compat.v1.py_func`. `graphs:N`, `sessions:N`: a program with
                                sessions ran this many graphs or sessions.
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
    files                       the program's source files other than Python, such as an op in C++; shown with the
                                program.
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
    ulp: Budgets = field(default_factory=dict)
    bound: Mapping[str, Callable[..., Any] | ByMode] = field(default_factory=dict)
    ceilings: Ceilings = field(default_factory=dict)
    loose: Mapping[str, Loose] = field(default_factory=dict)
    alternatives: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
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

    def __post_init__(self) -> None:
        try:
            self._check_names()
            self._check_together()
            self._check_promises()
        except (TypeError, ValueError) as why:
            raise type(why)(f"spec {self.name}: {why}") from why

    def _check_names(self) -> None:
        """Refuses modes, evidence, variants, plans and tiers that do not exist."""
        ops = self.ops if isinstance(self.ops, Mapping) else {}
        for mode in (*self.modes, *(key for key in ops if not key.startswith("+"))):
            if mode not in MODES:
                raise ValueError(f"mode {mode!r} is none of {', '.join(MODES)}")
        for kind, name in (entry for mode in self.modes for entry in self.evidence_in(mode)):
            if kind not in EVIDENCE or not name:
                raise ValueError(f"evidence {kind}:{name}: expected KIND:NAME, of {', '.join(EVIDENCE)}")
        for variant in (*(key[1:] for key in ops if key.startswith("+")), *(s.unless for s in self.contract.values())):
            if variant and variant not in VARIANTS:
                raise ValueError(f"variant {variant!r} is none of {', '.join(VARIANTS)}")
            if variant and VARIANTS[variant].facts:  # a device without the variant may be the same
                raise ValueError(f"no promise can go by {variant!r}: the processor decides too")
        for pattern in (*self.contract, *(p for c in self.claims for p in (*c.plans, *c.refuted))):
            check_pattern(pattern)
        if self.tier not in TIERS:
            raise ValueError(f"tier {self.tier!r} is none of {', '.join(TIERS)}")

    def _check_together(self) -> None:
        """Refuses fields that exclude each other."""
        if self.steps > 1 and self.vjp:
            raise ValueError("a program of several steps can't have a vjp")
        if self.state and (self.jvp or self.hvp or self.elementwise):
            raise ValueError("a program with state can't have jvp, hvp or be elementwise")
        if self.sessions and (self.modes != ("graph",) or self.state or self.vjp or self.steps > 1):
            raise ValueError("a program with sessions of its own has mode graph only, and no vjp")
        if any(c.vjp for c in self.claims) and not self.vjp:
            raise ValueError("a claim predicts a gradient, and the spec has no vjp")
        if self.only_gradients and (not self.vjp or self.state or self.jvp or self.hvp):
            raise ValueError("only_gradients: expected a vjp, and no state, jvp or hvp")
        if self.hvp and not self.vjp:
            raise ValueError("hvp is the derivative of vjp, which the spec lacks")
        if self.sweep and not self._takes_one_input:
            raise ValueError("sweep: expected a program of one input, without state")

    def _check_promises(self) -> None:
        """Refuses invalid references, constants, budgets, bounds, attributes and case ids."""
        if not callable(self.reference):
            raise TypeError(f"reference: expected a function, got {self.reference!r}")
        for quantity in self.constant:
            if not is_quantity(quantity) or family_of(quantity) != "output":
                raise ValueError(f"constant {quantity!r}: expected output[i]")
        for ulp in (self.ulp, *(c.ulp or {} for c in self.claims)):
            check_budgets(ulp)
        for quantity, bounds in self.bound.items():
            check_quantity(quantity)
            for bound in each(bounds):
                if not callable(bound):
                    raise TypeError(f"bound of {quantity}: expected a function, got {bound!r}")
        for quantity, function in self.alternatives.items():
            check_quantity(quantity)
            if not callable(function):
                raise TypeError(f"alternatives of {quantity}: expected a function, got {function!r}")
        for quantity, loose in self.loose.items():
            check_quantity(quantity)
            if not isinstance(loose, Loose):
                raise TypeError(f"loose of {quantity}: expected Loose(where, reason), got {loose!r}")
        if unknown := sorted(self.upstreams.keys() - self.recipes.keys()):
            raise ValueError(f"upstreams {unknown[0]!r}: expected one of the recipes {', '.join(self.recipes)}")
        check_attrs(self.attrs, self._called_with_attrs())
        for case in self.cases():
            if not CASE_ID.fullmatch(case.id):
                raise ValueError(f"case id {case.id!r} does not match {CASE_ID.pattern}")

    def _called_with_attrs(self) -> Iterator[tuple[str, Callable[..., Any]]]:
        """Pairs (name in messages, function) of the functions that must take every keyword argument of `attrs`."""
        for field_name in ("program", "reference", "second", "vjp", "jvp", "hvp"):
            if function := getattr(self, field_name):
                yield field_name, function
        yield from ((f"bound of {quantity}", b) for quantity, bounds in self.bound.items() for b in each(bounds))
        yield from ((f"alternatives of {quantity}", function) for quantity, function in self.alternatives.items())
        for holder in (*self.contract.values(), *self.claims):
            owner = f"claim {holder.id}" if isinstance(holder, Claim) else "contract"
            yield from ((f"{w} of the {owner}", f) for w in ("reference", "vjp") if (f := getattr(holder, w)))

    def cases(self, dtype: str | None = None) -> tuple[Case, ...]:
        """The spec's cases, of one dtype if `dtype` names one, in the order of declaration."""
        dtypes = self.dtypes if dtype is None else (dtype,)
        return self._cases(dtypes, self.recipes)

    def sweeps(self, dtype: str) -> tuple[Case, ...]:
        """The sweep cases of a dtype; none if the spec can't be swept."""
        return self._cases((dtype,), SWEEPS) if self.sweepable else ()

    def _cases(self, dtypes: Iterable[str], recipes: Iterable[str]) -> tuple[Case, ...]:
        return tuple(Case(self, d, r, label) for d in dtypes for label in self.labels for r in recipes)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of `attrs`; one empty label if the spec has no `attrs`."""
        return tuple(self.attrs) or ("",)

    def ops_in(self, mode: str, variants: Iterable[str] = ()) -> tuple[str, ...]:
        """The names of OpDefs that the graph of this mode must contain, on a device with these variants."""
        names = self.ops
        if isinstance(names, Mapping):
            names = next((names[f"+{v}"] for v in variants if f"+{v}" in names), names.get(mode, ""))
        return tuple(filter(None, names.split(";")))

    def evidence_in(self, mode: str) -> tuple[tuple[str, str], ...]:
        """The evidence that a run in this mode must give, as pairs (kind, name)."""
        entries = self.evidence if isinstance(self.evidence, str) else self.evidence.get(mode, "")
        return tuple((e.partition(":")[0], e.partition(":")[2]) for e in entries.split(";") if e)

    def side(self, plan: Plan) -> Side | None:
        """The side of the contract that applies to this plan; None if the reference applies."""
        return self.contract.get(self.promise(plan))

    def promise(self, plan: Plan) -> str:
        """The name of a plan's promise: a pattern of the contract, or empty if the reference applies.

        Patterns with equal sides share one promise, named by the first of these patterns.
        """
        sides = (s for p, s in self.contract.items() if plan.matches(p) and s.unless not in plan.device.variants)
        side = next(sides, None)
        return "" if side is None else next(p for p, s in self.contract.items() if s == side)

    def runs_under(self, plan: Plan) -> bool:
        """Whether a plan can express the program, and is for one of its ops."""
        return plan.mode in self.modes and (not plan.ops or not plan.ops.isdisjoint(self.ops_in(plan.mode)))

    @property
    def sweepable(self) -> bool:
        """Whether sweeps can run the spec: it has one input, and `sweep` or a recipe `bits`."""
        wanted = "bits" in self.recipes if self.sweep is None else self.sweep
        return wanted and self._takes_one_input

    @property
    def _takes_one_input(self) -> bool:
        attr_names = {name for keywords in self.attrs.values() for name in keywords}
        parameters = [p for p in signature(self.program).parameters.values() if p.kind is not p.VAR_KEYWORD]
        needed = [p for p in parameters if p.default is p.empty and p.name not in attr_names]
        several = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        return not (self.state or several) and len(needed) == 2

    def called_with(self, keywords: Keywords) -> Spec:
        """A copy of the spec with these keyword arguments bound to its program and state; the copy has no cases."""
        if not keywords:
            return self
        state = self.state and partial(self.state, **accepted(self.state, keywords))
        return replace(self, program=partial(self.program, **keywords), state=state, attrs={}, recipes={}, upstreams={})

    def has_unsigned_zeros(self, quantity: str) -> bool:
        """Whether zeros of either sign are right in a quantity."""
        return quantity in self.unsigned_zeros or family_of(quantity) in self.unsigned_zeros

    def bound_of(self, quantity: str) -> Callable[..., Any] | ByMode | None:
        """The bound of a quantity or of its family; None if the spec has none."""
        return entry_of(self.bound, quantity)

    def ceiling_of(self, quantity: str, dtype: str, mode: str) -> Ceiling | None:
        """The measured ceiling of a quantity in a dtype and a mode; None if the spec has none."""
        return self.ceilings.get(quantity, {}).get(dtype, {}).get(mode_family(mode))

    def name_of(self, quantity: str) -> str:
        """The name of an output; empty for an output without a name, and for other quantities."""
        number = number_of(quantity)
        return self.names[number] if family_of(quantity) == "output" and number < len(self.names) else ""

    def loose_of(self, quantity: str) -> Loose | None:
        """The loose elements of a quantity or of its family, and the reason; None if there are none."""
        return entry_of(self.loose, quantity)

    def by_modes(self, quantity: str) -> bool:
        """Whether the budget, the bound or the ceiling of a quantity depends on the mode."""
        if quantity in self.ceilings:
            return True
        budget = entry_of(self.ulp, quantity)
        parts = [budget, self.bound_of(quantity), *(budget.values() if isinstance(budget, Mapping) else ())]
        return any(isinstance(part, ByMode) for part in parts)

    def budget(self, quantity: str, dtype: str, mode: str, other: str = "") -> float:
        """The allowed distance, in ULPs of the result's dtype, of a result in a mode from its promise.

        With another mode, the allowed distance of the two results from each other, which is the sum of both budgets:
        each result may be off by its own budget, and they may be off in opposite directions.
        """
        return sum(ulps_of(self.ulp, quantity, dtype, one) for one in (mode, other) if one)


@dataclass(frozen=True)
class Case:
    """One dtype, one label of `attrs` (empty if the spec has none) and one input recipe of a spec."""

    spec: Spec
    dtype: str
    recipe: str
    attrs: str = ""

    def __post_init__(self) -> None:
        if self.attrs not in self.spec.labels:
            expected = ", ".join(filter(None, self.spec.labels)) or "none"
            raise ValueError(f"spec {self.spec.name}: attrs {self.attrs!r}: expected {expected}")

    @property
    def id(self) -> str:
        return "-".join(filter(None, (self.spec.name, self.dtype, self.attrs, self.recipe)))

    @property
    def keywords(self) -> Keywords:
        """The keyword arguments for the functions of the spec."""
        return self.spec.attrs.get(self.attrs, {})

    @property
    def seed(self) -> int:
        """A hash of the id, so a case has the same inputs on every machine."""
        return int.from_bytes(hashlib.blake2b(self.id.encode(), digest_size=8).digest(), "big")

    def inputs(self) -> tuple[np.ndarray, ...]:
        """The case's input arrays; every call returns the same values."""
        recipe = self.spec.recipes[self.recipe]
        with np.errstate(all="ignore"):
            arrays = recipe(Draw(self.seed), np.dtype(self.dtype), **accepted(recipe, self.keywords))
        return tuple(np.asarray(a) for a in arrays)
