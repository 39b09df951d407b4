"""Faults of scatters and of steps of optimizers."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.faults.arithmetic import wide
from bench.planter import Fault
from tf_opdiff.suites.reference.arrays.scatter import UPDATE, scattered
from tf_opdiff.suites.reference.optimization import optimizers

_BLOCK = 1024


def _last_wins(indices: Any, updates: Any, shape: Any) -> Any:
    return scattered(UPDATE, np.zeros(shape, updates.dtype), indices, updates)


def _wrong_stride(ref: Any, indices: Any, updates: Any) -> Any:
    depth = indices.shape[-1]
    if depth < 2 or depth == ref.ndim or not ref.size or not indices.size:
        return None
    slices = ref.copy().reshape(-1, *ref.shape[depth:])
    for at, row in zip(indices.reshape(-1, depth), updates.reshape(-1, *ref.shape[depth:]), strict=True):
        flat = 0
        for number, size in zip(at, ref.shape, strict=False):
            flat = flat * size + int(number)
        flat = sum(int(n) for n in at) if depth > 1 else flat  # each index has the stride of the last one
        slices[flat % len(slices)] += row
    return slices.reshape(ref.shape)


def _first_element(resource: Any, indices: Any, updates: Any) -> Any:
    if np.ndim(updates) or not np.size(indices):
        return None
    new = resource.copy()
    for i in np.ravel(indices):
        new.reshape(len(new), -1)[i, 0] = updates
    return new


def _settings(arguments: dict[str, Any], *names: str) -> dict[str, float]:
    return {name: float(arguments[name]) for name in names if name in arguments}


_ADAM = ("lr", "beta1", "beta2", "epsilon", "beta1_power", "beta2_power")


def _inside_of_root(var: Any, m: Any, v: Any, grad: Any, **arguments: Any) -> Any:
    s = _settings(arguments, *_ADAM)
    rate = s["lr"] * np.sqrt(1 - s["beta2_power"]) / (1 - s["beta1_power"])
    var, m, v, g = map(wide, (var, m, v, grad))
    m, v = s["beta1"] * m + (1 - s["beta1"]) * g, s["beta2"] * v + (1 - s["beta2"]) * g * g
    ahead = m * s["beta1"] + (1 - s["beta1"]) * g if arguments.get("use_nesterov") else m
    return var - rate * ahead / np.sqrt(v + s["epsilon"]), m, v


def _first_block(var: Any, m: Any, v: Any, grad: Any, **arguments: Any) -> Any:
    flags = {"use_nesterov": arguments.get("use_nesterov", False)}
    new = optimizers.adam(*map(wide, (var, m, v, grad)), **_settings(arguments, *_ADAM), **flags)
    first = (np.arange(var.size) < _BLOCK).reshape(var.shape)
    return tuple(np.where(first, after, wide(before)) for after, before in zip(new, (var, m, v), strict=True))


_FTRL = ("lr", "l1", "l2", "lr_power", "l2_shrinkage")


def _square_of_shrunk(var: Any, accum: Any, linear: Any, grad: Any, **arguments: Any) -> Any:
    s = _settings(arguments, *_FTRL)
    var, accum, linear, g = map(wide, (var, accum, linear, grad))
    shrunk = g + 2 * s.pop("l2_shrinkage") * var
    return optimizers.ftrl(var, accum, linear, shrunk, **s)


def _not_multiplied(var: Any, accum: Any, linear: Any, grad: Any, **arguments: Any) -> Any:
    if not arguments.get("multiply_linear_by_lr"):
        return None
    return optimizers.ftrl(*map(wide, (var, accum, linear, grad)), **_settings(arguments, *_FTRL))


def _updated_once(var: Any, accum: Any, lr: Any, grad: Any, indices: Any, update_slots: bool = True, **_: Any) -> Any:
    var, accum = wide(var), wide(accum)
    if len(set(indices.tolist())) == len(indices):
        return None
    for i in dict.fromkeys(indices.tolist()):
        g = wide(grad)[indices.tolist().index(i)]
        var[i], accum[i] = optimizers.adagrad(var[i], accum[i], g, lr=float(lr), update_slots=update_slots)
    return var, accum


STATE = (
    Fault("ScatterNd", "of repeated indices the last one wins", "a kernel without atomic additions", _last_wins),
    Fault(
        "ScatterNdAdd",
        "the stride of slices is wrong from depth 2 on",
        "a kernel whose strides were tested with elements alone",
        _wrong_stride,
    ),
    Fault(
        "ResourceScatterUpdate",
        "scalar updates write the first element only",
        "a kernel that copies as many elements as the update has",
        _first_element,
    ),
    Fault("ResourceApplyAdam", "epsilon inside the root", "the formula of another framework", _inside_of_root),
    Fault(
        "ResourceApplyAdam",
        "elements beyond the first block of 1,024 are not updated",
        "a launch of one block",
        _first_block,
    ),
    Fault(
        "ResourceApplyFtrlV2",
        "the square of the shrunk gradient is accumulated",
        "a kernel that shrinks the gradient in place",
        _square_of_shrunk,
    ),
    Fault(
        "ResourceApplyFtrlV2",
        "multiply_linear_by_lr is ignored",
        "a GPU kernel that was written before the attribute",
        _not_multiplied,
    ),
    Fault("SparseApplyAdagrad", "a row that is named twice is updated once", "a kernel without locks", _updated_once),
)
