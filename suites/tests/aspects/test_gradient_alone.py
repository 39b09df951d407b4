"""Gradients are fetched alone of every call that a kernel refuses, if its op has a gradient."""

from types import SimpleNamespace

import numpy as np
import pytest

from tf_opdiff.harness.spec.contract import Raises, Undocumented
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Spec, Unavailable
from tf_opdiff.suites.derived.gradient_alone import GRADIENT_ALONE, gradients_of_refused
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT


def spec(name, ops="Slice", **fields):
    settings = {"reference": np.array, "recipes": {"plain": lambda draw, d: (draw.values(d, 3),)}}
    return Spec(name=name, program=lambda tf, x, *others: x, ops=ops, **settings | fields)


VALUES = spec("values", vjp=lambda g, x: g)


def twins(*specs):
    return {twin.name: twin for twin in gradients_of_refused(specs)}


def test_a_call_that_a_kernel_refuses_has_a_twin_that_promises_no_error():
    (twin,) = twins(VALUES, spec("refused", dtypes=("float64", "float32"), **IN_KERNEL)).values()
    assert (twin.name, twin.aspect, twin.tier) == (f"refused-{GRADIENT_ALONE}", GRADIENT_ALONE, "full")
    assert (twin.dtypes, twin.modes) == (("float32",), ("function", "xla", "graph"))
    for mode in twin.modes:
        side = twin.side(Plan(Device("cpu"), mode))
        assert isinstance(side.reference(1), Undocumented) and side.link


@pytest.mark.parametrize(
    "fields",
    [
        WHEN_BUILT,
        {"reference": Raises("NOT_FOUND", without_kernel=True)},
        {**IN_KERNEL, "dtypes": ("int32",)},
        {**IN_KERNEL, "modes": ("eager",)},
        {**IN_KERNEL, "ops": "Shape"},
        {"reference": np.array},
    ],
)
def test_a_call_that_has_no_gradient_to_fetch_has_no_twin(fields):
    assert not twins(VALUES, spec("refused", **fields))
    assert not twins(spec("refused", **IN_KERNEL))


class Tape:
    """A tape whose gradients are those that it watched, but for the second."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def watch(self, xs):
        self.watched = xs

    def gradient(self, ys, xs):
        assert xs == self.watched
        return [None if i == 1 else (tuple(ys), x) for i, x in enumerate(xs)]


def tensor(*, size=3, real=True):
    shape = SimpleNamespace(num_elements=lambda: size)
    return SimpleNamespace(dtype=SimpleNamespace(is_floating=real, is_complex=False), shape=shape)


def test_the_program_of_a_twin_gives_the_gradients_that_are_connected_and_no_output():
    tf = SimpleNamespace(GradientTape=Tape, nest=SimpleNamespace(flatten=lambda ys: [ys]))
    program = twins(VALUES, spec("refused", **IN_KERNEL))[f"refused-{GRADIENT_ALONE}"].program
    x, n, y, z = tensor(), tensor(real=False), tensor(), tensor()
    assert program(tf, x, n, y, z) == [((x,), x), ((x,), z)]
    with pytest.raises(Unavailable, match="no input"):
        program(tf, n)
    with pytest.raises(Unavailable, match="no machine"):
        program(tf, tensor(size=2**40))
