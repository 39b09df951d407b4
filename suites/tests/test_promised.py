"""`bench.promised` sees every change that decides a result, and no other one."""

from dataclasses import replace

import numpy as np
import pytest

from bench.promised import differences, of_specs
from tf_opdiff.harness.spec.contract import Raises, Side
from tf_opdiff.harness.spec.loose import Loose
from tf_opdiff.harness.spec.spec import Spec

_WHY = "the last digits of a planted program are lost"


def _plain(draw, dtype):
    return (draw.values(dtype, 3, 5),)


def _cumsum(tf, x):
    return tf.raw_ops.Cumsum(x=x, axis=tf.constant(0), exclusive=False)


SPEC = Spec(
    name="planted",
    ops="Cumsum",
    program=_cumsum,
    reference=lambda x: np.cumsum(x, 0),
    vjp=lambda g, x: np.cumsum(g[::-1], 0)[::-1],
    recipes={"plain": _plain},
    ulp={"output": 2.0},
    bound={"output[0]": lambda u, g, x: u},
)
CHANGES = {
    "modes": ("modes", {"modes": ("eager",)}),
    "tier": ("tier", {"tier": "full"}),
    "elementwise": ("fields", {"elementwise": True, "reference": np.negative}),
    "constant": ("fields", {"constant": ("output[0]",)}),
    "recipe": ("inputs", {"recipes": {"plain": lambda draw, dtype: (2 * draw.values(dtype, 3, 5),)}}),
    "reference": ("promises", {"reference": lambda x: np.cumsum(x, 0) + 0.5}),
    "gradient": ("promises", {"vjp": lambda g, x: np.cumsum(g, 0)}),
    "no_gradient": ("promises", {"vjp": None}),
    "budget": ("promises", {"ulp": {"output": 2.5}}),
    "bound": ("promises", {"bound": {"output[0]": lambda u, g, x: 2 * u}}),
    "loose": ("promises", {"loose": {"output": Loose(lambda x: x > 0, _WHY)}}),
    "zeros": ("promises", {"unsigned_zeros": ("output",)}),
    "others": ("promises", {"alternatives": {"output": lambda dtype, g, x: [np.cumsum(x, 0)]}}),
    "upstream": ("promises", {"upstreams": {"plain": lambda draw, dtype, *shape: np.ones(shape, dtype)}}),
    "contract": ("promises", {"contract": {"gpu/*": Side(reference=lambda x: Raises("INTERNAL"), why="planted")}}),
    "attribute": ("program", {"program": lambda tf, x: tf.raw_ops.Cumsum(x=x, axis=tf.constant(0), exclusive=True)}),
    "constant_input": ("program", {"program": lambda tf, x: tf.raw_ops.Cumsum(x=x, axis=tf.constant(1))}),
    "other_op": ("program", {"program": lambda tf, x: tf.raw_ops.Cumprod(x=x, axis=tf.constant(0), exclusive=False)}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_decides_a_result_is_shown(change):
    name, fields = CHANGES[change]
    lines = [*differences(of_specs([SPEC]), of_specs([replace(SPEC, **fields)]))]
    assert len(lines) == 1
    assert name in lines[0]


def test_a_program_in_other_words_is_no_difference():
    def other(tf, values):
        zero = tf.constant(0)
        return getattr(tf.raw_ops, "Cumsum")(exclusive=False, x=values, axis=zero)  # noqa: B009

    old, new = of_specs([SPEC]), of_specs([replace(SPEC, program=other)])
    assert [*differences(old, new)] == []
    assert {case["source"] for case in old.values()} != {case["source"] for case in new.values()}


def test_both_branches_of_a_program_are_compared():
    def branching(second):
        return lambda tf, x: tf.abs(x) if tf.executing_eagerly() else second(tf, x)

    one, other = (replace(SPEC, program=branching(lambda tf, x, n=n: tf.add(x, n))) for n in (1, 2))
    (line,) = differences(of_specs([one]), of_specs([other]))
    assert "program" in line


def test_new_and_lost_cases_and_their_order_are_shown():
    both = of_specs([SPEC, replace(SPEC, name="second")])
    one = of_specs([SPEC])
    assert "is gone" in next(differences(both, one))
    assert "is new" in next(differences(one, both))
    assert [*differences(both, dict(reversed(both.items())))] == ["the order of the cases changed"]
