"""`tf.cond` and raw ops of control flow in NumPy: values, gradients, and how often branches run.

Where a VJP takes `zeros`, an input that only the branch not taken uses gets zeros, or without them nothing: None.
"""

import numpy as np


def when(p, taken, zeros=True):
    """The gradients of two inputs: one branch uses the first input, and the other branch uses the second."""
    chosen, other = taken
    dead = np.zeros_like(other) if zeros else None
    return (chosen, dead) if p else (dead, chosen)


def captured_vjp(g, p, x, y, z, *unused, zeros=True):
    """The VJP where both branches use x, the first y, the second z, and none the rest."""
    return None, g * (y if p else z), *when(p, (g * x, z if p else y), zeros), *(None for _ in unused)


def nested_reference(p, q, x, y):
    """The four leaves."""
    return (x * y if q else x * x) if p else (y * y if q else y * 2)


def nested_vjp(g, p, q, x, y, zeros=True):
    """The VJP of the leaf that was taken; zeros, or nothing, to what it does not use."""
    dead = np.zeros_like(x) if zeros else None
    if p:
        return None, None, g * (y if q else 2 * x), g * x if q else dead
    return None, None, dead, g * (2 * y if q else 2)


def counts(steps, traced_both):
    """Results of so many steps; a graph traces each branch once, an eager program calls the taken one every time."""

    def reference(p, x):
        y = x * (2 if p else 3)
        ran = {"then": np.int32(steps * p), "else": np.int32(10 * steps * (not p))}
        calls = (1, 1) if traced_both else (steps * int(p), steps * int(not p))
        return np.stack([y] * steps) if steps > 1 else y, ran | {
            "then_traced": np.int64(calls[0]),
            "else_traced": np.int64(calls[1]),
        }

    return reference


def truth(p, x, y):
    """A scalar is true if nonzero or a nonempty string, any other tensor if not empty.

    https://www.tensorflow.org/api_docs/python/tf/raw_ops/StatelessIf
    """
    return (x if np.size(p) else y) if np.ndim(p) else (x if p.item() else y)


def chosen(p, x, y):
    """x + y where p is true, else x * y."""
    return truth(p, x + y, x * y)


def reverse(p, x, y):
    """x or y, reversed."""
    return x[::-1] if p else y[::-1]


def if_vjp(g, p, x, y, zeros=True):
    """The VJP of x * y where p is true, else x * x."""
    return None, g * (y if p else 2 * x), g * x if p else np.zeros_like(y) if zeros else None
