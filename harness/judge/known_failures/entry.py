"""Entry: one known failure: the records and elements that it is about, and how they fail."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import NamedTuple

import msgspec
import numpy as np
from packaging.specifiers import SpecifierSet

from tf_opdiff.harness.device.repeat import SELF_CHECKS
from tf_opdiff.harness.judge.differences.comparison import Elements
from tf_opdiff.harness.judge.differences.operands import Operands
from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.known_failures.distance_limit import DistanceLimit
from tf_opdiff.harness.judge.known_failures.region import Region
from tf_opdiff.harness.judge.known_failures.selectors import EVERY, Names, admits, listed
from tf_opdiff.harness.spec.kinds import KIND, MEASURED
from tf_opdiff.harness.spec.plan import type_of
from tf_opdiff.harness.spec.spec import BY_PATTERNS


class Difference(NamedTuple):
    """A difference, as far as entries ask for it.

    `kinds` are those that occur, in order; `code` is that of an error or a crash; `max_ulp` is the largest distance, in
    ULPs of the result's dtype, NaN if it was not taken. `elements` are those of each kind, of the kind `""` where
    nothing differs, and `operands` the inputs and upstreams; both are empty where the arrays are not at hand. `swept`
    says that the difference is that of a sweep, which counts elements and does not keep them.
    """

    kinds: Sequence[str] = ()
    code: str = ""
    max_ulp: float = math.nan
    elements: Mapping[str, Elements] = {}
    operands: Operands = Operands()
    swept: bool = False


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One known failure. Every selector is a name, a list of names, or absent for all.

    Every record that an entry selects must fail with its `kind` (and with its `code`, or one of them, if the failure is
    an error or a crash). A record that fails by several kinds needs an entry for each. A selected record that does not
    fail by the entry's kind is stale; a comparison with another plan is stale only if `against` names such comparisons.

    trait         names of `harness.spec.settings.trait`: the entry is about processors that have one of them.
    unless        a variant, such as `noonednn`, or a trait: the entry is not about devices with it.
    tf            a version specifier such as `>=2.18,<2.22`.
    intermittent  the failure depends on memory that TensorFlow did not write, so that the same call may also pass: the
                  entry is never stale.
    where         a condition of `harness.judge.known_failures.region`: the entry is about the elements that fulfil it,
                  and every other element is held to its budget.
    within        the largest distance that the entry explains; see `harness.judge.known_failures.distance_limit`.
    blind         why neither can be so narrow that every fault planted in addition to the failure is seen.
    cause         in a file, the id of the cause.
    """

    spec: Names
    kind: str
    cause: Cause
    dtype: Names = "*"
    attrs: Names = "*"
    recipe: Names = "*"
    device: Names = "*"
    trait: Names = "*"
    unless: str = ""
    mode: Names = "*"
    against: Names = "*"
    quantity: Names = "*"
    tf: str = ""
    code: Names = ""
    intermittent: bool = False
    where: str = ""
    within: str = ""
    blind: str = ""

    def occurs(self, difference: Difference) -> bool:
        """Whether the entry's kind is one of the kinds of a difference, with the entry's error code."""
        return self.kind in difference.kinds and admits(self.code or EVERY, difference.code)

    def explains(self, difference: Difference) -> np.ndarray | bool:
        """The elements that the entry explains: of its kind, in its region and within its distance.

        A bool array; where the elements are not at hand, whether the largest distance is within the entry's distance.
        False if the entry's kind does not occur.

        Raises:
          RegionError: `where` is not about the elements of this result.
        """
        if not self.occurs(difference):
            return False
        if self.kind not in difference.elements:
            limit = DistanceLimit.parse(self.within)
            return not (self.kind in MEASURED and limit.unit == "ulp" and difference.max_ulp > limit.largest)
        elements = difference.elements[self.kind]
        explained = elements.wrong[self.kind] & self.region(elements, difference.operands)
        if self.kind in MEASURED and self.within:
            explained &= DistanceLimit.parse(self.within).allows(elements)
        return explained

    def expects(self, difference: Difference) -> bool:
        """Whether the entry explains a difference, or at least one element of it; raises as `explains`."""
        return bool(np.any(self.explains(difference)))

    def region(self, elements: Elements, operands: Operands) -> np.ndarray:
        """The elements that the entry is about, a bool array of their shape.

        Raises:
          RegionError: `where` is not about the elements of this result.
        """
        return Region.parse(self.where).holds(elements.got, elements.want, operands)

    @property
    def limits(self) -> str:
        """The region and the distance of the entry, in the words of its file."""
        return " ".join(f"{name} {text}" for name, text in (("where", self.where), ("within", self.within)) if text)

    def must_fail(self, difference: Difference) -> bool:
        """Whether a comparison that the entry selects, and that does not fail by its kind, makes the entry stale.

        An entry with a region must fail where an element lies in it, and in a sweep that it names. An element of a kind
        with a distance may be right by chance there; then only an entry that names its recipes must fail. Nor must an
        entry of a kind that is about chance, such as `nondeterministic`.
        """
        if self.intermittent or KIND[self.kind].by_chance:
            return False
        if not self.where:
            return True
        elements = next(iter(difference.elements.values()), None)
        if elements is None:
            return difference.swept
        if self.kind in MEASURED and EVERY in listed(self.recipe):
            return False
        return bool(self.region(elements, difference.operands).any())

    def selects(
        self,
        place: Mapping[str, str],
        tf: str,
        kind: str = "",
        traits: AbstractSet[str] | None = None,
        variants: Sequence[str] = (),
    ) -> bool:
        """Whether the entry is about a place; `tf` is the running version, `kind` the device's type.

        `traits` are those of the device; without them, the entry is about any processor. `variants` are those that the
        device has in addition to those in its name.

        A place has a spec, dtype, attrs, recipe, device and mode; the place of one comparison also has a quantity and
        `against`: `numpy`, `plan` (any other plan), or `itself`. An entry with a region is about sweeps and searches
        only if it names them, because these count elements and do not keep them. Entries whose kind is one of
        `harness.device.repeat` are about `itself` alone, and other entries never are. No entry is about a comparison
        with a claim: a claim that does not hold is refuted.
        """
        against = place.get("against")
        if against == "claim" or (against and (against == "itself") != (self.kind in SELF_CHECKS)):
            return False
        device = place.get("device", "")
        if self.unless and self.unless in (*device.split("+")[1:], *variants):
            return False
        if traits is not None and not self._fits(traits):
            return False
        if self.where and place.get("recipe") in BY_PATTERNS and place["recipe"] not in listed(self.recipe):
            return False
        for field, value in place.items():  # a plain loop: the report of a run asks a million times
            if field != "device" and not admits(getattr(self, field), value):
                return False
        general = kind or type_of(device)
        devices = (device, general, *(f"{general}+{variant}" for variant in variants))
        return _contains(self.tf, tf) and ("device" not in place or any(admits(self.device, one) for one in devices))

    def _fits(self, traits: AbstractSet[str]) -> bool:
        """Whether the entry is about a processor with these traits."""
        return self.unless not in traits and (self.trait == EVERY or not traits.isdisjoint(listed(self.trait)))


@lru_cache
def _contains(specifier: str, version: str) -> bool:
    return SpecifierSet(specifier).contains(version, prereleases=True)
