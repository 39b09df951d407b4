"""Rooms: a bound that allows almost any result survives as a mutant, unless the inputs or the spec excuse it."""

import numpy as np
import pytest

from tf_opdiff.harness.judge.planted_faults.mutation import score
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.judge.promises.loose_bounds import Rooms, digits_of
from tf_opdiff.harness.judge.promises.moved_inputs import Moved
from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.spec.tolerances.by_mode import by_mode
from tf_opdiff.harness.spec.tolerances.loose import Loose

SATURATED = np.linspace(-12, 12, 67)


def saturating(draw, dtype):
    return (SATURATED.astype(dtype),)


def made(**more):
    defaults = {"name": "x", "program": lambda tf, x: tf.exp(x), "reference": np.exp, "ops": "Exp"}
    return Spec(**defaults | {"recipes": {"inside": saturating}} | more)


def alive(spec, part="half of the digits"):
    return [name for name in score(spec).alive if part in name]


def within(ulps):
    return lambda u, g, x: ulps * 2 * u * np.exp(x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_a_bound_wider_than_half_of_the_digits_is_alive(dtype):
    limit = digits_of(np.dtype(dtype))
    assert alive(made(dtypes=(dtype,), bound={"output": within(4 * limit)}))
    assert not alive(made(dtypes=(dtype,), bound={"output": within(limit / 4)}))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_a_complex_bound_wider_than_half_of_the_digits_of_the_absolute_value_is_alive(dtype):
    limit = digits_of(np.dtype(dtype))
    recipes = {"inside": lambda draw, d: ((SATURATED + 1j * SATURATED[::-1]).astype(d),)}

    def relative(ulps):
        return {"output": lambda u, g, z: ulps * 2 * u * abs(np.exp(z))}

    assert alive(made(recipes=recipes, dtypes=(dtype,), bound=relative(4 * limit)))
    assert not alive(made(recipes=recipes, dtypes=(dtype,), bound=relative(limit / 4)))


def test_an_absolute_bound_is_alive_where_the_result_is_small():
    """As of the gradient of a sigmoid: the bound is tight at 0, and allows a zero at -12."""
    assert alive(made(bound={"output": lambda u, g, x: 4 * u + 0 * x}))
    assert not alive(made(recipes={"plain": plain}, bound={"output": lambda u, g, x: 4 * u + 0 * x}))


def test_each_case_is_looked_at():
    spec = made(recipes={"inside": saturating, "plain": plain}, bound={"output": lambda u, g, x: 4 * u + 0 * x})
    assert alive(spec) == ["half of the digits of an element of x-float32-inside in output[0]"]


def test_each_family_of_modes_is_looked_at():
    (name,) = alive(made(bound={"output": by_mode(eager=within(4), xla=within(1e6))}))
    assert name.endswith("under xla")


def test_a_sum_that_cancels_is_as_uncertain_as_its_inputs():
    def recipe(draw, dtype):
        x = draw.uniform(67, low=1, high=2).astype(dtype)
        return x, -np.nextafter(x, np.array(np.inf, dtype))

    spec = made(program=lambda tf, x, y: x + y, reference=np.add, recipes={"cancel": recipe}, ops="AddV2")
    terms = spec.tolerance.bound | {"output": lambda u, g, x, y: u * (abs(x) + abs(y))}
    assert not alive(made(**{f: getattr(spec, f) for f in ("program", "reference", "recipes", "ops")}, bound=terms))
    wider = {"output": lambda u, g, x, y: 1e6 * u * (abs(x) + abs(y))}
    assert alive(made(**{f: getattr(spec, f) for f in ("program", "reference", "recipes", "ops")}, bound=wider))


def loose(where):
    return {"output": Loose(where, "the result is a difference from 1")}


def test_loose_elements_are_excused_and_no_others():
    bound = {"output": lambda u, g, x: 4 * u + 0 * x}
    assert not alive(made(bound=bound, loose=loose(lambda x: x < 0)))
    assert alive(made(bound=bound, loose=loose(lambda x: x < -9)))


def test_a_bound_of_more_than_4096_ulps_needs_a_reason_in_float64_too():
    wide = {"dtypes": ("float64",), "bound": {"output": within(2**14)}}
    assert alive(made(**wide))
    assert not alive(made(**wide, loose=loose(lambda x: x > -99)))


@pytest.mark.parametrize(
    ("mutant", "bound"),
    [
        ("relative error in", lambda u, g, x: 1e5 * u * np.exp(x)),
        ("small to 0", lambda u, g, x: 200 + 0 * x),
        ("small negated", lambda u, g, x: 400 + 0 * x),
    ],
)
def test_errors_in_proportion_to_each_element_are_mutants(mutant, bound):
    assert alive(made(bound={"output": bound}), mutant)
    assert not alive(made(bound={"output": within(8)}), mutant)
    assert not alive(made(bound={"output": bound}, loose=loose(lambda x: x < 99)), mutant), "loose everywhere"


def test_loose_takes_functions_of_quantities():
    with pytest.raises(TypeError, match="loose of output: expected Loose"):
        made(loose={"output": True})
    with pytest.raises(ValueError, match="quantity 'input'"):
        made(loose={"input": Loose(lambda x: x > 0, "the result is a difference from 1")})


def sums(name, difference):
    """A spec of two inputs whose forward mode is the sum, or the difference, of two tangents."""
    return made(
        name=name,
        program=lambda tf, x, y: tf.add(x, y),
        reference=lambda x, y: x - y if difference else x + y,
        jvp=lambda ts, x, y: ts[0] - ts[1] if difference else ts[0] + ts[1],
        recipes={"plain": lambda draw, dtype: (draw.values(dtype, 2000), draw.values(dtype, 2000))},
        bound={"jvp": lambda u, g, ts, x, y: u * (np.abs(ts[0]) + np.abs(ts[1]))},
        ulp={"output": 0.5},
        ops="Add",
        dtypes=("float16",),
    )


@pytest.mark.parametrize("difference", [False, True])
def test_tangents_excuse_a_sum_that_cancels(difference):
    assert not alive(sums("sums", difference))


def test_tangents_excuse_no_bound_that_is_wide_without_reason():
    spec = sums("wide", False)
    assert alive(made(**{**vars(spec), "bound": {"jvp": lambda u, g, ts, x, y: 1000 * u + 0 * x}}))


def small_beside(recipe, bound, dtype="float32", program=lambda x: x, computed="", **how):
    """Whether a room of a spec that declares `loose` without a condition is too wide."""
    spec = Spec(
        name="small",
        program=lambda tf, x: x,
        reference=program,
        ops="Identity",
        recipes={"plain": lambda draw, dtype: (np.asarray(recipe).astype(dtype),)},
        dtypes=(dtype,),
        bound={"output": lambda u, g, x: np.full(np.shape(program(x)), bound)},
        loose={"output": Loose(reason="an error in one element reaches all others", dtype=computed, **how)},
    )
    case = spec.cases()[0]
    want = expectation(case, case.inputs(), None).wants["output[0]"]
    return Rooms.of(Moved(case, None), "output[0]", want).faulty


TWO_MATRICES = [[[1.0, 2.0**-9], [2.0**-9, 1.0]], [[2.0**-9] * 2] * 2]


def test_an_element_without_a_condition_is_loose_beside_a_larger_one_only():
    assert not small_beside(TWO_MATRICES[0], 2.0**-12)
    assert small_beside(TWO_MATRICES[0], 2.0**-8)


def test_an_element_is_loose_beside_the_largest_of_its_last_axes():
    assert not small_beside(TWO_MATRICES, 2.0**-12)
    assert small_beside(TWO_MATRICES, 2.0**-12, last=2), "the second matrix is small"


def test_an_element_is_loose_that_depends_on_the_largest_input():
    """The differences from the largest input are small, and move as it does; each input is as exact as itself."""
    inputs = [1.0, 1.0 + 2.0**-23, 2.0**-30]
    assert not small_beside(inputs, 2.0**-12, program=lambda x: np.diff(x[:2]))
    assert small_beside(inputs, 2.0**-8, program=lambda x: np.diff(x[:2]))
    assert small_beside(inputs, 2.0**-12, program=lambda x: x[2:] * 2.0**-20)


def test_a_result_is_loose_beside_a_size_that_the_program_subtracts():
    assert small_beside([2.0**-20] * 3, 2.0**-12)
    assert not small_beside([2.0**-20] * 3, 2.0**-12, size=1)


def test_a_program_of_few_digits_is_loose_in_those():
    assert small_beside([1.0, 1.5], 2.0**-30, dtype="float64")
    assert not small_beside([1.0, 1.5], 2.0**-30, dtype="float64", computed="float32")
    assert small_beside([1.0, 1.5], 2.0**-8, dtype="float64", computed="float32")


def test_a_bound_of_many_steps_may_have_more_roundings():
    assert small_beside([1.0, 1.5], 2.0**-8)
    assert not small_beside([1.0, 1.5], 2.0**-8, roundings=2**17)
    assert small_beside([1.0, 1.5], 2.0**-4, roundings=2**17)
