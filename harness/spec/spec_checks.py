"""Spec checks: what a spec may not say, and fields that exclude each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import ml_dtypes  # noqa: F401  registers the names of its dtypes
import numpy as np

from tf_opdiff.harness.spec.claim import Claim
from tf_opdiff.harness.spec.inputs.attrs import check_attrs
from tf_opdiff.harness.spec.lists.tiers import TIERS
from tf_opdiff.harness.spec.plan import MODES, check_pattern
from tf_opdiff.harness.spec.quantity import family_of, is_quantity
from tf_opdiff.harness.spec.settings.variant import VARIANTS
from tf_opdiff.harness.spec.spec_fields import SpecFields
from tf_opdiff.harness.spec.tolerances.budget import check_budgets

#: The kinds of evidence that a spec can require in addition to `ops`.
EVIDENCE = ("ran", "also", "built", "replaced", "waits", "called", "graphs", "sessions")


def check_names(spec: SpecFields) -> None:
    """Refuses modes, evidence, variants, plans and tiers that do not exist."""
    ops = spec.ops if isinstance(spec.ops, Mapping) else {}
    for mode in (*spec.modes, *(key for key in ops if not key.startswith("+"))):
        if mode not in MODES:
            raise ValueError(f"mode {mode!r} is none of {', '.join(MODES)}")
    for kind, name in (entry for mode in spec.modes for entry in spec.evidence_in(mode)):
        if kind not in EVIDENCE or not name:
            raise ValueError(f"evidence {kind}:{name}: expected KIND:NAME, of {', '.join(EVIDENCE)}")
    for variant in (*(key[1:] for key in ops if key.startswith("+")), *(s.unless for s in spec.contract.values())):
        if variant and variant not in VARIANTS:
            raise ValueError(f"variant {variant!r} is none of {', '.join(VARIANTS)}")
        if variant and VARIANTS[variant].facts:  # a device without the variant may be the same
            raise ValueError(f"no promise can go by {variant!r}: the processor decides too")
    for pattern in (*spec.contract, *(p for c in spec.claims for p in (*c.plans, *c.refuted))):
        check_pattern(pattern)
    for dtype in (*spec.dtypes, *spec.full_dtypes):
        _check_dtype(dtype)
    if spec.tier not in TIERS:
        raise ValueError(f"tier {spec.tier!r} is none of {', '.join(TIERS)}")


@cache
def _check_dtype(name: str) -> None:
    try:
        np.dtype(name)
    except TypeError:
        raise ValueError(f"dtype {name!r}: NumPy and ml_dtypes have no such dtype") from None


def check_together(spec: SpecFields) -> None:
    """Refuses fields that exclude each other."""
    run, vjp, forward = spec.execution, spec.derivatives.vjp, spec.derivatives.jvp or spec.derivatives.hvp
    if run.steps > 1 and vjp:
        raise ValueError("a program of several steps can't have a vjp")
    if run.state and (forward or spec.elementwise or spec.batch is not None):
        raise ValueError("a program with state can't have jvp, hvp or batch, or be elementwise")
    if run.sessions and (spec.modes != ("graph",) or run.state or vjp or run.steps > 1):
        raise ValueError("a program with sessions of its own has mode graph only, and no vjp")
    if any(c.vjp for c in spec.claims) and not vjp:
        raise ValueError("a claim predicts a gradient, and the spec has no vjp")
    if run.only_gradients and (not vjp or run.state or forward):
        raise ValueError("only_gradients: expected a vjp, and no state, jvp or hvp")
    if spec.derivatives.hvp and not vjp:
        raise ValueError("hvp is the derivative of vjp, which the spec lacks")
    if spec.every_input and spec.execution.state:
        raise ValueError("every_input: expected an elementwise program, without state")


def check_promises(spec: SpecFields) -> None:
    """Refuses invalid references, constants, budgets of claims, upstreams and attributes."""
    if not callable(spec.reference):
        raise TypeError(f"reference: expected a function, got {spec.reference!r}")
    for quantity in spec.constant:
        if not is_quantity(quantity) or family_of(quantity) != "output":
            raise ValueError(f"constant {quantity!r}: expected output[i]")
    for claim in spec.claims:
        check_budgets(claim.ulp or {})
    for family, function in spec.mistaken.items():
        if family not in ("output", "grad"):
            raise ValueError(f"mistaken {family!r}: expected output or grad")
        if not callable(function):
            raise TypeError(f"mistaken {family}: expected a function, got {function!r}")
    if unknown := sorted(spec.derivatives.upstreams.keys() - spec.recipes.keys()):
        raise ValueError(f"upstreams {unknown[0]!r}: expected one of the recipes {', '.join(spec.recipes)}")
    check_attrs(spec.attrs, _called_with_attrs(spec))


def _called_with_attrs(spec: SpecFields) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Pairs (name in messages, function) of the functions that must take every keyword argument of `attrs`."""
    promised: dict[str, Any] = {name: getattr(spec, name) for name in ("program", "reference", "second")}
    promised |= {name: getattr(spec.derivatives, name) for name in ("vjp", "jvp", "hvp")}
    yield from ((name, function) for name, function in promised.items() if function)
    yield from spec.tolerance.functions()
    yield from ((f"mistaken {family}", function) for family, function in spec.mistaken.items())
    for holder in (*spec.contract.values(), *spec.claims):
        owner = f"claim {holder.id}" if isinstance(holder, Claim) else "contract"
        yield from ((f"{w} of the {owner}", f) for w in ("reference", "vjp") if (f := getattr(holder, w)))
