"""Public API page: the public functions of TensorFlow with the specs that call them, and the reasons for the others."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from docs.markdown import code, table
from tf_opdiff.harness.paths import SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.public_api import PublicFunction, functions

#: The most specs that a row names.
FEW = 3


def public_api() -> Iterator[str]:
    """A table of the functions of each module."""
    listed = [*functions(Catalog.load(SUITES))]
    missing = sum(bool(function.missing) for function in listed)
    yield from (
        "# Public API",
        "",
        f"The {len(listed):,} public functions of TensorFlow that compute, and classes of Keras. Specs call them in",
        f"every mode, or there is a reason; {missing:,} lack both.",
        "[Public functions](../guides/public-functions.md) says how to add one.",
        "",
    )
    for module, own in groupby(listed, key=lambda function: function.name.rpartition(".")[0]):
        yield from (f"## tf.{module}", "", *table(["function", "called by", "state"], map(_row, own)))


def _row(function: PublicFunction) -> tuple[str, str, str]:
    more = f" and {len(function.specs) - FEW} more" if len(function.specs) > FEW else ""
    specs = ", ".join(map(code, [*function.specs][:FEW])) + more
    return code(function.name.rpartition(".")[2]), specs, ". ".join(_state(function))


def _state(function: PublicFunction) -> Iterator[str]:
    """What is missing, the reasons, and the first name of the function."""
    if function.object != function.name:
        yield f"also {code(function.object)}"
    if function.missing == MODES:
        yield "to do"
    elif function.missing:
        yield f"to do: {', '.join(function.missing)}"
    for reason in dict.fromkeys(function.left_out.values()):
        modes = [mode for mode, why in function.left_out.items() if why == reason]
        yield reason if len(modes) == len(MODES) else f"{', '.join(modes)}: {reason}"
