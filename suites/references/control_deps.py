"""References of control dependencies: what is seen, and what the variables hold in the end, in NumPy."""

import numpy as np


def updated(start, delta):
    return start + delta, {"v": start + delta}


def pruned(start, delta):
    return start, {"v": start}


def aliased(start, delta):
    return start + delta, start + delta, {"v": start + delta}


def around(start, delta):
    return start, start + delta, {"v": start + delta}


def nested(start, delta):
    return start + delta, start + 2 * delta, {"v": start + 2 * delta}


def five(step, *state):
    """Five steps: step(*state) → outputs, new state."""
    rows = []
    for _ in range(5):
        outputs, state = step(*state)
        rows.append(outputs)
    return tuple(np.stack(row) for row in zip(*rows, strict=True)), state


def updated_five(start, delta):
    outputs, (v, _) = five(lambda v, d: ([v + d], (v + d, d)), start, delta)
    return (*outputs, {"v": v})


def pruned_five(start, delta):
    return np.stack([start] * 5), {"v": start}


def counted_five(calls):
    def reference(start, delta):
        values, state = updated_five(start, delta)
        return values, {**state, "calls": calls}

    return reference


def cond(start, delta):
    rising = start.sum() + delta.sum() > 0
    v = start + delta if rising else start - delta
    return v, np.int32(1 if rising else 2), {"v": v}


def looped(start, delta):
    return start + 3 * delta, {"v": start + 3 * delta}


def order_cond(start, delta):
    v = start + delta if start.sum() > 0 else start - delta
    return v, {"v": v}


def sequence(start, delta):
    doubled = (start + delta) + (start + delta)
    return start, start + delta, doubled, doubled - delta, {"v": doubled - delta}


def shared_five(start, delta):
    values, state = updated_five(start, delta)
    return values, values, values, state


def twice_five(start, delta):
    return updated_five(start, 2 * delta)


def two_five(start, delta):
    def step(v, w):
        v = v + w
        w = w - v
        v = v + w
        return [v, w], (v, w)

    outputs, (v, w) = five(step, start, delta)
    return (*outputs, {"v": v, "w": w})


def to_variable(g, start, delta):
    return None, None, g


def unconnected(g, start, delta):
    return None, None, None


def summed(g, start, delta):
    return None, None, sum(x for x in g if x is not None)


def rounding(u, g, start, delta):
    """(n - 1)·u·Σ|gᵢ| for n = 4 reads, in whatever order their gradients are added (Higham 2002, section 4.2)."""
    return 3 * u * sum(np.abs(x) for x in g if x is not None)
