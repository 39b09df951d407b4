"""Coverage page: a map of the raw ops by family, and for each op what was tested and what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tf_opdiff.harness.spec.lists.raw_ops import RawOps
from tf_opdiff.reports.analysis.ops.covered_ops import totals
from tf_opdiff.reports.analysis.ops.op_coverage import STATES, OpCoverage
from tf_opdiff.reports.pages.template import own_style, render

#: The words for `RawOp.gradient`.
GRADIENTS: Mapping[str, str] = {
    "function": "registered",
    "none": "registered as none",
    "absent": "not registered",
}
#: The columns of places: CPUs, XLA, and further devices, which may be recorded.
PLACES = ("CPU", "XLA", "arm64", "GPU")
#: The most specs of an op on the page.
SPECS = 8


def html(raw_ops: RawOps, listed: Sequence[OpCoverage], runs: Sequence[str]) -> str:
    """The page of the coverage by some runs, whose names it states."""
    rows = [_row(coverage) for coverage in listed]
    families = [(id, title, [row for row in rows if row["family"] == id]) for id, title in raw_ops.titles.items()]
    ids = {title: id for id, title in raw_ops.titles.items()}
    table = [row | {"id": ids.get(row["family"], "")} for row in totals(raw_ops, listed).to_dict("records")]
    return render(
        "coverage.html",
        own_style=own_style("coverage/coverage.css"),
        all=table[-1],
        totals=table,
        families=[family for family in families if family[2]],
        states=STATES,
        gradients=GRADIENTS,
        most=SPECS,
        places=PLACES,
        runs=runs,
        tensorflow=raw_ops.tensorflow,
    )


def _row(coverage: OpCoverage) -> dict[str, Any]:
    """The coverage of an op, with the tested dtypes of each type attribute."""
    places = {place: [name for name in coverage.devices if place_of(name) == place] for place in PLACES}
    places["XLA"] = ["yes"] if "xla" in coverage.modes else []
    both = {attr: coverage.op.both(attr) for attr in coverage.op.dtypes}
    return coverage.row() | {
        "places": places,
        "tested_types": [(a, coverage.tested_dtypes(a), types) for a, types in both.items()],
    }


def place_of(device: str) -> str:
    """The column of a device, by its name in records; empty if there is none: other remote devices are no places.

    `cpu` and `cpu+noonednn` are CPUs; `gpu:0` is a GPU, and so is a recording of another name, such as `h200@2.21.0`.
    """
    name, recorded, _ = device.partition("@")
    kind = name.partition("+")[0].partition(":")[0]
    return {"cpu": "CPU", "gpu": "GPU", "arm64": "arm64"}.get(kind, "GPU" if recorded else "")
