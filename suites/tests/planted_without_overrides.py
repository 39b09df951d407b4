"""Thirty specs of the override matrix, drawn at random, each with its override taken out of its program.

The draw has a fixed seed, so that a failure can be repeated, and covers every op and every mechanism.
"""

import random
from dataclasses import replace
from types import SimpleNamespace

from tf_opdiff.harness.spec.override_cell import APPLIED
from tf_opdiff.suites.forms.overrides.declaration import OVERRIDES
from tf_opdiff.suites.programs import override_matrix
from tf_opdiff.suites.tests.subjects import contexts, gradients
from tf_opdiff.suites.tests.subjects.replaced import Replaced

COUNT = 30


def library(tf):
    """The ops of the library by ops of TensorFlow, with their own gradients."""
    return SimpleNamespace(**{o.compiled: lambda *xs, o=o: o.forward(tf, *xs) for o in OVERRIDES if o.compiled})


#: Mechanism → the thing to take out, and functions in the place of TensorFlow's.
OUT = {
    "gradient_override_map": contexts.without_map,
    "tf.custom_gradient": gradients.result_of_custom_gradient,
    "py_func with RegisterGradient": contexts.without_map,
    "the stop_gradient trick": gradients.nothing_stopped,
    "tf.recompute_grad of tf.custom_gradient": gradients.result_of_custom_gradient,
    "a Keras layer with tf.custom_gradient": gradients.result_of_custom_gradient,
    "an op in C++ with RegisterGradient": lambda tf: {"load_op_library": lambda path: library(tf)},
}


def without(spec):
    """The spec without its override. It needs no evidence: its numbers must show that the override is gone."""
    whole, others = spec.program, OUT[spec.override.mechanism]

    def program(tf, *inputs):
        return whole(Replaced(tf, others(tf)), *inputs)

    return replace(spec, name=f"{spec.name}--without", program=program, evidence="")


def applied_modes(spec):
    """The modes that apply the override."""
    return tuple(mode for mode in spec.modes if spec.override.expected[mode].state == APPLIED)


def _draw():
    """Specs of the default tier that some mode applies, one of each op and mechanism before a second one of it."""
    specs = [
        s for s in override_matrix.SPECS if s.tier == "default" and s.override.mechanism in OUT and applied_modes(s)
    ]
    draw = random.Random(30)
    draw.shuffle(specs)
    seen = {}
    for spec in specs:
        seen.setdefault((spec.override.op, spec.override.mechanism), []).append(spec)
    ranked = [(n, spec) for group in seen.values() for n, spec in enumerate(group)]
    chosen = [spec for _, spec in sorted(ranked, key=lambda pair: pair[0])]
    by_mechanism = {}
    for spec in chosen:
        by_mechanism.setdefault(spec.override.mechanism, []).append(spec)
    rounds = zip(*(group[: COUNT // len(by_mechanism) + 1] for group in by_mechanism.values()), strict=True)
    return [spec for group in rounds for spec in group]


SPECS = tuple(without(spec) for spec in _draw())
