"""Normalisation gradient: the specs of the ops of gradients of fused normalisations over a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.normalization import CALLS, RECIPES, SHAPE, SMALL, Fused, each_call, plain, shaped
from tf_opdiff.suites.forms.subnormal import of_gpu_kernels
from tf_opdiff.suites.reference.accumulation import FLOAT32
from tf_opdiff.suites.reference.normalization import Normalization, error, exact
from tf_opdiff.suites.reference.reduction import long


def in_dtypes(by_tensor: Any, by_scale: Any, by_offset: Any) -> tuple[Any, Any, Any]:
    """The results of an op of gradients; those by the scale and the offset are float32 beside tensors of any dtype."""
    return by_tensor, by_scale.astype(np.float32), by_offset.astype(np.float32)


def _of_cudnn(
    op: Fused, calls: Sequence[Normalization], reference: Callable[..., Any], bounds: Mapping[str, Callable[..., Any]]
) -> dict[str, Side]:
    """The contract of an op of gradients: on a GPU, the variance of a batch is the inverse of a standard deviation.

    XLA's third version has the variance on every device.
    """

    def as_variances(xs: Sequence[Any]) -> list[Any]:
        own = list(xs)
        for n, how in enumerate(calls):
            own[5 * n + 4] = 1 / long(xs[5 * n + 4]) ** 2 - how.epsilon if how.training else xs[5 * n + 4]
        return own

    def inverted(bound: Callable[..., Any]) -> Callable[..., Any]:
        return lambda u, gs, *xs: bound(u, gs, *as_variances(xs))

    side = Side(
        reference=lambda *xs: reference(*as_variances(xs)),
        bound={quantity: inverted(bound) for quantity, bound in bounds.items()},
        why="the documentation of reserve_space_2: the computed batch variance (inverted variance in the cuDNN case)",
        link="https://www.tensorflow.org/api_docs/python/tf/raw_ops/FusedBatchNormGrad",
    )
    if not any(how.training for how in calls):
        return {}
    return of_gpu_kernels(side) if op.gradient.endswith("V3") else {"gpu/*": side}


def fused_gradient(name: str, op: Fused) -> tuple[Spec, ...]:
    """The specs of the op of gradients, with the mean and the variance as a forward op on a CPU returns them."""
    calls = tuple(CALLS.values())

    def fields(calls: Sequence[Normalization]) -> dict[str, Any]:
        def bound(n: int, i: int) -> Callable[..., Any]:
            def largest(u: float, gs: Any, *xs: Any) -> Any:
                return error(calls[n].backward, i)(u if i == 0 else min(u, FLOAT32), *xs[5 * n : 5 * n + 5])

            return largest

        def program(tf: Any, *xs: Any) -> Any:
            return tuple(y for n, how in enumerate(calls) for y in op.back(tf, how, *xs[5 * n : 5 * n + 5]))

        bounds = {f"output[{3 * n + i}]": bound(n, i) for n in range(len(calls)) for i in range(3)}
        reference = each_call(calls, lambda how, *xs: in_dtypes(*exact(how.backward)(*xs)), 5)
        return {
            "ops": op.gradient,
            "program": program,
            "reference": reference,
            "bound": bounds,
            "unsigned_zeros": ("output",),
            "contract": _of_cudnn(op, calls, reference, bounds),
        }

    labels = ("plain", "offset", "equal", "special")
    recipes = {label: shaped(RECIPES[label], SHAPE, calls, back=True) for label in labels}
    main = Spec(name=name, recipes=recipes, **fields(calls))
    only = (CALLS["inference"],)
    tiny = {label: shaped(plain, shape, only, back=True) for label, shape in SMALL.items()}
    constant = tuple(f"output[{i}]" for i in range(3))
    others = [replace(main, name=f"{name}-other", dtypes=op.more, tier="full")] if op.more else []
    return (main, *others, *sizes(Spec(name=name, recipes=tiny, constant=constant, **fields(only)), tiny))
