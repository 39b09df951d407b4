"""Moving averages of the numbers of a batch, by the weights from before each step or from after it, in NumPy."""

import numpy as np

from tf_opdiff.suites.claims.c20_batch_norm.reference import _moments, _moved, not_updated


def _trained(after, move):
    """Training as without updates, and averages that `move` takes to the moments of each batch."""

    def reference(weights, xs, ys):
        ws, gammas, betas, means, variances = not_updated(weights, xs, ys)
        mean, variance, averages = np.zeros_like(means[0]), np.zeros_like(variances[0]) + 1, []
        for step, x in enumerate(xs):
            before = ws[step - 1] if step else weights
            moments = _moments(x @ (ws[step] if after else before))
            mean, variance = move(mean, moments[0]), move(variance, moments[1])
            averages.append((mean, variance))
        return ws, gammas, betas, *(np.stack(each) for each in zip(*averages, strict=True))

    return reference


of_last_batch = _trained(False, lambda moving, now: now)
before_the_step = _trained(False, _moved)
after_the_step = _trained(True, _moved)
