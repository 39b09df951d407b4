"""Sweep: every bit pattern in a range, block by block, under each plan."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tf_opdiff.harness.device.observation import Observation
from tf_opdiff.harness.device.request import Bits, Request
from tf_opdiff.harness.judge.verdicts.trial import LOST
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.spec.kinds import NO_ANSWER
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.harness.spec.spec import SWEEPS, Case
from tf_opdiff.harness.store.records.accuracy import Accuracy
from tf_opdiff.harness.store.records.error_profile import ErrorProfile
from tf_opdiff.harness.store.shards import read_lines
from tf_opdiff.harness.sweep.measurements.block_promises import UPSTREAM, expected, upstreams
from tf_opdiff.harness.sweep.measurements.oracle import Oracle
from tf_opdiff.harness.sweep.measurements.pieces import NORMAL, next_multiple, pieces
from tf_opdiff.harness.sweep.measurements.tally import Tally
from tf_opdiff.harness.sweep.progress_state import Key, Swept

#: Elements in a block. Enough to make the cost of a request and of a line small: blocks of a quarter take 1.4 to 1.8
#: times the CPU time an element. Few enough to keep pages mapped. A multiple of the upstream's period, so that every
#: block has the same upstream.
BLOCK = len(UPSTREAM) << 19
#: One block in so many has checksums, by which modes are compared bit for bit; all inputs of 16 bits are in one block.
CHECKED = 8


@dataclass
class Sweep:
    """One spec, dtype and label of `attrs` over a range of bit patterns under some plans.

    A sweep with a `step` above 1 is a sample: it tries the bit patterns that are multiples of `step`. A block has
    `block` inputs, but for the first and the last; it begins at a multiple of `block` times `step`, so that an
    interrupted run continues with its next block.
    """

    item: Item
    plans: Sequence[Plan]
    lo: int
    hi: int
    block: int = BLOCK
    attrs: str = ""
    step: int = 1

    def __post_init__(self) -> None:
        if self.item.spec.derivatives.jvp or self.item.spec.derivatives.hvp:  # values and gradients are enough
            self.item = replace(self.item, spec=self.item.spec.but(jvp=None, hvp=None))
        self.plans = [p for p in self.plans if self.item.spec.runs_under(p)]
        self.swept = {plan: Swept() for plan in self.plans}
        self._samples = {plan: self._sample(plan) for plan in self.plans}

    def case(self, recipe: str) -> Case:
        """The case of a recipe of the sweep."""
        return Case(self.item.spec, self.item.dtype, recipe, self.attrs)

    def blocks(self) -> Iterator[tuple[int, int]]:
        """The blocks of the range, in order."""
        span = self.block * self.step
        first = next_multiple(self.lo, self.step)
        cuts = range(self.lo // span * span, self.hi, span)
        yield from ((max(first, c), min(self.hi, c + span)) for c in cuts if first < min(self.hi, c + span))

    def inputs(self, lo: int, hi: int) -> Bits:
        """The inputs of a block."""
        return Bits(self.item.dtype, lo, hi, self.step)

    @property
    def recipes(self) -> list[str]:
        """The recipes of the sweep with bit patterns in the range."""
        present = {p.recipe for p in pieces(self.item.dtype, self.lo, self.hi, self.step)}
        return [r for r in SWEEPS if r in present]

    def resume(self, shard: Path) -> None:
        """Adds the blocks that an earlier process recorded, without those that ended in a crash or a hang."""
        plans = {(str(p.device), p.mode): p for p in self.plans}
        blocks = set(self.blocks())
        for line in read_lines.read(shard) if shard.exists() else ():
            if line and line["line"] == "block" and (line["lo"], line["hi"]) in blocks:
                plan = plans.get((line["device"], line["mode"]))
                lost = any(row["status"] in NO_ANSWER for *_, row in line["tallies"])
                mine = (self.item.spec.name, self.item.dtype, self.attrs, self.step)
                theirs = (line["spec"], line["dtype"], line.get("attrs", ""), line.get("step", 1))
                if plan and not lost and theirs == mine:
                    self.swept[plan].add(line)

    @property
    def left(self) -> int:
        """The number of elements still to sweep, over all plans."""
        blocks = [self.inputs(*block) for block in self.blocks()]
        return sum(b.size for plan in self.plans for b in blocks if b.lo not in self.swept[plan].blocks)

    def plans_left(self, device: Device, lo: int) -> list[Plan]:
        """The plans of a device that have not swept the block that begins at a bit pattern."""
        return [p for p in self.plans if p.device == device and lo not in self.swept[p].blocks]

    def request(self, plan: Plan, lo: int, hi: int, segment: str) -> Request:
        """The request to run a block under a plan; `segment` is the address of the shared memory for the results."""
        case, dtype = self.case(NORMAL), self.item.dtype
        wants, sample = self._samples[plan]
        inputs = self.inputs(lo, hi)
        cycles = None if sample is None else upstreams(inputs, case, sample)
        return Request(
            module=self.item.module,
            spec=case.spec.name,
            case=case.id,
            dtype=dtype,
            mode=plan.mode,
            inputs=(inputs,),
            upstreams=cycles,
            quantities=wants,
            segment=segment,
            attrs=case.keywords,
        )

    def _sample(self, plan: Plan) -> tuple[tuple[str, ...], list[np.ndarray] | None]:
        """The promised quantities, and the outputs for one input; None as outputs if no gradient is promised."""
        side = self.item.spec.side(plan)
        promises = expected(self.case(NORMAL), self.inputs(0, 1), side)
        outputs = [w.value for q, w in promises.wants.items() if family_of(q) == "output" and w.value is not None]
        return tuple(promises.wants), outputs if promises.upstreams is not None else None

    def line(self, plan: Plan, block: Bits, observation: Observation, oracle: Oracle) -> dict[str, Any]:
        """The line of the shard for a block with this observation."""
        lo = block.lo
        tallies: dict[Key, Tally] = {}
        profiles: dict[Key, ErrorProfile] = {}
        accuracies: dict[str, list[Accuracy]] = {}
        for part in oracle.parts(block, self.item.spec.promise(plan)):
            for quantity in dict.fromkeys([*part.wants, *observation.quantities]):
                key = part.piece.recipe, quantity
                result = observation.quantities.get(quantity, LOST)
                errors = part.errors(quantity, plan.mode, result, lo, block.size)
                tallies.setdefault(key, Tally()).add(errors.tally)
                if errors.profile is not None:
                    profiles[key] = profiles[key] + errors.profile if key in profiles else errors.profile
                if errors.accuracy is not None:
                    accuracies.setdefault(quantity, []).append(errors.accuracy)
        about = {name: getattr(observation, name) for name in ("ran_on", "raw_op", "fault", "lacking")}
        return {
            "spec": self.item.spec.name,
            "dtype": self.item.dtype,
            **({"attrs": self.attrs} if self.attrs else {}),
            "device": str(plan.device),
            "mode": plan.mode,
            "lo": lo,
            "hi": block.hi,
            "seconds": observation.seconds,
            "about": about,
            "tallies": [[*key, tally.to_json()] for key, tally in tallies.items()],
            **({"profiles": [[*key, profile.to_json()] for key, profile in profiles.items()]} if profiles else {}),
            **({"step": self.step} if self.step > 1 else {}),
            "accuracies": {quantity: Accuracy.sum(parts).to_json() for quantity, parts in accuracies.items()},
            **({"checksums": _checksums(observation)} if lo // (self.block * self.step) % CHECKED == 0 else {}),
        }


def _checksums(observation: Observation) -> dict[str, int]:
    """The CRC-32 of the bytes of each array of an observation: equal bits have equal checksums."""
    arrays = {q: result.value for q, result in observation.quantities.items() if result.value is not None}
    return {quantity: zlib.crc32(np.ascontiguousarray(a).view(np.uint8).data) for quantity, a in arrays.items()}
