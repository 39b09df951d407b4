"""Error pictures: the errors of one quantity over its whole input range, all plans in one picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from tf_opdiff.harness.store.records.error_profile import CLASSES
from tf_opdiff.reports.data.figures import tables

#: The columns that tell pictures apart, in addition to the budget. Specs that agree in them share a picture.
_KEYS = ("dtype", "attrs", "quantity", "argument")
_PROFILE = ("spec", "dtype", "attrs", "quantity")
_NAMES = (*_PROFILE, "device", "mode")
#: The most bins on one side of zero; more exponents share a bin.
MOST = 48
#: Beyond the exponents of every dtype: its negative sorts zeros, and it sorts infinities, among the exponents.
_FAR = 1 << 20
_ZERO, _INF, _NAN = (CLASSES.index(name) for name in ("zero", "inf", "nan"))


@dataclass(frozen=True)
class Slot:
    """A bin of the picture: arguments of one sign with `step` neighbouring exponents, or a zero, infinity or NaN.

    Attributes:
      name: `zero`, `inf`, `nan` or `number`.
      sign: 1 or -1; 0 for NaN.
      exponent: the smallest binary exponent; 0 if it is no number.
      step: how many exponents it holds; 0 if it is no number.
    """

    name: str
    sign: int
    exponent: int
    step: int


@dataclass(kw_only=True)
class PlanErrors:
    """The errors under plans that agree in every slot and in their budget.

    Attributes:
      plans: their names.
      budget: the largest budget of the shown specs in ULPs.
      elements, wrong, mismatched: for each slot the numbers of compared elements, of those with a wrong class, and of
        those that differ by more than allowed, a wrong class included; int64.
      max_ulp: for each slot the largest distance in ULPs of elements with the right class; NaN without such elements.
      counts: the number of elements for each edge of the picture; int64.
    """

    plans: list[str]
    budget: float
    elements: np.ndarray
    max_ulp: np.ndarray
    wrong: np.ndarray
    mismatched: np.ndarray
    counts: np.ndarray

    @property
    def largest(self) -> float:
        """The largest distance in ULPs of all slots; NaN without any."""
        return float(np.fmax.reduce(self.max_ulp, initial=np.nan))


@dataclass(kw_only=True)
class ErrorPicture:
    """One picture: a quantity in a dtype over the range of an argument, a row for each distinct plan.

    Attributes:
      specs: the specs whose errors it shows.
      dtype, attrs, quantity, argument: as in the columns of `reports.data.figures.errors`.
      slots: the bins of the strips, from -inf over the two zeros to inf; NaN comes last.
      edges: the upper edges of the bins of the histogram in ULPs, small ones first; NaN, for a wrong class, is last.
      rows: the errors by plans.
    """

    specs: list[str]
    dtype: str
    attrs: str
    quantity: str
    argument: str
    slots: list[Slot]
    edges: list[float]
    rows: list[PlanErrors]


class ErrorTables:
    """The error profiles of a run, split by spec and picture; made once for all pages."""

    def __init__(self, bins: pd.DataFrame, histogram: pd.DataFrame) -> None:
        """Takes what `reports.load_errors` and `reports.load_error_histogram` give."""
        both = pd.DataFrame({name: union_categoricals([bins[name], histogram[name]]) for name in _NAMES})
        plans = tables.plans(both).cat
        self._plans = list(plans.categories)
        profile = both.groupby(list(_PROFILE), observed=True, sort=False).ngroup().to_numpy()
        own = profile[: len(bins)]
        limit = np.full(len(profile), -np.inf)
        np.fmax.at(limit, own, bins["budget"].to_numpy())
        keys = bins[list(_KEYS)].assign(limit=limit[own])
        picture = np.full(len(profile), -1)
        picture[own] = keys.groupby([*_KEYS, "limit"], observed=True, sort=False).ngroup().to_numpy()
        self._keys = keys
        kinds = bins["argument_class"].astype("str").map(CLASSES.index).to_numpy(np.int64)
        self._bins = _Columns(
            {name: bins[name].to_numpy() for name in ("sign", "exponent", "elements", "max_ulp", "wrong", "mismatched")}
            | {"budget": bins["budget"].to_numpy(), "plan": plans.codes.to_numpy()[: len(bins)], "kind": kinds}
        )
        self._counts = _Columns(
            {name: histogram[name].to_numpy() for name in ("up_to", "elements")}
            | {"plan": plans.codes.to_numpy()[len(bins) :]}
        )
        self._rows = _positions(bins["spec"], picture[own])
        self._count_rows = _positions(histogram["spec"], picture[profile[len(bins) :]])

    def __bool__(self) -> bool:
        """Whether the run recorded errors by input."""
        return bool(self._rows)

    def pictures(self, specs: Iterable[str]) -> list[ErrorPicture]:
        """The pictures of some specs: one for each dtype, attributes, quantity, argument and budget."""
        names = list(specs)
        by_picture: dict[int, list[str]] = {}
        for spec in names:
            for picture in self._rows.get(spec, ()):
                by_picture.setdefault(picture, []).append(spec)
        pictures = []
        for picture, some in by_picture.items():
            rows = np.concatenate([self._rows[spec][picture] for spec in some])
            counts = [self._count_rows[s][picture] for s in some if picture in self._count_rows.get(s, ())]
            dtype, attrs, quantity, argument = (str(self._keys[name].iloc[rows[0]]) for name in _KEYS)
            slots, edges, drawn = self._drawn(
                self._bins.of(rows), self._counts.of(np.concatenate(counts or [rows[:0]]))
            )
            pictures.append(
                ErrorPicture(
                    specs=sorted(some),
                    dtype=dtype,
                    attrs=attrs,
                    quantity=quantity,
                    argument=argument,
                    slots=slots,
                    edges=edges,
                    rows=drawn,
                )
            )
        return pictures

    def _drawn(self, bins: _Columns, counts: _Columns) -> tuple[list[Slot], list[float], list[PlanErrors]]:
        """The slots, edges and rows of a picture."""
        slots, at = _slots(bins)
        codes, row = np.unique(bins["plan"], return_inverse=True)
        shape = (len(codes), len(slots))
        cell = row * len(slots) + at
        elements, wrong, mismatched = (_sums(cell, bins[name], shape) for name in ("elements", "wrong", "mismatched"))
        ulp = np.full(shape[0] * shape[1], np.nan)
        np.fmax.at(ulp, cell, bins["max_ulp"])
        ulp = ulp.reshape(shape)
        budgets = np.full(len(codes), -np.inf)
        np.fmax.at(budgets, row, bins["budget"])
        edges, numbers = _histogram(counts, codes)
        rows: dict[tuple[object, ...], PlanErrors] = {}
        for i, code in enumerate(codes.tolist()):
            same = (budgets[i], ulp[i].tobytes(), wrong[i].tobytes(), mismatched[i].tobytes())
            if same in rows:
                rows[same].plans.append(self._plans[code])
                continue
            rows[same] = PlanErrors(
                plans=[self._plans[code]],
                budget=float(budgets[i]),
                elements=elements[i],
                max_ulp=ulp[i],
                wrong=wrong[i],
                mismatched=mismatched[i],
                counts=numbers[i],
            )
        return slots, edges, list(rows.values())


class _Columns(dict[str, np.ndarray]):
    """Columns of equal length by name."""

    def of(self, rows: np.ndarray) -> _Columns:
        """Some rows of the columns."""
        return _Columns({name: column[rows] for name, column in self.items()})


def _sums(cell: np.ndarray, values: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    return np.bincount(cell, weights=values, minlength=shape[0] * shape[1]).astype(np.int64).reshape(shape)


def _positions(spec: pd.Series, picture: np.ndarray) -> dict[str, dict[int, np.ndarray]]:
    """For each spec and picture the positions of its rows."""
    by_spec: dict[str, dict[int, np.ndarray]] = {}
    places = pd.DataFrame({"spec": spec.to_numpy(), "picture": picture})
    number = places.groupby(["spec", "picture"], observed=True, sort=False).ngroup().to_numpy()
    order = np.argsort(number, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(number[order]) > 0][: len(order)])
    for rows in np.split(order, starts)[1:]:
        by_spec.setdefault(str(spec.iloc[rows[0]]), {})[int(picture[rows[0]])] = rows
    return by_spec


def _slots(bins: Mapping[str, np.ndarray]) -> tuple[list[Slot], np.ndarray]:
    """The slots of a picture in order, and for each row the position of its slot.

    Exponents between the smallest and the largest one that no element has get a slot too, so that gaps can be seen.
    """
    kind, sign, exponent = bins["kind"], bins["sign"], bins["exponent"]
    is_number = (kind != _ZERO) & (kind != _INF) & (kind != _NAN)
    numbers = exponent[is_number]
    low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    step = next(s for s in (1 << k for k in range(64)) if high // s - low // s < MOST)
    size = np.select([is_number, kind == _ZERO], [exponent // step * step, -_FAR], _FAR)
    side = np.where(kind == _NAN, 2, np.where(sign < 0, -1, 1))
    place = np.where(kind == _NAN, 4 * _FAR, side * (size + 2 * _FAR))
    every = (np.arange(low // step, high // step + 1) * step + 2 * _FAR) if len(numbers) else numbers
    sides = np.unique(side[is_number])
    places = np.unique(np.concatenate([place, *(every * s for s in sides)]))
    return [_slot(p, step) for p in places.tolist()], np.searchsorted(places, place)


def _slot(place: int, step: int) -> Slot:
    if place == 4 * _FAR:
        return Slot("nan", 0, 0, 0)
    sign, size = (1 if place > 0 else -1), abs(place) - 2 * _FAR
    if abs(size) == _FAR:
        return Slot("inf" if size > 0 else "zero", sign, 0, 0)
    return Slot("number", sign, size, step)


def _histogram(counts: Mapping[str, np.ndarray], plans: np.ndarray) -> tuple[list[float], np.ndarray]:
    """The edges of a histogram, without gaps, and the number of elements for each plan and edge."""
    up_to = counts["up_to"]
    finite = up_to[np.isfinite(up_to)]
    steps = [0.0, 0.5]
    while len(finite) and steps[-1] < finite.max():
        steps.append(steps[-1] * 2)
    edges = [edge for edge in steps if len(finite) and edge <= finite.max()]
    edges += [np.inf] * bool(np.isinf(up_to).any()) + [np.nan] * bool(np.isnan(up_to).any())
    numbers = np.zeros((len(plans), len(edges)), np.int64)
    known = np.isin(counts["plan"], plans)
    row = np.searchsorted(plans, counts["plan"][known])
    np.add.at(numbers, (row, np.searchsorted(edges, up_to[known])), counts["elements"][known])  # sorts NaN last
    return edges, numbers
