"""`tf.while_loop` with one loop variable, with lists of them, and with none; with v2's control flow and with v1's.

The documentation promises the last values in the structure of the first ones; v1 returns a single one without it.
"""

import collections
from typing import Any

import numpy as np

from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.programs.control_flow import loops, roundings


def _always(*_):
    """The condition of a loop that `maximum_iterations` ends."""
    return True


def _first(values):
    """The first value, and whether the values are a list; v1 returns a single one as it is."""
    return (values[0] if isinstance(values, (list, tuple)) else values), isinstance(values, list)


def one(tf, api, x):
    """One variable in a tuple; the body returns it without a tuple."""
    return _first(api.while_loop(_always, lambda y: y * x, (x,), maximum_iterations=2))


def one_in_tuples(tf, api, x):
    """One variable in a tuple; the body returns a tuple."""
    return _first(api.while_loop(_always, lambda y: (y * x,), (x,), maximum_iterations=2))


def one_in_lists(tf, api, x):
    """One variable in a list; the body returns a list."""
    return _first(api.while_loop(_always, lambda y: [y * x], [x], maximum_iterations=2))


def one_in_list(tf, api, x):
    """One variable in a list; the body returns a tuple, as in an example of the documentation."""
    return _first(api.while_loop(_always, lambda y: (y * x,), [x], maximum_iterations=2))


def one_of_many_steps(tf, api, x):
    """One variable, without a limit: it doubles until its sum exceeds 100."""
    return _first(api.while_loop(lambda y: tf.reduce_sum(y) <= 100, lambda y: y * 2, [x]))


def one_nested(tf, api, x):
    """One variable that is a list of two tensors."""
    last = api.while_loop(_always, lambda pair: ([pair[1], pair[0] * x],), ([x, x * 2],), maximum_iterations=2)
    pair = last[0] if isinstance(last, tuple) else last
    return pair[0], pair[1]


def in_lists(tf, api, x):
    """Two variables in a list; the body returns a list."""
    return _first(api.while_loop(_always, lambda y, n: [y * x, n + 1], [x, 0], maximum_iterations=2))


def in_list(tf, api, x):
    """Two variables in a list; the body returns a tuple."""
    return _first(api.while_loop(_always, lambda y, n: (y * x, n + 1), [x, 0], maximum_iterations=2))


def in_list_unlimited(tf, api, x):
    """Two variables in a list, without a limit; the body returns a tuple."""
    return _first(api.while_loop(lambda y, n: n < 2, lambda y, n: (y * x, n + 1), [x, 0]))


def in_named_tuples(tf, api, x):
    """Two variables in a named tuple; so is the result."""
    Pair = collections.namedtuple("Pair", "y n")
    return api.while_loop(_always, lambda y, n: Pair(y * x, n + 1), Pair(x, 0), maximum_iterations=2).y


def none(tf, api, x):
    """No variables, with a limit."""
    return x * 2 if api.while_loop(_always, lambda: (), (), maximum_iterations=2) == () else x


def doubled(x):
    """The reference of `one_of_many_steps`."""
    while np.sum(x) <= 100:
        x = x * 2
    return x, np.True_


_VECTOR = {"vector": lambda draw, d: (draw.values(d, 3),)}


#: The fields of v1, which returns one variable without its list, and others in the structure that the body gives.
_ALONE = {"reference": lambda x: (x**3, np.False_)}


def _cubes(name, program, *, in_list, **fields):
    """The specs of a loop whose first result is x³."""
    settings: dict[str, Any] = {
        "reference": lambda x: (x**3, np.bool_(in_list)),
        "vjp": lambda g, x: g[0] * 3 * x * x,
        "recipes": _VECTOR,
        "ulp": roundings(2),
        "constant": ("output[1]",),
    }
    alone = {"v1": _ALONE} if name.startswith("loop-one") else {}
    return loops(name, program, **settings | alone | fields)


SPECS = (
    *_cubes("loop-in-list", in_list, in_list=True),
    *_cubes("loop-in-list-unlimited", in_list_unlimited, in_list=True, vjp=None, v1=_ALONE),
    *_cubes("loop-in-lists", in_lists, in_list=True, tier="full"),
    *loops(
        "loop-in-named-tuples",
        in_named_tuples,
        tier="full",
        reference=lambda x: x**3,
        vjp=lambda g, x: g * 3 * x * x,
        recipes=_VECTOR,
        ulp=roundings(2),
    ),
    *loops("loop-no-variables-limited", none, reference=raises("ValueError"), recipes=_VECTOR),
    *_cubes("loop-one-variable", one, in_list=False),
    *_cubes("loop-one-variable-in-list", one_in_list, in_list=True),
    *_cubes("loop-one-variable-in-lists", one_in_lists, in_list=True, tier="full"),
    *_cubes("loop-one-variable-in-tuples", one_in_tuples, in_list=False, tier="full"),
    *loops(
        "loop-one-variable-nested",
        one_nested,
        tier="full",
        reference=lambda x: (x * x, 2 * x * x),
        vjp=lambda g, x: 2 * x * g[0] + 4 * x * g[1],
        recipes=_VECTOR,
        bound={"grad": lambda u, g, x: 16 * u * np.abs(x) * (np.abs(g[0]) + 2 * np.abs(g[1]))},
        ulp={"output": 1},
    ),
    *loops(
        "loop-one-variable-unlimited",
        one_of_many_steps,
        reference=doubled,
        recipes={"positive": lambda draw, d: (draw.uniform(3, low=0.5, high=2).astype(d),)},
        constant=("output[1]",),
        v1={"reference": lambda x: (doubled(x)[0], np.False_)},
    ),
)
