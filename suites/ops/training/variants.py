"""The flags of optimizers: Nesterov's look ahead, and slots that stay as they are."""

from dataclasses import replace

from tf_opdiff.suites.forms.algorithms import ADAGRAD, ADAGRAD_V2, ADAM, KERAS_MOMENTUM, MOMENTUM
from tf_opdiff.suites.forms.optimizers import DENSE, SPARSE, Kind, Optimizer, optimizer


def _ahead(name: str, raw: str, how: Optimizer, kind: Kind = DENSE):
    return optimizer(f"{name}-nesterov", raw, replace(how, flags={"use_nesterov": True}), kind)[:2]


def _still(name: str, raw: str, how: Optimizer, kind: Kind = DENSE):
    return optimizer(f"{name}-still", raw, replace(how, flags={"update_slots": False}), kind)[:2]


SPECS = (
    *_still("resource-apply-adagrad", "ResourceApplyAdagrad", ADAGRAD),
    *_still("resource-apply-adagrad-v2", "ResourceApplyAdagradV2", ADAGRAD_V2),
    *_ahead("resource-apply-adam", "ResourceApplyAdam", ADAM),
    *_ahead("resource-apply-keras-momentum", "ResourceApplyKerasMomentum", KERAS_MOMENTUM),
    *_ahead("resource-apply-momentum", "ResourceApplyMomentum", MOMENTUM),
    *_ahead("resource-sparse-apply-keras-momentum", "ResourceSparseApplyKerasMomentum", KERAS_MOMENTUM, SPARSE),
)
