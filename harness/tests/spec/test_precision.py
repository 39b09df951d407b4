"""The last values of large arguments are used again, by bits of the argument, function and thread."""

import threading

import numpy as np
import pytest

from tf_opdiff.harness.spec.tolerances import precision

LARGE = 1 << 16


def counted():
    """A function that counts its calls."""
    calls = []

    def function(x):
        calls.append(x.size)
        return np.copysign(1.0, x)

    return function, calls


@pytest.mark.parametrize(("size", "calls"), [(LARGE, 1), (LARGE - 1, 2)])
def test_a_large_argument_is_computed_once(size, calls):
    function, made = counted()
    first, second = (precision.computed(function, np.zeros(size)) for _ in range(2))
    assert len(made) == calls
    assert (first == second).all()


def test_zeros_of_both_signs_are_different_arguments_and_equal_nans_are_one():
    function, made = counted()
    x = np.full(LARGE, np.nan)
    assert precision.computed(function, x) is precision.computed(function, x.copy())
    assert (precision.computed(function, np.zeros(LARGE)) == 1).all()
    assert (precision.computed(function, -np.zeros(LARGE)) == -1).all()
    assert len(made) == 3


def test_the_last_values_of_two_functions_are_kept_and_of_no_third():
    x = np.zeros(LARGE)
    functions = [counted() for _ in range(3)]
    for n in (0, 1, 0, 1, 2, 0):
        precision.computed(functions[n][0], x)
    assert [len(calls) for _, calls in functions] == [2, 1, 1]


def test_each_thread_has_its_own_last_value():
    function, made = counted()
    values = []
    threads = [
        threading.Thread(target=lambda n=n: values.append(precision.computed(function, np.full(LARGE, n))))
        for n in (1.0, -1.0)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(v[0] for v in values) == [-1, 1]
    assert len(made) == 2


def test_nobody_can_write_to_a_value_that_is_kept():
    value = precision.computed(counted()[0], np.zeros(LARGE))
    with pytest.raises(ValueError, match="read-only"):
        value[0] = 2
