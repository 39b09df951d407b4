"""How tight budgets are: the largest distance in ULPs over many inputs, and what each spec allows.

`python -m bench.budgets [--draws N] [--op OP]… [--mode M]…` draws the inputs of each vector recipe anew N times and
prints, for each spec, quantity, dtype and family of modes (`xla`, or `eager` for all others): the budget; the largest
distance on any plan; how many elements break it (and the bound, where there is one). A budget far above its distance is
looser than it needs to be.

`--atlas` draws nothing: it prints the flat budgets and the largest errors over all inputs, which the atlas has.
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

from tf_opdiff.harness.judge.known_failures import known_files
from tf_opdiff.harness.paths import KNOWN, ROOT
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.harness.spec.tolerances.by_mode import mode_family
from tf_opdiff.harness.system.number_argument import Number

DRAWS = int(os.environ.get("TF_OPDIFF_DRAWS", "1"))
NAMES = os.environ.get("TF_OPDIFF_SPECS", "").split()


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
        specs = Catalog.load("tf_opdiff.suites").specs
        found = [(specs[name], _vectors(specs[name])) for name in NAMES]
    return tuple(replace(s, recipes=recipes, elementwise=False) for s, recipes in found if recipes)


SPECS = _specs()


def measured(names: Sequence[str], draws: int, options: Sequence[str]) -> Any:
    """A frame with a row for each quantity, dtype and family of modes of the named specs."""
    from tf_opdiff import reports

    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "-o", "opdiff_suites=bench.budgets"]
        command += ["-o", f"opdiff_known={os.devnull}", f"--run-dir={folder}/run", "--no-sweep", *options]
        environment = {**os.environ, "TF_OPDIFF_DRAWS": str(draws), "TF_OPDIFF_SPECS": " ".join(names)}
        done = subprocess.run(command, check=False, cwd=ROOT, env=environment, capture_output=True, text=True)
        if done.returncode not in (0, 1, 3):  # discrepancies there may be
            raise RuntimeError(done.stdout + done.stderr)
        found = reports.load(f"{folder}/run")
    found = found[(found.against == "numpy") & (found["size"] > 0)]
    within = found.kind.isin(["", "value"])
    found = found.assign(modes=[mode_family(mode) for mode in found["mode"]])
    found = found.assign(over=found.mismatched.where(found.kind == "value", 0), max_ulp=found.max_ulp.where(within))
    worst = found.sort_values("max_ulp").groupby(["spec", "quantity", "dtype", "modes"], observed=True)
    return worst.agg(
        budget=("budget", "last"),
        worst=("max_ulp", "max"),
        over=("over", "max"),
        size=("size", "max"),
        mode=("mode", "last"),
        input=("input", "last"),
    )


def _print_margins(catalog: Catalog, names: Sequence[str], *, over: bool) -> None:
    """Prints a line for each budget of the named specs, or of all, that the atlas can judge; see `budget_margins`."""
    from tf_opdiff.reports.analysis.budget_margins import margins
    from tf_opdiff.reports.data.figures import atlas
    from tf_opdiff.reports.verbs.atlas import FOLDER

    entries = known_files.load(ROOT / KNOWN, catalog)
    for name, table in atlas.load(FOLDER).items():
        for margin in margins(table, catalog, entries):
            state = "EXCEEDED" if margin.exceeded else "wide" if margin.wide else ", ".join(margin.causes)
            if (not names or margin.spec in names) and (not over or margin.exceeded):
                print(f"{name}: {margin}{f' ({state})' if state else ''}")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.budgets", description=__doc__)
    parser.add_argument("--draws", type=Number("draws", 1, 10**6), default=100)
    parser.add_argument("--op", action="append", default=[], help="a spec, a family or an OpDef name; default: all")
    parser.add_argument("--over", action="store_true", help="only what is over its budget")
    parser.add_argument("--atlas", action="store_true", help="compare flat budgets with the atlas, over all inputs")
    known, options = parser.parse_known_args()
    catalog = Catalog.load("tf_opdiff.suites")
    if known.atlas:
        _print_margins(catalog, sorted(set().union(*map(catalog.named, known.op))), over=known.over)
        return
    names = sorted(set().union(*map(catalog.named, known.op))) if known.op else list(catalog.specs)
    tolerances = {name: catalog.specs[name].tolerance for name in names}
    found = measured([n for n, allowed in tolerances.items() if allowed.ulp or allowed.bound], known.draws, options)
    print((found[found.over > 0] if known.over else found).to_string())


if __name__ == "__main__":
    main()
