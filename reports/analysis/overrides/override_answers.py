"""Override answers: in words, which mechanism works under XLA and in the other modes, from the cells of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tf_opdiff.harness.spec.lists.override_cell import APPLIED, IGNORED, INEXPRESSIBLE, REFUSED
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.reports.analysis.overrides.override_matrix import NOT_RUN, UNAVAILABLE, UNEXPECTED, Cell, OverrideMatrix

#: An op, a place and the cell there.
_Placed = tuple[str, str, Cell]
_TESTED = (APPLIED, IGNORED, REFUSED, UNEXPECTED)
#: The state of a cell whose op is refused without an override as well: it says nothing about the mechanism.
_BARRED = "barred"
#: State → the words for a number of cells.
_WORDS = {
    IGNORED: "ignored in {}",
    REFUSED: "refused in {}",
    UNEXPECTED: "other than expected in {}",
    UNAVAILABLE: "{} lack a kernel or a compiler",
    _BARRED: "in {} more the op fails without an override, too",
    NOT_RUN: "{} did not run",
}
#: The words for a mechanism as a whole, best first.
_WHOLE = ("works", "works in places", "does not work", "not run")


@dataclass(frozen=True)
class Answer:
    """A mechanism in one mode: a word for the whole, the counts in words, and where the override is not applied.

    `share` is the share of the tested cells that apply the override.
    """

    mechanism: str
    word: str
    counts: str
    where: tuple[str, ...]
    share: float = 0.0


def answers(matrix: OverrideMatrix) -> dict[str, tuple[Answer, ...]]:
    """Mode → an answer for each mechanism but the first, which is no override; the best first. XLA comes first."""
    modes = sorted(MODES, key=lambda mode: mode != "xla")
    return {mode: tuple(sorted(_answers(matrix, mode), key=_rank)) for mode in modes}


def _answers(matrix: OverrideMatrix, mode: str) -> list[Answer]:
    without, *mechanisms = matrix.mechanisms
    by_mechanism: dict[str, list[_Placed]] = {name: [] for name in mechanisms}
    for op, mechanism, place, of_mode, cell in matrix.each():
        if of_mode != mode or cell.state == INEXPRESSIBLE or mechanism == without:
            continue
        barred = cell.state == REFUSED and _fails_without(matrix, op, place, mode, cell.why)
        by_mechanism[mechanism].append((op, place, Cell(REFUSED) if barred else cell))
    return [_answer(name, cells) for name, cells in by_mechanism.items()]


def _fails_without(matrix: OverrideMatrix, op: str, place: str, mode: str, why: str) -> bool:
    """Whether the op is refused without an override, too: in this place, or in another one for this reason."""
    places = matrix.overrides[op, matrix.mechanisms[0]].cells
    refused = {name: by_mode[mode].why for name, by_mode in places.items() if by_mode[mode].state == REFUSED}
    return place in refused or why in refused.values()


def _answer(mechanism: str, cells: Sequence[_Placed]) -> Answer:
    counts = Counter(_BARRED if cell == Cell(REFUSED) else cell.state for _, _, cell in cells)
    tested = sum(counts[state] for state in _TESTED)
    texts = [words.format(counts[state]) for state, words in _WORDS.items() if counts[state]]
    if not tested:
        return Answer(mechanism, "not run", "; ".join(texts), ())
    whole, some = counts[APPLIED] == tested, counts[APPLIED] > 0
    word = "works" if whole else "works in places" if some else "does not work"
    texts.insert(0, f"applied in {counts[APPLIED]} of {tested} cells")
    return Answer(mechanism, word, "; ".join(texts), _where(cells), counts[APPLIED] / tested)


def _where(cells: Sequence[_Placed]) -> tuple[str, ...]:
    """The places in which the override is not applied, one line for each state and reason, the most frequent first."""
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for op, place, cell in cells:
        if cell.state in (IGNORED, REFUSED, UNEXPECTED) and cell.why:
            groups.setdefault((cell.state, cell.why), []).append((op, place))
    ranked = sorted(groups.items(), key=lambda group: -len(group[1]))
    return tuple(f"{state} {_places(cells, pairs)}: {why}" for (state, why), pairs in ranked)


def _places(cells: Sequence[_Placed], pairs: Sequence[tuple[str, str]]) -> str:
    """The places of some cells in words, with the ops if not all ops of these places are meant."""
    tested = [(op, place) for op, place, cell in cells if cell.state in _TESTED and cell != Cell(REFUSED)]
    places = tuple(dict.fromkeys(place for _, place in pairs))
    ops = tuple(dict.fromkeys(op for op, _ in pairs))
    where = "everywhere" if {place for _, place in tested} == set(places) else "; ".join(map(_at, places))
    return where if {op for op, place in tested if place in places} == set(ops) else f"{where}, for {', '.join(ops)}"


def _at(place: str) -> str:
    """A place behind a verb: `in a branch of tf.cond`, `for second order`."""
    short = place.partition(":")[0]
    return short if short.startswith(("by ", "in ", "inside ", "nested ")) else f"for {short}"


def _rank(answer: Answer) -> tuple[int, float]:
    return _WHOLE.index(answer.word), -answer.share
