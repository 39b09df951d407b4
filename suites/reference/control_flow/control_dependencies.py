"""References of control dependencies: what is seen, and what the variables hold in the end, in NumPy."""

import numpy as np


def updated(start, delta):
    """One update, seen and kept."""
    return start + delta, {"v": start + delta}


def pruned(start, delta):
    """No update at all."""
    return start, {"v": start}


def aliased(start, delta):
    """One update, and what was read before it shows it too."""
    return start + delta, start + delta, {"v": start + delta}


def around(start, delta):
    """One update, read before and after it."""
    return start, start + delta, {"v": start + delta}


def nested(start, delta):
    """Two updates, read after each."""
    return start + delta, start + 2 * delta, {"v": start + 2 * delta}


def five(step, *state):
    """Five steps: step(*state) → outputs, new state."""
    rows = []
    for _ in range(5):
        outputs, state = step(*state)
        rows.append(outputs)
    return tuple(np.stack(row) for row in zip(*rows, strict=True)), state


def updated_five(start, delta):
    """Five steps of one update."""
    outputs, (v, _) = five(lambda v, d: ([v + d], (v + d, d)), start, delta)
    return (*outputs, {"v": v})


def pruned_five(start, delta):
    """Five steps without an update."""
    return np.stack([start] * 5), {"v": start}


def counted_five(calls):
    """Five steps of one update, in which Python ran `calls` times."""

    def reference(start, delta):
        values, state = updated_five(start, delta)
        return values, {**state, "calls": calls}

    return reference


def cond(start, delta):
    """One update, up or down by the sign of the first sum; and which branch it was."""
    rising = start.sum() + delta.sum() > 0
    v = start + delta if rising else start - delta
    return v, np.int32(1 if rising else 2), {"v": v}


def looped(start, delta):
    """Three updates before the read."""
    return start + 3 * delta, {"v": start + 3 * delta}


def order_cond(start, delta):
    """One update, up or down by the sign of what the variable held."""
    v = start + delta if start.sum() > 0 else start - delta
    return v, {"v": v}


def sequence(start, delta):
    """An addition, a doubling and a subtraction, read before and after them."""
    last = 2 * (start + delta) - delta
    return start, last, {"v": last}


def reads_five(start, delta):
    """Five steps of an addition, a doubling and a subtraction, with a read before and after each."""

    def step(v, d):
        last = 2 * (v + d) - d
        return [v, v + d, 2 * (v + d), last], (last, d)

    outputs, (v, _) = five(step, start, delta)
    return (*outputs, {"v": v})


def shared_five(start, delta):
    """Five steps of one update that three reads share."""
    values, state = updated_five(start, delta)
    return values, values, values, state


def twice_five(start, delta):
    """Five steps of two updates."""
    return updated_five(start, 2 * delta)


def two_five(start, delta):
    """Five steps in which two variables take turns, each using what the other holds by then."""

    def step(v, w):
        v = v + w
        w = w - v
        v = v + w
        return [v, w], (v, w)

    outputs, (v, w) = five(step, start, delta)
    return (*outputs, {"v": v, "w": w})


def to_variable(g, start, delta):
    """The upstream, to the variable."""
    return None, None, g


def unconnected(g, start, delta):
    """No gradient to anything."""
    return None, None, None


def summed(g, start, delta):
    """The sum of the upstreams of all reads, to the variable."""
    return None, None, sum(x for x in g if x is not None)
