"""Programs of `suites.programs` without the control flow that they are about: the same values, by other ops.

A loop becomes iterations that `tf.where` selects, a cond becomes `tf.where` on both branches, a map becomes a stack.
`NAME--without` has the evidence of its spec. `NAME--uncalled` lacks the evidence of calls: the ops of its graph alone
show that the subject is gone.
"""

from dataclasses import replace

from tf_opdiff.suites.programs.branches import case, predicates, switch_case
from tf_opdiff.suites.programs.loops import folded, loop, loop_variables, mapped
from tf_opdiff.suites.tests.subjects.replaced import Replaced

#: Iterations that stand for a loop: more than any of the programs needs.
ITERATIONS = 6
#: The specs; each without its suffix `-v1`, too.
NAMES = (
    *("case-default", "fold-left", "loop-counted", "loop-fibonacci", "map-fn", "predicate-one-element", "scan-steps"),
    "switch-case-last",
)


def functions(tf):
    """Functions in the place of TensorFlow's control flow, for tensors of one shape."""

    def cond(p, then, otherwise):
        return tf.where(p, then(), otherwise())

    def case(pairs, default, exclusive=False):
        result = default()
        for p, function in reversed(pairs):
            result = tf.where(p, function(), result)
        return result

    def switch_case(index, branches, default=None):
        indexed = dict(branches) if isinstance(branches, dict) else dict(enumerate(branches))
        result = (default or indexed[max(indexed)])()
        for i, function in indexed.items():
            result = tf.where(tf.equal(index, i), function(), result)
        return result

    def while_loop(condition, body, loop_vars, maximum_iterations=ITERATIONS):
        values = list(loop_vars)
        for _ in range(maximum_iterations):
            goes_on, following = condition(*values), body(*values)
            values = [tf.where(goes_on, new, old) for new, old in zip(following, values, strict=True)]
        return tuple(values)

    def scan(step, rows):
        results = tf.unstack(rows)
        for i in range(1, len(results)):
            results[i] = step(results[i - 1], results[i])
        return tf.stack(results)

    def map_fn(function, rows):
        return tf.stack([function(row) for row in tf.unstack(rows)])

    def foldl(step, rows):
        return scan(step, rows)[-1]

    both = (cond, case, switch_case, while_loop, scan, map_fn, foldl)
    return {f"{prefix}{f.__name__}": f for f in both for prefix in ("", "compat.v1.")}


def without(spec, suffix, **fields):
    """The spec with control flow taken out of its program, for one recipe."""
    whole = spec.program

    def program(tf, *inputs):
        return whole(Replaced(tf, functions(tf)), *inputs)

    recipes = dict(list(spec.recipes.items())[:1])
    return replace(spec, name=f"{spec.name}--{suffix}", program=program, recipes=recipes, **fields)


SPECS = tuple(
    planted
    for module in (case, folded, loop, loop_variables, mapped, predicates, switch_case)
    for spec in module.SPECS
    if spec.name.removesuffix("-v1") in NAMES
    for planted in (
        without(spec, "without"),
        without(spec, "uncalled", evidence="", modes=("graph",)),
    )
)
