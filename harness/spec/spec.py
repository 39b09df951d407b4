"""Spec: what an op or a small program promises, and the cases that it yields."""

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
from tf_opdiff.harness.spec.budget import check_budgets, check_quantity, entry_of
from tf_opdiff.harness.spec.claim import Claim, Topic
from tf_opdiff.harness.spec.contract import Raises, Side, Sparse
from tf_opdiff.harness.spec.plan import MODES, Plan, check_pattern
from tf_opdiff.harness.spec.quantity import family_of, is_quantity
from tf_opdiff.harness.spec.recipes import Draw
from tf_opdiff.harness.spec.variant import VARIANTS

#: The words that a suite needs for its specs.
__all__ = ("Case", "Claim", "Raises", "Side", "Sparse", "Spec", "Topic", "Unavailable")

CASE_ID = re.compile(r"[A-Za-z0-9_.=,:+-]{1,150}")
#: The recipes of a sweep: every bit pattern but the subnormal ones, and those.
SWEEPS = ("sweep", "sweep_subnormal")
TIERS = ("smoke", "default", "full")
#: The kinds of evidence that a spec can ask for, beside `ops`.
EVIDENCE = ("ran", "built", "replaced", "called", "graphs", "sessions")
Recipe = Callable[..., tuple[np.ndarray, ...]]


class Unavailable(Exception):
    """Raised by a program that can't run here at all; the message names what is lacking, such as a compiler."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What an op or a small program promises, for every dtype, every set of attributes and every input recipe.

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
    recipes                     name → recipe(draw, dtype) → input arrays.
    sweep                       the spec is about every bit pattern of a program of one input, and elementwise: sweeps
                                try them all. A slow reference may look at `harness.spec.precision` then. By default,
                                a program of one input is swept if one of its recipes is called `bits`.
    attrs                       label → keyword arguments. Each label gives cases of its own, in which the program, the
                                reference, every derivative and every bound is called with these keyword arguments;
                                recipes and `state` are called with those that they have a parameter for. Values are
                                literals. Without `attrs`, there are no keyword arguments, and no label in ids.
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
        if self.hvp and not self.vjp:
            raise ValueError("hvp is the derivative of vjp, which the spec lacks")
        if self.sweep and not self._takes_one_input:
            raise ValueError("sweep: expected a program of one input, without state")

    def _check_promises(self) -> None:
        """Refuses budgets, bounds, attributes and ids that could not be used."""
        if not callable(self.reference):
            raise TypeError(f"reference: expected a function, got {self.reference!r}")
        for quantity in self.constant:
            if not is_quantity(quantity) or family_of(quantity) != "output":
                raise ValueError(f"constant {quantity!r}: expected output[i]")
        for ulp in (self.ulp, *(c.ulp or {} for c in self.claims)):
            check_budgets(ulp)
        for quantity, bound in self.bound.items():
            check_quantity(quantity)
            if not callable(bound):
                raise TypeError(f"bound of {quantity}: expected a function, got {bound!r}")
        check_attrs(self.attrs, self._called_with_attrs())
        for case in self.cases():
            if not CASE_ID.fullmatch(case.id):
                raise ValueError(f"case id {case.id!r} does not match {CASE_ID.pattern}")

    def _called_with_attrs(self) -> Iterator[tuple[str, Callable[..., Any]]]:
        """The functions that take every keyword argument of `attrs`, each with the word that a message uses for it."""
        for word in ("program", "reference", "second", "vjp", "jvp", "hvp"):
            if function := getattr(self, word):
                yield word, function
        yield from ((f"bound of {quantity}", bound) for quantity, bound in self.bound.items())
        for holder in (*self.contract.values(), *self.claims):
            owner = f"claim {holder.id}" if isinstance(holder, Claim) else "contract"
            yield from ((f"{w} of the {owner}", f) for w in ("reference", "vjp") if (f := getattr(holder, w)))

    def cases(self, dtype: str | None = None) -> tuple[Case, ...]:
        """The spec's cases, or those of one dtype, in the order of their declaration."""
        dtypes = self.dtypes if dtype is None else (dtype,)
        return self._cases(dtypes, self.recipes)

    def sweeps(self, dtype: str) -> tuple[Case, ...]:
        """The cases of every bit pattern of a dtype; none where the spec is about other inputs."""
        return self._cases((dtype,), SWEEPS) if self.sweepable else ()

    def _cases(self, dtypes: Iterable[str], recipes: Iterable[str]) -> tuple[Case, ...]:
        return tuple(Case(self, d, r, label) for d in dtypes for label in self.labels for r in recipes)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of `attrs`; an empty one where there are none."""
        return tuple(self.attrs) or ("",)

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
        return self.contract.get(self.promise(plan))

    def promise(self, plan: Plan) -> str:
        """The name of a plan's promise: a pattern of the contract, or empty for that of the reference.

        Patterns with the same side have one promise, named by the first of them.
        """
        sides = (s for p, s in self.contract.items() if plan.matches(p) and s.unless not in plan.device.variants)
        side = next(sides, None)
        return "" if side is None else next(p for p, s in self.contract.items() if s == side)

    @property
    def sweepable(self) -> bool:
        """Whether the spec is about every input of a program of one input."""
        wanted = "bits" in self.recipes if self.sweep is None else self.sweep
        return wanted and self._takes_one_input

    @property
    def _takes_one_input(self) -> bool:
        given = {name for keywords in self.attrs.values() for name in keywords}
        parameters = [p for p in signature(self.program).parameters.values() if p.kind is not p.VAR_KEYWORD]
        needed = [p for p in parameters if p.default is p.empty and p.name not in given]
        several = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        return not (self.state or several) and len(needed) == 2

    def called_with(self, keywords: Keywords) -> Spec:
        """The spec with its program and state called with these keyword arguments; it yields no cases of its own."""
        if not keywords:
            return self
        state = self.state and partial(self.state, **accepted(self.state, keywords))
        return replace(self, program=partial(self.program, **keywords), state=state, attrs={}, recipes={})

    def has_unsigned_zeros(self, quantity: str) -> bool:
        """Whether a zero of either sign is right in a quantity."""
        return quantity in self.unsigned_zeros or family_of(quantity) in self.unsigned_zeros

    def bound_of(self, quantity: str) -> Callable[..., Any] | None:
        """The bound of a quantity, if the spec gives one."""
        return entry_of(self.bound, quantity)

    def budget(self, quantity: str, dtype: str) -> float:
        """Allowed distance in ULPs of the result's dtype."""
        ulps = entry_of(self.ulp, quantity) or 0
        return float(ulps.get(dtype, 0) if isinstance(ulps, Mapping) else ulps)


@dataclass(frozen=True)
class Case:
    """One dtype, one label of `attrs` (empty where the spec has none) and one input recipe of a spec."""

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
        """The keyword arguments with which the functions of the spec are called."""
        return self.spec.attrs.get(self.attrs, {})

    @property
    def seed(self) -> int:
        """A hash of the id, so that the id names the same numbers on every machine."""
        return int.from_bytes(hashlib.blake2b(self.id.encode(), digest_size=8).digest(), "big")

    def inputs(self) -> tuple[np.ndarray, ...]:
        """The case's input arrays, the same ones at every call."""
        recipe = self.spec.recipes[self.recipe]
        with np.errstate(all="ignore"):
            arrays = recipe(Draw(self.seed), np.dtype(self.dtype), **accepted(recipe, self.keywords))
        return tuple(np.asarray(a) for a in arrays)
