"""Bits: where the numbers of two runs differ at all, whatever the verdicts on them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tf_opdiff.harness.device.repeat import differing
from tf_opdiff.harness.judge.difference import differences
from tf_opdiff.harness.spec.recipes import is_float
from tf_opdiff.reports.data import frame, tables
from tf_opdiff.reports.data.pairs import common, counterparts

KEYS = ["case", "device", "mode", "quantity"]
_FORM = ("dtype", "shape", "indices", "dense_shape")


def compared(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Each quantity that both runs observed, held against itself bit for bit; NaNs are alike.

    Columns: `case`, `device`, `mode`, `quantity`; `numbers`, `same` or `differ`; `what` differs: `status` (or the code
    of an error), `form` (dtype, shape, or where a sparse gradient has its values), `values`, or nothing; of values,
    `size` and `differing`, elements, and the largest distance: `apart` in ULPs of the former value, `absolute`; inf
    where one is not finite, NaN where there is none to take: of texts, and no ULPs of integers.

    Args:
      before: the observations of a run, as `reports.load_observations` gives them.
      after: those of the other one.
    """
    one, other = (f.assign(against="").reset_index(drop=True) for f in (before, after))
    at = counterparts(one, other)
    new = np.flatnonzero(at >= 0)
    old = at[new]
    found = other.iloc[new][KEYS].reset_index(drop=True)
    what = np.full(len(new), "", dtype=object)
    for names, told in ((("bytes",), "values"), (_FORM, "form"), (("status", "code"), "status")):
        for name in names:
            what[~_alike(one[name].to_numpy(object)[old], other[name].to_numpy(object)[new])] = told
    size, many = np.zeros(len(new), np.int64), np.zeros(len(new), np.int64)
    apart, absolute = np.full(len(new), np.nan), np.full(len(new), np.nan)
    for where in _batches(other.iloc[new], np.flatnonzero(what == "values")):
        was, now = _stacked(one.iloc[old[where]]), _stacked(other.iloc[new[where]])
        off = differing(now, was)
        size[where], many[where] = now.shape[1], off.sum(axis=1)
        apart[where], absolute[where] = _distances(was, now, off)
    what[(what == "values") & (many == 0)] = ""
    found["numbers"] = pd.Categorical(np.where(what == "", "same", "differ"), categories=["", "same", "differ"])
    return found.assign(what=pd.Categorical(what), size=size, differing=many, apart=apart, absolute=absolute)


def _alike(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Whether texts, tuples, bytes or nothing are equal."""
    equal = np.fromiter((a == b for a, b in zip(one, other, strict=True)), bool, len(one))
    return equal | (pd.Series(one).isna() & pd.Series(other).isna()).to_numpy()


def _batches(observations: pd.DataFrame, rows: np.ndarray) -> Iterator[np.ndarray]:
    """The rows whose arrays have one dtype and size, so many at a time as hold about 16 MiB; texts one by one."""
    some = observations.iloc[rows]
    texts = (some["dtype"] == "bytes").to_numpy()
    lengths = np.where(texts, -np.arange(len(some)), [len(data) for data in some["bytes"]])
    for _, at in pd.Series(np.arange(len(rows))).groupby([some["dtype"].to_numpy(), lengths]):
        many = max(1, (1 << 24) // max(1, int(lengths[at.iloc[0]])))
        yield from (rows[at.to_numpy()[i : i + many]] for i in range(0, len(at), many))


def _stacked(observations: pd.DataFrame) -> np.ndarray:
    """Arrays of one dtype and size, flattened, a row each."""
    first = observations.iloc[0]
    if first["dtype"] == "bytes":
        value = frame.array({name: first[name] for name in ("dtype", "shape", "bytes")})
        assert value is not None
        return value.reshape(1, -1)
    return np.frombuffer(b"".join(observations["bytes"]), np.dtype(first["dtype"])).reshape(len(observations), -1)


def _distances(was: np.ndarray, now: np.ndarray, off: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest distance in each row, in ULPs and as it is."""
    nothing = np.full(len(was), np.nan)
    if was.dtype.kind == "c":
        real, imaginary = _distances(was.real, now.real, off), _distances(was.imag, now.imag, off)
        return np.fmax(real[0], imaginary[0]), np.fmax(real[1], imaginary[1])
    if was.dtype.kind in "OSU":
        return nothing, nothing
    if not is_float(was.dtype):
        return nothing, np.abs(now.astype(np.float64) - was.astype(np.float64)).max(axis=1, initial=0.0)
    with np.errstate(all="ignore"):
        found = differences(now, was, was.dtype)
    odd = ((found.classes["nan"] | found.classes["inf"]) & off).any(axis=1)
    ulps, absolute = (np.where(off, d, 0.0).max(axis=1, initial=0.0) for d in (found.ulps, found.absolute))
    return np.where(odd, np.inf, ulps), np.where(odd, np.inf, absolute)


def asked_anew(changes: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
    """The changes, with the inputs said to have changed of each case that asks something else now.

    That shows where a quantity matches NumPy in both runs, but moved farther than it is off in both together: then
    what NumPy gives moved. Records do not hold the inputs, and a seed stands for them only as long as its recipe is the
    same. Distances of such a case are not held against each other.
    """
    sound = (changes["against"] == "numpy") & (changes["verdict"] == "match") & (changes["verdict_before"] == "match")
    rows = np.flatnonzero(sound & ~changes["inputs_changed"])
    some = changes.iloc[rows]
    at = _positions(numbers, [some[name] for name in KEYS])
    rows, some, at = rows[at >= 0], some[at >= 0], at[at >= 0]
    there = numbers.iloc[at]
    with np.errstate(over="ignore"):
        off = some["max_abs_before"].fillna(0.0).to_numpy() + some["max_abs"].fillna(0.0).to_numpy()
    near = there["absolute"].to_numpy() / 1.001 <= off
    far = ~near & (there["numbers"] == "differ").to_numpy()
    anew = np.zeros(len(changes["case"].cat.categories) + 1, bool)
    anew[some["case"].cat.codes.to_numpy()[far]] = True
    hit = anew[changes["case"].cat.codes] & (changes["before"] >= 0).to_numpy() & (changes["after"] >= 0).to_numpy()
    drifted = hit & (changes["change"] == "drifted").to_numpy()
    return changes.assign(
        change=changes["change"].mask(drifted, "unchanged"),
        worse=changes["worse"] & ~drifted,
        inputs_changed=changes["inputs_changed"] | hit,
    )


def attached(changes: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """The changes with `numbers`: `differ` where TensorFlow gave other numbers, `same` where it gave the same, so that
    what they are held against has changed; empty where that is not known, or the inputs changed.

    What drifted by the same numbers is no worse. Of a plan that is held against another one, the numbers of both count.
    What a run gave when it was run again was not kept, so there the same numbers tell nothing.
    """
    cell = [changes[name] for name in KEYS]
    other = changes["against"].cat
    sides = [str(name).rpartition("/") for name in other.categories]
    device, mode = (pd.Series(np.array([side[i] for side in sides], object)[other.codes]) for i in (0, 2))
    plan = np.array([side[1] == "/" for side in sides], bool)[other.codes]
    own = _looked_up(found, cell)
    theirs = _looked_up(found, [cell[0], device.set_axis(changes.index), mode.set_axis(changes.index), cell[3]])
    both = np.where(plan, np.maximum(own, theirs), own)
    itself = _equal(changes["against"], changes["plan"])
    both = np.where(plan & ((np.minimum(own, theirs) < 0) | itself) & (both < 1), -1, both)
    both = np.where(changes["inputs_changed"], -1, both)
    names = np.array(["same", "differ", ""], dtype=object)[both]
    ours = (names == "same") & (changes["change"] == "drifted").to_numpy()
    numbers = pd.Categorical(names, categories=["", "same", "differ"])
    return changes.assign(worse=changes["worse"] & ~ours, numbers=numbers)


def _equal(one: pd.Series, other: pd.Series) -> np.ndarray:
    ids = common(one, other)
    return ids[0] == ids[1]


def _looked_up(numbers: pd.DataFrame, cell: list[pd.Series]) -> np.ndarray:
    """1 where a cell's numbers differ, 0 where they are the same, -1 where nothing is known."""
    told = (numbers["numbers"] == "differ").to_numpy().astype(np.int64)
    return np.append(told, -1)[_positions(numbers, cell)]


def _positions(numbers: pd.DataFrame, cell: list[pd.Series]) -> np.ndarray:
    """Where each cell stands in `numbers`; -1 where it does not."""
    wanted = pd.DataFrame(dict(zip(KEYS, cell, strict=True))).reset_index(drop=True)
    keys: np.ndarray | int = 0
    for name in KEYS:
        one, other, texts = common(numbers[name], wanted[name])
        keys = pd.factorize(np.asarray(keys) * (len(texts) + 1) + np.concatenate([one, other]))[0]
    known, asked = np.asarray(keys)[: len(numbers)], np.asarray(keys)[len(numbers) :]
    at = np.full(int(max(known.max(initial=-1), asked.max(initial=-1))) + 1, -1)
    at[known] = np.arange(len(numbers))
    return at[asked]


def silent(changes: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
    """The numerics changelog: numbers that differ, though no verdict on them does and the inputs are the same.

    One row for each spec × dtype × what differs: `spec`, `dtype`, `what`; `erratic`, whether it is not the same
    within a run either; `plans`, `quantities`; `cases`, how many; `differing` of `size` elements; `apart`, the largest
    distance in ULPs (NaN where none was taken); `worst`, the case in which that is. The farthest apart first.
    """
    some = numbers[(numbers["numbers"] == "differ").to_numpy()].astype(dict.fromkeys(KEYS, "str"))
    loud = changes[changes["change"].isin(["new", "changed", "fixed"]) | changes["inputs_changed"]]
    some = some[~pd.MultiIndex.from_frame(some[KEYS]).isin(pd.MultiIndex.from_frame(loud[KEYS].astype("str")))]
    about = changes.drop_duplicates("case").set_index("case")[["spec", "dtype"]].astype("str")
    some = some.join(about.set_axis(about.index.astype("str")), on="case").dropna(subset="spec")
    some["plan"] = some["device"] + "/" + some["mode"]
    seen = changes[(changes["kind"] == "nondeterministic") | (changes["kind_before"] == "nondeterministic")]
    some["erratic"] = pd.MultiIndex.from_frame(some[KEYS]).isin(pd.MultiIndex.from_frame(seen[KEYS].astype("str")))
    some = some.sort_values("apart", ascending=False, kind="stable")
    rows = []
    for (spec, dtype, what, erratic), group in some.groupby(
        ["spec", "dtype", "what", "erratic"], sort=False, observed=True
    ):
        rows.append(
            {"spec": spec, "dtype": dtype, "what": what, "erratic": erratic}
            | {"plans": " ".join(sorted(set(group["plan"]), key=tables.plan_order))}
            | {"quantities": " ".join(sorted(set(group["quantity"]))), "cases": group["case"].nunique()}
            | {"differing": int(group["differing"].sum()), "size": int(group["size"].sum())}
            | {"apart": group["apart"].iloc[0], "worst": group["case"].iloc[0]}
        )
    names = ["spec", "dtype", "what", "erratic", "plans", "quantities", "cases", "differing", "size", "apart", "worst"]
    return pd.DataFrame(rows, columns=names)
