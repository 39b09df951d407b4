"""How tight budgets are: the largest distance in ULPs over many inputs, beside what each spec allows.

`python -m bench.budgets [--draws N] [--op OP]… [--mode M]…` draws the inputs of each vector recipe anew N times and
prints, for each spec, quantity and dtype: the budget; the largest distance on any plan; how many elements break it (and
the bound, where there is one). A budget far above its distance is looser than it needs to be.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harness.catalog import Catalog
from harness.devices import ROOT
from harness.inputs import Draw
from harness.spec import Recipe, Spec

DRAWS = int(os.environ.get("TF_OPDIFF_DRAWS", "1"))


def _often(recipe: Recipe) -> Recipe:
    """The recipe, drawn many times, its vectors one behind the other."""

    def drawn(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        made = [recipe(draw, dtype) for _ in range(DRAWS)]
        return tuple(np.concatenate(arrays) for arrays in zip(*made, strict=True))

    return drawn


def _vectors(spec: Spec) -> dict[str, Recipe]:
    def ranks(recipe: Recipe) -> set[int]:
        return {np.ndim(x) for x in recipe(Draw(0), np.dtype(spec.dtypes[0]))}

    return {name: _often(recipe) for name, recipe in spec.recipes.items() if ranks(recipe) == {1}}


def _specs() -> tuple[Spec, ...]:
    with np.errstate(all="ignore"):
        found = [(s, _vectors(s)) for s in Catalog.load("suites").specs.values() if s.ulp or s.bound]
    return tuple(replace(s, recipes=recipes, tier="default", elementwise=False) for s, recipes in found if recipes)


SPECS = _specs()


def measured(draws: int, options: Sequence[str]) -> Any:
    """A frame with a row for each spec, quantity and dtype."""
    import reports

    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "-o", "opdiff_suites=bench.budgets"]
        command += ["-o", f"opdiff_known={os.devnull}", f"--run-dir={folder}/run", *options]
        environment = {**os.environ, "TF_OPDIFF_DRAWS": str(draws)}
        done = subprocess.run(command, check=False, cwd=ROOT, env=environment, capture_output=True, text=True)
        if done.returncode not in (0, 1, 3):  # discrepancies there may be
            raise RuntimeError(done.stdout + done.stderr)
        found = reports.load(f"{folder}/run")
    found = found[(found.against == "numpy") & (found["size"] > 0)]
    within = found.kind.isin(["", "value"])
    found = found.assign(over=found.mismatched.where(found.kind == "value", 0), max_ulp=found.max_ulp.where(within))
    worst = found.sort_values("max_ulp").groupby(["spec", "quantity", "dtype"], observed=True)
    return worst.agg(
        budget=("budget", "last"),
        worst=("max_ulp", "max"),
        over=("over", "max"),
        size=("size", "max"),
        mode=("mode", "last"),
        input=("input", "last"),
    )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.budgets", description=__doc__)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--op", action="append", default=[], help="a spec, a family or an OpDef name; default: all")
    parser.add_argument("--over", action="store_true", help="only what is over its budget")
    known, options = parser.parse_known_args()
    named = Catalog.load("suites").named
    mine = {spec.name for spec in SPECS}
    specs = sorted(mine.intersection(*[set().union(*map(named, known.op))] if known.op else [mine]))
    found = measured(known.draws, [*options, *(f"--op={name}" for name in specs)])
    print((found[found.over > 0] if known.over else found).to_string())


if __name__ == "__main__":
    main()
