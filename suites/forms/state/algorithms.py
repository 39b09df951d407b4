"""The algorithms of the optimizers, with settings that are exact in every dtype."""

from tf_opdiff.suites.forms.state.optimizers import Optimizer
from tf_opdiff.suites.reference.optimization import optimizers as ref

_BETAS = {"beta1": 0.875, "beta2": 0.75, "lr": 0.25, "epsilon": 2.0**-10, "beta1_power": 0.5}
_POWERS = _BETAS | {"beta2_power": 0.4375}
_ROOT = {"lr": 0.25, "rho": 0.75, "momentum": 0.5, "epsilon": 2.0**-10}
_FTRL = {"lr": 0.25, "l1": 0.375, "l2": 0.0625, "lr_power": -0.5}
_SIGN = {"lr": 0.25, "sign_decay": 0.5, "beta": 0.875}
_DELTA = {"lr": 0.25, "rho": 0.75, "epsilon": 2.0**-10}
_INERT = {"lr": 0.25, "momentum": 0.5}

ADADELTA = Optimizer(step=ref.adadelta, slots=("accum", "accum_update"), settings=_DELTA)
ADAGRAD = Optimizer(step=ref.adagrad, slots=("accum",), settings={"lr": 0.25})
ADAGRAD_V2 = Optimizer(step=ref.adagrad_v2, slots=("accum",), settings={"lr": 0.25, "epsilon": 2.0**-10})
ADAGRAD_DA = Optimizer(
    step=ref.adagrad_da,
    slots=("gradient_accumulator", "gradient_squared_accumulator"),
    settings={"lr": 0.25, "l1": 0.125, "l2": 0.0625, "global_step": 3},
    signed=("gradient_accumulator",),
)
ADAM = Optimizer(step=ref.adam, slots=("m", "v"), settings=_POWERS, signed=("m",))
ADA_MAX = Optimizer(step=ref.ada_max, slots=("m", "v"), settings=_BETAS, signed=("m",))
ADD_SIGN = Optimizer(step=ref.add_sign, slots=("m",), settings=_SIGN | {"alpha": 1.5}, signed=("m",))
AMSGRAD = Optimizer(step=ref.amsgrad, slots=("m", "v", "vhat"), settings=_POWERS, signed=("m",))
CENTERED_RMS_PROP = Optimizer(step=ref.centered_rms_prop, slots=("mg", "ms", "mom"), settings=_ROOT, signed=("mom",))
FTRL = Optimizer(step=ref.ftrl, slots=("accum", "linear"), settings=_FTRL, signed=("linear",))
FTRL_V2 = Optimizer(
    step=ref.ftrl, slots=("accum", "linear"), settings=_FTRL | {"l2_shrinkage": 0.03125}, signed=("linear",)
)
GRADIENT_DESCENT = Optimizer(step=ref.gradient_descent, settings={"alpha": 0.25}, gradient="delta", inferred=True)
KERAS_MOMENTUM = Optimizer(step=ref.keras_momentum, slots=("accum",), settings=_INERT, signed=("accum",))
MOMENTUM = Optimizer(step=ref.momentum, slots=("accum",), settings=_INERT, signed=("accum",))
POWER_SIGN = Optimizer(step=ref.power_sign, slots=("m",), settings=_SIGN | {"logbase": 0.75}, signed=("m",))
PROXIMAL_ADAGRAD = Optimizer(
    step=ref.proximal_adagrad, slots=("accum",), settings={"lr": 0.25, "l1": 0.125, "l2": 0.0625}, inferred=True
)
PROXIMAL_GRADIENT_DESCENT = Optimizer(
    step=ref.proximal_gradient_descent, settings={"alpha": 0.25, "l1": 0.125, "l2": 0.0625}, gradient="delta"
)
RMS_PROP = Optimizer(step=ref.rms_prop, slots=("ms", "mom"), settings=_ROOT, signed=("mom",))
