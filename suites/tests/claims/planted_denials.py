"""Every spec of `suites.claims` that has a denying claim, with a program that stops at a name that is not defined."""

from dataclasses import replace

from tf_opdiff.harness.spec.catalog import Catalog


def stops(tf, *inputs):
    return not_defined(inputs)  # type: ignore[name-defined]  # noqa: F821


SPECS = tuple(
    replace(spec, program=stops, state=None, steps=1, sessions=False, files=())
    for spec in Catalog.load("tf_opdiff.suites.claims").specs.values()
    if any(claim.denies for claim in spec.claims)
)
