"""Prints the results of many checks of overrides as JSON, in a process of its own: a user's module has TensorFlow."""

import json
import sys

import my_overrides as my
import numpy as np

from tf_opdiff import NotApplied, check_override, uniform

X = uniform(-3, 3, (5,))
CHOICE = np.array([True, False, True, False, True])


def results(function, *inputs, **options):
    """The results of a check, or the message of the error if it can't be made."""
    try:
        found = check_override(function, *inputs, devices=["cpu"], **options).results
    except NotApplied as failure:
        found = failure.results
    except (ValueError, TypeError) as why:
        return str(why)
    return [[r.place, r.mode, r.state, r.proof, r.failing] for r in found]


OWN = {name: getattr(my, name) for name in vars(my) if name.startswith("by_")}
FEW = {"places": ["plain", "cond"], "modes": ["eager", "graph"]}
CHECKS = {
    **{name: lambda f=f: results(f, X, gradient=my.rule, without=my.plain) for name, f in OWN.items()},
    "alone": lambda: results(my.by_map, X, gradient=my.rule, **FEW),
    "lost": lambda: results(my.plain, X, gradient=my.rule, **FEW),
    "lost, with its own gradient": lambda: results(my.by_stop_gradient, X, gradient=my.rule_of_reversed, **FEW),
    "other factor": lambda: results(my.with_another_factor, X, gradient=my.rule, without=my.plain, **FEW),
    "one element": lambda: results(my.wrong_in_one_element, X, gradient=my.rule, without=my.plain, **FEW),
    "chosen": lambda: results(
        my.chosen_by_custom_gradient, X, X, CHOICE, gradient=my.rule_of_chosen, without=my.chosen
    ),
    "chosen, lost": lambda: results(my.chosen, X, X, CHOICE, gradient=my.rule_of_chosen, without=my.chosen, **FEW),
    "reversed": lambda: results(my.with_reversed_gradient, X, gradient=my.rule_of_reversed, places=["second-order"]),
    "float64": lambda: results(
        my.by_custom_gradient, uniform(-3, 3, (5,), "float64"), gradient=my.rule, places=["plain", "fitted"]
    ),
    "variable": lambda: results(my.scaled, X, gradient=my.rule, places=["plain"]),
    "two outputs": lambda: results(my.two_outputs, X, gradient=my.rule),
    "shorter": lambda: results(my.shorter, X, gradient=my.rule),
    "broken": lambda: results(my.broken, X, gradient=my.rule),
    "rule with TensorFlow": lambda: results(my.by_map, X, gradient=my.rule_with_tensorflow),
    "rule of zeros": lambda: results(my.by_map, X, gradient=my.rule_of_zeros),
    "rule too short": lambda: results(my.by_map, X, gradient=my.rule_too_short),
    "rule of two": lambda: results(my.by_map, X, gradient=my.rule_of_two),
    "no difference": lambda: results(my.by_map, X, gradient=my.rule, without=my.by_custom_gradient),
    "integers first": lambda: results(my.chosen, CHOICE, X, X, gradient=my.rule_of_chosen),
    "floor-map": lambda: results("floor-map"),
}
json.dump({name: check() for name, check in CHECKS.items()}, sys.stdout)
