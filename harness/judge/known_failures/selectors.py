"""Selectors: the names by which entries of known failures and of maturity lists select records."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet

from tf_opdiff.harness.spec.similar import unknown

#: A name, or a list of names; `EVERY` selects every name.
Names = str | list[str]
EVERY = "*"


def listed(selector: Names) -> list[str]:
    """The names of a selector, as a list."""
    return [selector] if isinstance(selector, str) else selector


def admits(selector: Names, name: str) -> bool:
    """Whether a selector selects a name."""
    if isinstance(selector, str):
        return selector in (name, EVERY)
    return name in selector or EVERY in selector


def check(entry: object, allowed: Mapping[str, AbstractSet[str]], *, exact: Collection[str] = ()) -> None:
    """Checks the selectors of an entry against the names that exist.

    Args:
      entry: its attributes are the selectors.
      allowed: for each selector to check, the names that exist.
      exact: the selectors that must name something; they may not be `EVERY`.

    Raises:
      LookupError: a selector has a name that does not exist; the message is one line, with the nearest names.
    """
    for selector, names in allowed.items():
        for name in listed(getattr(entry, selector)):
            if name not in names and (name != EVERY or selector in exact):
                raise LookupError(unknown(selector, name, names))
