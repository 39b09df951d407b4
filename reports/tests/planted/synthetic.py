"""Synthetic: made-up runs, written the way workers write them, for tests and for looking at the page."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tf_opdiff.harness.device.observation import pack
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards.merged import Cell

OPS = {
    "select": "where where_broadcast where_nan_untaken select_v2 where_v1 boolean_mask clip_select maximum_select",
    "cond": "cond_scalar cond_nested cond_one_sided switch_merge case_three while_cond cond_captured smart_cond",
    "rounding": "floor ceil rint round trunc floor_div floor_mod round_half_even",
    "sign": "sign abs neg copysign relu softsign sign_complex sign_zero",
    "py_func": "py_func numpy_function py_func_grad py_func_stateful eager_py_func py_func_custom py_func_raises",
    "gather": "gather gather_nd gather_batch gather_negative embedding_lookup scatter_nd tensor_scatter_add gather_oob",
    "control_deps": "identity_after assign_then_read print_before assert_before group_all no_op_chain barrier",
    "overrides": "override_relu override_floor override_sign guided_relu custom_gradient stop_gradient recompute",
}
RAW = {"select": "SelectV2", "cond": "Switch;Merge", "rounding": "Floor", "sign": "Sign", "py_func": "PyFunc"}
FAULTS = {
    ("floor", "xla"): ("mismatch", "signed_zero", "-0.0", "0.0"),
    ("gather_oob", "gpu:0"): ("mismatch", "value", "0.0", "nan"),
    ("where_nan_untaken", "graph"): ("mismatch", "nan", "nan", "0.0"),
    ("override_relu", "eager"): ("mismatch", "gradient_status", "value float32[67]", "unconnected"),
    ("assert_before", "function"): ("mismatch", "crash", "crash SIGABRT", "value"),
    ("round_half_even", "gpu:0"): ("stale", "", "", ""),
    ("cond_captured", "graph"): ("error", "status", "error MISSING", "value"),
    ("sign_complex", "gpu:0"): ("unavailable", "status", "error NOT_FOUND", "value"),
    ("py_func", "xla"): ("contract", "", "", ""),
    ("numpy_function", "xla"): ("contract", "", "", ""),
    ("gather_nd", "gpu:0"): ("contract", "", "", ""),
    ("floor_mod", "gpu:0"): ("known", "value", "1.9999999", "2.0"),
    ("where", "xla"): ("known", "subnormal", "0.0", "1e-45"),
    ("while_cond", "xla"): ("known", "error_code", "INVALID_ARGUMENT", "UNIMPLEMENTED"),
}
KNOWN: dict[str, Any] = {
    "cause": "vectors-flush-subnormals",
    "owner": "tensorflow",
    "reason": "Vectorised kernels flush subnormals and round the quotient once more.",
    "link": "https://github.com/tensorflow/tensorflow/issues/25504",
}


def records(
    ops: Iterable[tuple[str, str]], devices: Sequence[str], recipes: Sequence[str], seed: int = 0
) -> list[Record]:
    """Two records, an output and a gradient, for each op × recipe × device × mode."""
    draw = random.Random(seed)
    rows = []
    for suite, spec in ops:
        for recipe, device, mode in ((r, d, m) for r in recipes for d in devices for m in MODES):
            case, seconds = f"{spec}-float32-{recipe}", draw.expovariate(8 if mode == "xla" else 60)
            fault = FAULTS.get((spec, mode)) or FAULTS.get((spec, device)) or ("match", "", "", "")
            for quantity in ("output[0]", "grad[0]"):
                verdict, kind, got, want = fault
                wrong = draw.randint(1, 5) if kind in ("value", "signed_zero", "nan", "subnormal") else 0
                budget = draw.choice([0.0, 1.0, 4.0])
                taken = bool(wrong) or not kind
                common = {"run": "synthetic", "started": "2031-05-04T03:02:01+00:00", "tf": "2.21.0", "cuda": "12.5"}
                row = Record(
                    **common, host="bench-7", suite=suite, spec=spec, raw_op=RAW.get(suite, "Identity"), case=case,
                    dtype="float32", recipe=recipe, seed=f"{draw.getrandbits(64):016x}", device=device, mode=mode,
                    ran_on=f"/device:{'CPU' if device == 'cpu' else 'GPU'}:0", quantity=quantity, verdict=verdict,
                    against="numpy" if (device, mode) == ("cpu", "eager") or draw.random() < 0.7 else "cpu/eager",
                    kind=kind, mismatched=wrong, got=got, want=want, seconds=round(seconds, 6),
                    rerun=f"pytest suites --case {case} --device {device} --mode {mode}",
                    planted=4 * (verdict == "known"), unseen="one element × 3" if verdict == "known" else "",
                )  # fmt: skip
                if taken:
                    ulp = draw.choice([6.5, 31.0, math.inf]) if kind == "value" else round(draw.random() * budget, 3)
                    row = replace(row, size=67, max_ulp=ulp, max_abs=round(draw.random() * 1e-6, 12), budget=budget)
                if wrong:
                    row = replace(row, worst_index=f"[{draw.randrange(67)}]", input=f"{draw.uniform(-4, 4):.7g}")
                if verdict in ("known", "contract"):
                    row = replace(row, **KNOWN)
                if verdict == "stale":
                    row = replace(row, detail="no longer fails: delete or narrow entry 3 of known/math.toml")
                if kind == "crash":
                    row = replace(row, detail="F tensor.cc:845] Check failed: 1 == NumElements() (1 vs. 0)")
                rows.append(row)
    return rows


def write(
    directory: Path,
    rows: Sequence[Record],
    *,
    shards: int = 2,
    observation: dict[str, Any] | None = None,
    observed: bool = False,
    errors: dict[str, Any] | None = None,
    **info: Any,
) -> RunInfo:
    """Writes the shards and `run.json` of a run with these records; `info` overrides fields of its `RunInfo`.

    `errors` are the error profiles of each cell.
    """
    rundir.create(directory, chosen=directory)
    cells: dict[Cell, list[Record]] = {}
    for row in rows:
        cells.setdefault((row.case, row.device, row.mode), []).append(row)
    if observed:
        value = {"status": "value", "value": pack(np.zeros(67, np.float32)), "code": "", "message": ""}
        observation = {"output[0]": value, "grad[0]": value}
    files = [rundir.open_shard(directory, f"gw{i}") for i in range(shards)]
    for i, ((case, device, mode), found) in enumerate(cells.items()):
        shard = files[i % shards]
        shard.write("start", case=case, device=device, mode=mode, at=0.0)
        lines = [row.to_json() for row in found if row.against == "numpy"]
        shard.write(
            "result", case=case, device=device, mode=mode, records=lines, observation={"quantities": observation or {}},
            asked="", program="", **({"errors": errors} if errors else {}),
        )  # fmt: skip
        lines = [row.to_json() for row in found if row.against != "numpy"]
        shard.write("compare", case=case, device=device, mode=mode, records=lines)
    for file in files:
        file.close()
    first = rows[0] if rows else Record(run="synthetic", started="2031-05-04T03:02:01+00:00")
    about = {
        "state": "complete", "ended": "2031-05-04T03:06:41+00:00",
        "host": first.host, "tf": first.tf, "cuda": first.cuda,
        "planned": len(cells), "recorded": len(cells), "modes": list(MODES), "exit_status": 1,
        "arguments": ["-n", "auto", "suites"],
        "devices": {"cpu": {"asked": True}, "gpu:0": {"device_name": "NVIDIA H100", "asked": True}}
        | {"gpu:1": {"device_name": "NVIDIA H100", "asked": False}},
        "versions": {"tensorflow": "2.21.0", "numpy": "2.4.6", "python": "3.11.7", "cudnn": "9.3", "pytest": "9.2"},
        "flags": {"TF_ENABLE_ONEDNN_OPTS": "1"},
        "machine": {"system": "Linux-6.1", "processor": "Xeon Platinum 8480C", "cores": "16"},
    }  # fmt: skip
    made = RunInfo(**{"run": first.run, "started": first.started, **about, **info})
    made.save(directory)
    return made


def ops(n: int | None = None) -> list[tuple[str, str]]:
    """(suite, spec) pairs: the 60-odd made-up ones, or as many as asked for."""
    named = [(suite, spec) for suite, specs in OPS.items() for spec in specs.split()]
    if n is None:
        return named
    return [
        (s, spec if i < len(named) else f"{spec}_{i}")
        for i, (s, spec) in ((i, named[i % len(named)]) for i in range(n))
    ]
