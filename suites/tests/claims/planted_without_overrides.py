"""The specs of the override matrix, each with its override taken out of its program, and a random draw of thirty."""

import random
from dataclasses import replace
from types import SimpleNamespace

from tf_opdiff.harness.spec.lists.override_cell import APPLIED
from tf_opdiff.suites.forms.overrides.declaration import OVERRIDES
from tf_opdiff.suites.forms.overrides.specs import PLACES
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
    """The modes of the run that apply the override; a fitted model runs in eager mode, and Keras chooses how."""
    column, expected = spec.override.column, spec.override.expected
    return tuple(mode for mode in spec.modes if expected[column or mode].state == APPLIED)


def _shows(spec):
    """Whether the spec's numbers show the override: where it is nested in another one, they are those of the other."""
    nested = spec.override.place == PLACES["nested"].title
    return spec.override.mechanism in OUT and applied_modes(spec) and not nested


def drawn(seed):
    """Specs drawn at random, `COUNT` of them: one of each mechanism first, then any others."""
    draw = random.Random(seed)
    pool = draw.sample(SPECS, len(SPECS))
    firsts = {spec.override.mechanism: spec for spec in reversed(pool)}.values()
    others = [spec for spec in pool if spec not in firsts]
    return [*firsts, *others[: COUNT - len(firsts)]]


SPECS = tuple(without(spec) for spec in override_matrix.SPECS if _shows(spec))
