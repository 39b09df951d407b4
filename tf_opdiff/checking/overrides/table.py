"""Override table: the states of an override in words, by place and mode, and the proofs below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tf_opdiff.checking.overrides.request import STATES, OverrideAnswer, OverrideResult
from tf_opdiff.harness.spec.lists.override_cell import APPLIED, INEXPRESSIBLE
from tf_opdiff.harness.spec.plan import MODES

#: The words for states in cells; others are as they are.
_CELLS = {INEXPRESSIBLE: "–"}


def text(answer: OverrideAnswer) -> str:
    """The table of each device, and a line for each state and proof."""
    devices = tuple(dict.fromkeys(result.device for result in answer.results))
    lines = [answer.title]
    for device in devices:
        lines += ["", *_table(device, [r for r in answer.results if r.device == device])]
    return "\n".join([*lines, "", *_legend(answer.results), "", *_proofs(answer.results)])


def _table(device: str, results: Sequence[OverrideResult]) -> Iterator[str]:
    modes = [mode for mode in MODES if any(r.mode == mode for r in results)]
    titles = tuple(dict.fromkeys(r.title for r in results))
    cells = {
        (r.title, r.mode): _CELLS.get(r.state, r.state) + (" !" if r.failing and r.expected else "") for r in results
    }
    wide = max(map(len, (device, *titles)))
    yield "  ".join([device.ljust(wide), *(mode.ljust(11) for mode in modes)]).rstrip()
    for title in titles:
        row = [cells.get((title, mode), "").ljust(11) for mode in modes]
        yield "  ".join([title.ljust(wide), *row]).rstrip()


def _legend(results: Sequence[OverrideResult]) -> Iterator[str]:
    for state, meaning in STATES.items():
        if any(r.state == state for r in results):
            yield f"{_CELLS.get(state, state)}: {meaning}"
    if any(r.failing and r.expected for r in results):
        yield "!: another state than the suites expect on a CPU"


def _proofs(results: Sequence[OverrideResult]) -> Iterator[str]:
    """A line for each place, state and reason, with the modes that share them; what is not applied comes first."""
    alike: dict[tuple[str, ...], list[OverrideResult]] = {}
    for r in sorted(results, key=lambda r: (r.state == INEXPRESSIBLE, r.state == APPLIED, not r.failing)):
        alike.setdefault(_key(r), []).append(r)
    for group in alike.values():
        first = group[0]
        places = "; ".join(dict.fromkeys(r.title for r in group))
        plans = ", ".join(dict.fromkeys(f"{r.device}/{r.mode}" for r in group))
        why = f". Reason: {first.why}" if first.why and first.state != INEXPRESSIBLE else ""
        expected = f". Expected: {first.expected}" if first.expected and first.failing else ""
        yield f"{first.state} {places} ({plans}): {first.proof}{why}{expected}"


def _key(r: OverrideResult) -> tuple[str, ...]:
    """Results with the same key share a line: of errors, those of one kind in one place."""
    if r.state == INEXPRESSIBLE:
        return r.state, r.proof
    kind = "" if r.state == APPLIED else r.why or r.proof.partition(":")[0]
    return r.state, r.title, kind, r.expected if r.failing else ""
