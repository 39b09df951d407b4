"""Curvature of normalisations: second order of fused normalisations, and gradients of the ops of their gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.normalization import (
    CALLS,
    CANCELS,
    SHAPE,
    Fused,
    each_call,
    forward,
    plain,
    shaped,
)
from tf_opdiff.suites.forms.normalization_gradient import in_dtypes
from tf_opdiff.suites.reference.accumulation import FLOAT32
from tf_opdiff.suites.reference.normalization import Normalization, error, exact
from tf_opdiff.suites.reference.reduction import long

#: Both calls, with the channels last and first.
_EVERY = (*CALLS.values(), Normalization(training=True, first=True), Normalization(training=False, first=True))
#: The calls of an op of gradients, which takes channels first in training alone, unless oneDNN computes it.
_BACK = _EVERY[:3]


def second_order(name: str, op: Fused) -> tuple[Spec, ...]:
    """The specs of forward mode and second order of a normalisation. Given statistics are constants to TensorFlow."""

    def of_call(ts: Any, xs: Sequence[Any], n: int, g: Any) -> tuple[Any, ...]:
        x, scale, _, mean, variance = xs[5 * n : 5 * n + 5]
        return (g, x, scale, mean, variance, *ts[5 * n : 5 * n + 3])

    def jvp(ts: Any, *xs: Any) -> tuple[Any, ...]:
        return tuple(exact(how.curved)(*of_call(ts, xs, n, xs[5 * n]))[0] for n, how in enumerate(_EVERY))

    def hvp(gs: Any, ts: Any, *xs: Any) -> tuple[Any, ...]:
        every: list[Any] = []
        for n, how in enumerate(_EVERY):
            every += [*exact(how.curved)(*of_call(ts, xs, n, gs[n]))[1:], None, None, None]
        return tuple(every)

    def along(n: int) -> Callable[..., Any]:
        return lambda u, gs, ts, *xs: error(_EVERY[n].curved, 0)(u, *of_call(ts, xs, n, xs[5 * n]))

    def by(n: int, i: int) -> Callable[..., Any]:
        curved = _EVERY[n].curved
        return lambda u, gs, ts, *xs: error(curved, i)(u if i == 1 else min(u, FLOAT32), *of_call(ts, xs, n, gs[n]))

    fields = forward(op, _EVERY)
    bounds = {f"jvp[{n}]": along(n) for n in range(len(_EVERY))}
    bounds |= {f"hvp[{5 * n + i - 1}]": by(n, i) for n in range(len(_EVERY)) for i in (1, 2)}
    main = Spec(
        name=f"{name}-second-order",
        recipes={"plain": shaped(plain, SHAPE, _EVERY)},
        jvp=jvp,
        hvp=hvp,
        **fields | {"bound": fields["bound"] | bounds, "loose": dict.fromkeys(("grad", "jvp", "hvp"), CANCELS)},
    )
    return _in_other_dtypes(main, op)


def gradient_of_gradient(name: str, op: Fused) -> tuple[Spec, ...]:
    """The specs of the gradients of an op of gradients, with the statistics that the forward op returned in training.

    No gradient of the statistics is promised: TensorFlow differentiates those of a batch as functions of the tensor,
    and has given ones as constants.
    """

    def program(tf: Any, *xs: Any) -> Any:
        every: list[Any] = []
        for n, how in enumerate(_BACK):
            g, x, scale, mean, variance = xs[5 * n : 5 * n + 5]
            kept = op.call(tf, how, x, scale, scale, mean, variance)[3:] if how.training else (mean, variance)
            every += op.back(tf, how, g, x, scale, *kept)
        return tuple(every)

    def vjp(gs: Any, *xs: Any) -> tuple[Any, ...]:
        every: list[Any] = []
        for n, how in enumerate(_BACK):
            every += [*exact(how.curved)(*xs[5 * n : 5 * n + 5], *gs[3 * n : 3 * n + 3]), None, None]
        return tuple(every)

    def jvp(ts: Any, *xs: Any) -> tuple[Any, ...]:
        every: list[Any] = []
        for n, how in enumerate(_BACK):
            every += in_dtypes(*exact(_moved(how))(*ts[5 * n : 5 * n + 5], *xs[5 * n : 5 * n + 5]))
        return tuple(every)

    main = Spec(
        name=f"{name}-gradient",
        ops=op.gradient,
        program=program,
        reference=each_call(_BACK, lambda how, *xs: in_dtypes(*_first(how)(*map(long, xs))), 5),
        vjp=vjp,
        jvp=jvp,
        recipes={"plain": shaped(plain, SHAPE, _BACK, back=True)},
        bound=_bounds(),
        loose=dict.fromkeys(("grad", "jvp"), CANCELS),
        unsigned_zeros=("output", "grad"),
    )
    return _in_other_dtypes(main, op)


def _bounds() -> dict[str, Callable[..., Any]]:
    """The bounds of the gradients that an op returns, and of their derivatives; those by vectors are of float32."""
    bounds: dict[str, Callable[..., Any]] = {}
    for n, how in enumerate(_BACK):
        own, ups = slice(5 * n, 5 * n + 5), slice(3 * n, 3 * n + 3)
        for i in range(3):
            first, second, moved = error(_first(how), i), error(how.curved, i), error(_moved(how), i)
            bounds[f"output[{3 * n + i}]"] = lambda u, gs, *xs, f=first, own=own, i=i: f(
                min(u, FLOAT32) if i else u, *xs[own]
            )
            bounds[f"grad[{5 * n + i}]"] = lambda u, gs, *xs, f=second, own=own, ups=ups, i=i: f(
                min(u, FLOAT32) if i == 2 else u, *xs[own], *gs[ups]
            )
            bounds[f"jvp[{3 * n + i}]"] = lambda u, gs, ts, *xs, f=moved, own=own, i=i: f(
                min(u, FLOAT32) if i else u, *ts[own], *xs[own]
            )
    return bounds


def _first(how: Normalization) -> Callable[..., tuple[Any, Any, Any]]:
    """The three gradients, of the five inputs of the op."""
    return lambda g, x, scale, mean, variance: how.gradients(g, x, scale, None, mean, variance)


def _moved(how: Normalization) -> Callable[..., tuple[Any, Any, Any]]:
    """The derivatives of the three gradients along tangents: five tangents, then the five inputs of the op."""

    def moved(*arguments: Any) -> tuple[Any, Any, Any]:
        t, along, by_scale, *_, g, x, scale, mean, variance = arguments
        first = _first(how)(t, x, scale, mean, variance)
        _, second, second_scale = how.curved(g, x, scale, mean, variance, along, by_scale, 0 * by_scale)
        return first[0] + second, first[1] + second_scale, first[2]

    return moved


def _in_other_dtypes(main: Spec, op: Fused) -> tuple[Spec, ...]:
    """The spec, and in the full tier its twin in the dtypes of 16 bits, where the op has them."""
    others = replace(main, name=f"{main.name}-other", dtypes=op.more, tier="full")
    return (main, others) if op.more else (main,)
