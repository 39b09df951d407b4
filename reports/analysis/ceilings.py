"""Ceilings: the largest errors of the atlas with a margin, as a file that specs read and a person reviews.

A ceiling is `FACTOR` times the largest error at a sign and an exponent of the input, and `MORE` ULPs. Exponents
with nearly the same ceiling share one. Of a sample, an exponent also has the errors of the next ones: a sample misses
the ends of a binade, where a formula may end. There is no ceiling where it would not narrow the budget, or where the
error is beyond `ROUNDING` ULPs or half of the digits: that is no rounding, and a sample misses the largest of those.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from tf_opdiff.harness.judge.promises.loose_bounds import digits_of
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.spec.tolerances.by_mode import mode_family
from tf_opdiff.harness.spec.tolerances.ceiling import Steps, runs
from tf_opdiff.reports.analysis.budget_margins import SCALAR

#: The margin by family of quantities: a multiple of the largest error, and ULPs beyond that. A sweep has seven upstream
#: gradients of few digits: for another one, the same error of the derivative may be up to twice as many ULPs of the
#: product, and two products that were exact may be rounded, which costs up to 1.5 ULPs.
FACTOR = {"output": 1.1, "grad": 2.0}
MORE = {"output": SCALAR, "grad": 1.6}
#: The largest errors in ULPs that are taken for rounding, where they leave half of the digits.
ROUNDING = 64.0
#: How much wider than needed the ceiling of an exponent may be for the sake of fewer steps.
TOGETHER = 1.5
#: The largest share of a budget that a ceiling may be: a wider one would hardly narrow it.
NARROWER = 0.8
_PLACE = ("spec", "dtype", "family", "quantity")
_SIGNS = {"negative": -1, "positive": 1}
_TITLE = """\
# Ceilings: how far results may be off, in ULPs, by binary exponent of the input; `open` where no ceiling narrows
# the budget. Written by `python -m harness atlas` from the largest errors of the atlas: review the changes.
"""


def text(atlas: pd.DataFrame, catalog: Catalog) -> str:
    """The file of the ceilings of an atlas, which has one device.

    Raises:
      ValueError: the errors were measured with several versions of TensorFlow.
    """
    lines = [_TITLE + f'tf = "{_version(atlas)}"', f"instructions = {json.dumps(_instructions(atlas))}"]
    entries: dict[str, list[str]] = {}
    for key, rows in _largest(atlas).groupby([*_PLACE]):
        name, dtype, family, quantity = map(str, key)
        spec = catalog.specs.get(name)
        if spec is not None and dtype in spec.dtypes:
            entries.setdefault(name, []).extend(_lines(spec, dtype, family, quantity, rows))
    for name, of_spec in entries.items():
        lines += ["", f"[{name}]", *of_spec] if of_spec else []
    return "\n".join(lines) + "\n"


def _largest(atlas: pd.DataFrame) -> pd.DataFrame:
    """The largest error of each place, sign and exponent, and whether all errors there are rounding."""
    tables = [atlas[name].to_numpy(object) for name in ("spec", "dtype", "mode", "quantity", "same_bits", "attrs")]
    numbers = {name: atlas[name].to_numpy() for name in ("sign", "exponent", "max_ulp", "step")}
    names = ("spec", "dtype", "mode", "quantity", "same_bits", "attrs")
    table = pd.DataFrame({**dict(zip(names, tables, strict=True)), **numbers})
    table = table[(atlas["input_class"] == "normal") & (atlas["finite"] > 0) & (table["attrs"] == "")]
    table["family"] = [mode_family(mode) for mode in table["mode"]]
    both = table[table["same_bits"].str.contains("xla")]
    table = pd.concat([table, both.assign(family="xla")], ignore_index=True)
    digits = {name: digits_of(np.dtype(name)) for name in set(table["dtype"])}
    table["rounding"] = table["max_ulp"] <= table["dtype"].map(digits).clip(upper=ROUNDING)
    beside = [table.assign(exponent=table["exponent"] + by)[table["step"] > 1] for by in (-1, 1)]
    keys = [*_PLACE, "sign", "exponent"]
    whole = pd.concat([table, *beside]).groupby(keys).agg(ulps=("max_ulp", "max"), rounding=("rounding", "all"))
    return whole.loc[whole.index.isin(pd.MultiIndex.from_frame(table[keys]))].reset_index()


def _version(atlas: pd.DataFrame) -> str:
    versions = list(atlas["tf"].unique())
    if len(versions) != 1:
        raise ValueError(f"ceilings: expected one version of TensorFlow, got {', '.join(map(str, versions))}")
    return str(versions[0])


def _instructions(atlas: pd.DataFrame) -> list[str]:
    """The instruction sets of each processor on which errors were measured, without repetitions, sorted."""
    processors = [one for several in atlas["processor"].unique() for one in str(several).split("; ")]
    return sorted({one.split(", ")[-1] for one in processors})


def _lines(spec: Spec, dtype: str, family: str, quantity: str, rows: pd.DataFrame) -> Iterator[str]:
    """The lines of one place: one for both signs if their ceilings are nearly the same; none without a ceiling."""
    bounded = spec.tolerance.bound_of(quantity) is not None
    widest = math.inf if bounded else NARROWER * spec.tolerance.ulps(quantity, dtype, family)
    key = f"{dtype}.{family}.{family_of(quantity)}"
    signs = {sign: _values(rows[rows["sign"] == number], quantity, widest) for sign, number in _SIGNS.items()}
    negative, positive = signs.values()
    if negative.keys() == positive.keys() and all(_near(negative[e], positive[e]) for e in negative):
        signs = {"both": {e: max(value, positive[e]) for e, value in negative.items()}}
    for sign, values in signs.items():
        if any(map(math.isfinite, values.values())):
            yield f'{key}.{sign} = "{_trimmed(runs(values, TOGETHER))}"'


def _values(rows: pd.DataFrame, quantity: str, widest: float) -> Mapping[int, float]:
    """exponent → the ceiling, infinite where there is none."""
    values, family = {}, family_of(quantity)
    for exponent, ulps, rounding in zip(rows["exponent"], rows["ulps"], rows["rounding"], strict=True):
        ceiling = math.ceil(100 * (FACTOR[family] * ulps + MORE[family])) / 100
        values[int(exponent)] = ceiling if rounding and ceiling <= widest else math.inf
    return values


def _near(one: float, other: float) -> bool:
    return one == other or max(one, other) <= TOGETHER * min(one, other) < math.inf


def _trimmed(steps: Steps) -> Steps:
    """The steps without leading ones that are open."""
    first = next(i for i, value in enumerate(steps.ulps) if math.isfinite(value))
    return Steps(steps.starts[first:], steps.ulps[first:])
