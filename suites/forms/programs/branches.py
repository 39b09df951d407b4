"""Programs with two branches: their recipes and budget."""

import numpy as np

#: One operation in a branch, correctly rounded.
ROUNDED = {"output": 0.5, "grad": 0.5}


def either(*shapes):
    """Recipes: a predicate of either value, then inputs of these shapes. Both run the same compiled program."""
    return {
        name: lambda draw, d, p=p: (np.array(p), *(draw.values(d, *shape) for shape in shapes))
        for name, p in (("false", False), ("true", True))
    }


def taken(then, otherwise):
    """A reference: the result of the branch that the predicate selects."""
    return lambda p, x: then(x) if p else otherwise(x)
