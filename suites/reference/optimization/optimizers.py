"""Optimizers in NumPy: one step of each, as the documentation of TensorFlow's raw ops states it.

Each function takes the settings by keyword, and returns the new variable and the new slots. Its operations also run on
`suites.reference.promises.running.Running`, which tells how far off floating point may be.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: The new variable, and the new slots.
Step = tuple[Any, ...]


def gradient_descent(var: Any, g: Any, *, alpha: float) -> Step:
    """ApplyGradientDescent."""
    return (var - alpha * g,)


def momentum(var: Any, accum: Any, g: Any, *, lr: float, momentum: float, use_nesterov: bool = False) -> Step:
    """ApplyMomentum."""
    accum = accum * momentum + g
    return var - (g * lr + accum * momentum * lr if use_nesterov else accum * lr), accum


def keras_momentum(var: Any, accum: Any, g: Any, *, lr: float, momentum: float, use_nesterov: bool = False) -> Step:
    """ResourceApplyKerasMomentum: the slot has the learning rate in it."""
    accum = accum * momentum - g * lr
    return var + (accum * momentum - g * lr if use_nesterov else accum), accum


def adagrad(var: Any, accum: Any, g: Any, *, lr: float, update_slots: bool = True) -> Step:
    """ApplyAdagrad."""
    accum = accum + g * g if update_slots else accum
    return var - lr * g / np.sqrt(accum), accum


def adagrad_v2(var: Any, accum: Any, g: Any, *, lr: float, epsilon: float, update_slots: bool = True) -> Step:
    """ApplyAdagradV2."""
    accum = accum + g * g if update_slots else accum
    return var - lr * g / (np.sqrt(accum) + epsilon), accum


def adadelta(var: Any, accum: Any, accum_update: Any, g: Any, **settings: float) -> Step:
    """ApplyAdadelta."""
    rho, epsilon = settings["rho"], settings["epsilon"]
    accum = rho * accum + (1 - rho) * (g * g)
    update = np.sqrt(accum_update + epsilon) / np.sqrt(accum + epsilon) * g
    return var - update * settings["lr"], accum, rho * accum_update + (1 - rho) * (update * update)


def _rate(lr: float, beta1_power: float, beta2_power: float) -> float:
    """The learning rate of Adam, corrected for the bias of its slots."""
    return lr * float(np.sqrt(1 - beta2_power)) / (1 - beta1_power)


def _moments(m: Any, v: Any, g: Any, beta1: float, beta2: float) -> Step:
    """The running mean of the gradient and of its square."""
    return beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * (g * g)


def adam(var: Any, m: Any, v: Any, g: Any, *, use_nesterov: bool = False, **settings: float) -> Step:
    """ApplyAdam."""
    beta1, rate = settings["beta1"], _rate(settings["lr"], settings["beta1_power"], settings["beta2_power"])
    m, v = _moments(m, v, g, beta1, settings["beta2"])
    ahead = m * beta1 + (1 - beta1) * g if use_nesterov else m
    return var - rate * ahead / (np.sqrt(v) + settings["epsilon"]), m, v


def ada_max(var: Any, m: Any, v: Any, g: Any, **settings: float) -> Step:
    """ApplyAdaMax."""
    m = settings["beta1"] * m + (1 - settings["beta1"]) * g
    v = np.maximum(settings["beta2"] * v, np.abs(g))
    return var - settings["lr"] / (1 - settings["beta1_power"]) * (m / (v + settings["epsilon"])), m, v


def amsgrad(var: Any, m: Any, v: Any, highest: Any, g: Any, **settings: float) -> Step:
    """ResourceApplyAdamWithAmsgrad."""
    rate = _rate(settings["lr"], settings["beta1_power"], settings["beta2_power"])
    m, v = _moments(m, v, g, settings["beta1"], settings["beta2"])
    highest = np.maximum(highest, v)
    return var - rate * m / (np.sqrt(highest) + settings["epsilon"]), m, v, highest


def rms_prop(var: Any, ms: Any, mom: Any, g: Any, **settings: float) -> Step:
    """ApplyRMSProp."""
    ms = settings["rho"] * ms + (1 - settings["rho"]) * (g * g)
    mom = settings["momentum"] * mom + settings["lr"] * g / np.sqrt(ms + settings["epsilon"])
    return var - mom, ms, mom


def centered_rms_prop(var: Any, mg: Any, ms: Any, mom: Any, g: Any, **settings: float) -> Step:
    """ApplyCenteredRMSProp."""
    ms = settings["rho"] * ms + (1 - settings["rho"]) * (g * g)
    mg = settings["rho"] * mg + (1 - settings["rho"]) * g
    scale = np.sqrt(ms - mg * mg + settings["epsilon"])
    mom = settings["momentum"] * mom + settings["lr"] * g / scale
    return var - mom, mg, ms, mom


def ftrl(
    var: Any,
    accum: Any,
    linear: Any,
    g: Any,
    *,
    l2_shrinkage: float = 0,
    multiply_linear_by_lr: bool = False,
    **settings: float,
) -> Step:
    """ApplyFtrl, and ApplyFtrlV2 with `l2_shrinkage`; the slot may have the learning rate in it."""
    lr, l1, l2, power = (settings[name] for name in ("lr", "l1", "l2", "lr_power"))
    scale = lr if multiply_linear_by_lr else 1.0
    total = accum + g * g
    shrunk = g + 2 * l2_shrinkage * var if l2_shrinkage else g
    linear = linear + scale * shrunk - scale * ((total**-power - accum**-power) / lr * var)
    quadratic = total**-power / lr * scale + 2 * l2 * scale
    moved = 0 - np.sign(linear) * np.maximum(np.abs(linear) - l1 * scale, 0) / quadratic
    return np.where(linear != linear, 0, moved), total, linear  # noqa: PLR0124  NaN is not beyond l1


def add_sign(var: Any, m: Any, g: Any, **settings: float) -> Step:
    """ApplyAddSign."""
    m = settings["beta"] * m + (1 - settings["beta"]) * g
    return var - settings["lr"] * ((settings["alpha"] + settings["sign_decay"] * np.sign(g) * np.sign(m)) * g), m


def power_sign(var: Any, m: Any, g: Any, **settings: float) -> Step:
    """ApplyPowerSign."""
    m = settings["beta"] * m + (1 - settings["beta"]) * g
    return var - settings["lr"] * (
        np.exp(settings["logbase"] * settings["sign_decay"] * np.sign(g) * np.sign(m)) * g
    ), m


def proximal_adagrad(var: Any, accum: Any, g: Any, *, lr: float, l1: float, l2: float) -> Step:
    """ApplyProximalAdagrad."""
    accum = accum + g * g
    rate = lr / np.sqrt(accum)
    near = var - g * rate
    return np.sign(near) * np.maximum(np.abs(near) - rate * l1, 0) / (1 + l2 * rate), accum


def proximal_gradient_descent(var: Any, g: Any, *, alpha: float, l1: float, l2: float) -> Step:
    """ResourceApplyProximalGradientDescent."""
    near = var - alpha * g
    return (np.sign(near) * np.maximum(np.abs(near) - alpha * l1, 0) / (1 + l2 * alpha),)


def adagrad_da(var: Any, total: Any, squares: Any, g: Any, *, global_step: int, **settings: float) -> Step:
    """ResourceApplyAdagradDA: dual averaging. The new variable does not depend on the old one."""
    lr, l1, l2 = (settings[name] for name in ("lr", "l1", "l2"))
    total, squares = total + g, squares + g * g
    shrunk = np.sign(total) * np.maximum(np.abs(total) - l1 * global_step, 0)
    return -lr * shrunk / (l2 * global_step * lr + np.sqrt(squares)), total, squares
