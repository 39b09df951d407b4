"""Sweeps find the one wrong bit pattern, lose one block with a server, and go on where they stopped."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tf_opdiff.command_line import main
from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.request import Bits, Cycle
from tf_opdiff.harness.judge.differences.compare import compare_arrays
from tf_opdiff.harness.judge.differences.difference import differences, ulp_of
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards.merged import merge
from tf_opdiff.harness.store.shards.shard import read_shard
from tf_opdiff.harness.sweep.measurements.block_promises import UPSTREAM
from tf_opdiff.harness.sweep.measurements.oracle import Part
from tf_opdiff.harness.sweep.measurements.pieces import NORMAL, SUBNORMAL, Piece, pieces
from tf_opdiff.harness.sweep.measurements.promise import Promise
from tf_opdiff.harness.sweep.measurements.tally import Tally, of_difference
from tf_opdiff.harness.sweep.sweep import BLOCK
from tf_opdiff.harness.tests.conftest import offer
from tf_opdiff.harness.tests.patience import PATIENCE
from tf_opdiff.harness.tests.planted_sweeps.planted_sweep import CALM, LETHAL, WRONG
from tf_opdiff.harness.tests.planted_sweeps.planted_sweep import _spec as planted
from tf_opdiff.reports.data.run_data.load import load

OPTIONS = ["--suites", "tf_opdiff.harness.tests.planted_sweeps.planted_sweep", "--known", os.devnull, "--device", "cpu"]


def sweep(*arguments, folder):
    return main(["sweep", *arguments, *OPTIONS, "--run-dir", str(folder)])


def altered(rounded, rng):
    """A result: mostly the promise rounded, with neighbours, other numbers, and other classes among it."""
    got = rounded.copy()
    unsigned = got.view(f"u{got.dtype.itemsize}")
    for share, change in ((0.1, 1), (0.02, 2), (0.001, 40)):
        where = rng.random(got.size) < share * rng.integers(0, 2)
        unsigned[where] += np.array(change, unsigned.dtype)
    for value in (0.0, -0.0, np.inf, np.nan):
        if rng.integers(0, 4) == 0:
            got[rng.integers(0, got.size, 2)] = value
    return got


def bounds(bound, size):
    """A bound as a promise takes it."""
    return None if bound is None else lambda at: np.broadcast_to(bound, size)[at]


def differing(one, other):
    """How many elements are finite, and other numbers."""
    one, other = one.astype(np.float64), other.astype(np.float64)
    return int((np.isfinite(one) & np.isfinite(other) & (one != other)).sum())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("function", [np.floor, np.exp, np.sqrt, lambda x: x * 2.0**-130])
def test_the_quick_comparison_says_what_the_plain_one_says(dtype, function):
    rng = np.random.default_rng(3)
    dtype = np.dtype(dtype)
    for n in range(40):
        size = 1000
        lo = int(rng.integers(0, (1 << 8 * dtype.itemsize) - size))
        with np.errstate(all="ignore"):
            value = function(Bits(dtype.name, lo, lo + size).array().astype(np.float64))
            got = altered(value.astype(dtype), rng)
            budget = [0.0, 0.4, 0.5, 1.0, 2.0][n % 5]
            bound = [None, np.abs(value) * 1e-3, np.array(1e-6)][n % 3]
            plain = compare_arrays(got, value, dtype, budget=budget, bound=bound)
            promise = Promise(value, dtype, budget, bounds(bound, size))
            for _ in range(2):  # the second time, from what was kept
                tally = of_difference(promise.compare(got), lo, dtype.name)
                first = tally.comparison(budget)
                assert (tally.size, tally.mismatched, first.kinds) == (size, plain.mismatched, plain.kinds)
                if plain.kind and bound is None:
                    assert (first.got, first.want) == (plain.got, plain.want) or plain.kind != "value"
                assert tally.max_ulp == pytest.approx(float(differences(got, value, dtype).ulps.max()), rel=1e-12)
                assert sum(tally.histogram) == differing(got, value.astype(dtype))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_next_to_the_largest_number_an_infinity_is_as_far_off_as_what_rounds_to_it(dtype):
    dtype = np.dtype(dtype)
    top = float(ml_dtypes.finfo(dtype).max)
    ulp = float(ulp_of(np.array([top]), dtype)[0])

    def kind(got, want, budget):
        with np.errstate(all="ignore"):
            promise = Promise(np.array([want]), dtype, budget)
            return of_difference(promise.compare(np.array([got]).astype(dtype)), 0, dtype.name).comparison(budget).kind

    assert kind(np.inf, top - ulp, 1.5) == kind(-np.inf, ulp - top, 1.5) == ""
    assert kind(np.inf, top - ulp, 1.4) == kind(-np.inf, top - ulp, 1.5) == "inf"
    assert kind(top, top + 0.75 * ulp, 1.0) == ""
    assert kind(top, top + 0.75 * ulp, 0.5) == kind(top, np.inf, 4.0) == kind(1.0, top + ulp, 4.0) == "inf"
    assert kind(np.inf, top, 0.0) == "inf"


def test_tallies_of_parts_add_up_to_that_of_the_whole():
    x = Bits("float32", 0x40000000, 0x40000400).array()
    got = x.copy()
    got[5:9] = np.nextafter(got[5:9], np.float32(9))
    got[700] = np.nan
    value = x.astype(np.float64)
    whole, parts = Tally(), Tally()
    whole.add(of_difference(Promise(value, x.dtype, 0.0).compare(got), 0, "float32"))
    for a, b in ((0, 7), (7, 701), (701, 1024)):
        parts.add(of_difference(Promise(value[a:b], x.dtype, 0.0).compare(got[a:b]), a, "float32"))
    assert parts == whole
    assert (whole.mismatched, whole.kinds) == (5, {"nan": 1, "value": 4})
    assert whole.worst[0][0] == "nan"
    assert Tally.from_json(json.loads(json.dumps(whole.to_json()))) == whole


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_pieces_are_all_patterns_once_and_subnormals_apart(dtype):
    found = list(pieces(dtype, 0, 1 << 8 * np.dtype(dtype).itemsize))
    assert [p.lo for p in found[1:]] == [p.hi for p in found[:-1]]
    assert (found[0].lo, found[-1].hi) == (0, 1 << 8 * np.dtype(dtype).itemsize)
    for piece in found:
        ends = np.concatenate([Bits(dtype, p, p + 1).array() for p in (piece.lo, piece.hi - 1)]).astype(np.float64)
        subnormal = (ends != 0) & (np.abs(ends) < float(ml_dtypes.finfo(dtype).smallest_normal))
        assert set(subnormal) == {piece.recipe == SUBNORMAL}


def test_an_upstream_goes_with_the_bit_pattern_and_not_with_the_block():
    whole = Cycle("float32", (1.0, 2.0, 3.0), 5, 20).array()
    assert (Cycle("float32", (1.0, 2.0, 3.0), 11, 14).array() == whole[6:]).all()
    assert whole[:3].tolist() == [3.0, 1.0, 2.0]


def test_a_float16_sweep_is_whole_and_is_read_as_any_run(tmp_path):
    assert sweep("fine", "--dtype", "float16", folder=tmp_path) == 0
    found = load(tmp_path)
    assert set(found.verdict) == {"match"}
    assert set(found["mode"]) == {"eager", "function", "xla", "graph"}
    sizes = {r: set(found[found.recipe == r]["size"]) - {0} for r in (NORMAL, SUBNORMAL)}
    assert sizes == {NORMAL: {65536 - 2046}, SUBNORMAL: {2046}}
    assert "fine-float16-sweep" in set(found.case)
    assert {"index.html", "sweep.json", "sweep.svg", "summary.md"} <= {p.name for p in tmp_path.iterdir()}
    assert RunInfo.load(tmp_path).state == "complete"


@pytest.mark.parametrize("name", ["wrong-once", "wrong-gradient-once"])
def test_the_one_wrong_bit_pattern_is_found_and_named(name, tmp_path, capsys):
    lo, hi = WRONG - 3 * BLOCK // 2, WRONG + BLOCK
    status = sweep(name, "--mode", "eager", "--mode", "xla", "--range", f"{lo}:{hi}", folder=tmp_path)
    found = load(tmp_path)
    wrong = found[found.verdict != "match"]
    assert status == 1
    assert set(wrong.verdict) == {"mismatch"}
    assert set(wrong["mode"]) == {"eager", "xla"}
    assert set(wrong.mismatched) == {1}
    assert set(wrong.quantity) == {"grad[0]" if "gradient" in name else "output[0]"}
    assert set(wrong.worst_index) == {f"[{WRONG}]"}
    assert set(found["size"]) == {hi - lo}
    output = capsys.readouterr().out
    assert f"(0x{WRONG:08x})" in output
    assert "rerun: python -m harness sweep" in output


def test_a_server_that_dies_costs_its_block_only(tmp_path):
    first = LETHAL // BLOCK * BLOCK
    assert sweep("dies-once", "--range", f"{first - BLOCK}:{first + 2 * BLOCK}", folder=tmp_path) == 1
    found = load(tmp_path).iloc[0]
    assert (found.verdict, found.kind, found["size"], found.mismatched) == ("mismatch", "crash", 3 * BLOCK, BLOCK)
    row = json.loads((tmp_path / "sweep.json").read_text())[0]
    assert (row["code"], row["size"]) == ("SIGABRT", 3 * BLOCK)


def test_a_lost_block_is_tried_again_when_the_sweep_goes_on(tmp_path):
    first = LETHAL // BLOCK * BLOCK
    part = ["--range", f"{first - BLOCK}:{first + BLOCK}"]
    CALM.unlink(missing_ok=True)
    try:
        assert sweep("dies-at-first", *part, folder=tmp_path) == 1
        assert set(load(tmp_path).kind) == {"crash"}
        CALM.touch()
        assert sweep("dies-at-first", *part, folder=tmp_path) == 0
    finally:
        CALM.unlink(missing_ok=True)
    found = load(tmp_path).iloc[0]
    assert (found.verdict, found["size"]) == ("match", 2 * BLOCK)
    lines = [line for line in read_shard(tmp_path / "shards" / "sweep.jsonl") if line["line"] == "block"]
    assert sorted(line["lo"] for line in lines) == [first - BLOCK, first, first], "only the lost block ran again"


def test_several_workers_share_the_blocks_and_give_the_records_of_one(tmp_path):
    first = LETHAL // BLOCK * BLOCK
    part = ["--dtype", "float32", "--mode", "eager", "--range", f"{first - 3 * BLOCK}:{first + 3 * BLOCK}"]
    columns = ["case", "mode", "quantity", "verdict", "kind", "size", "mismatched", "max_ulp"]
    tables = []
    for count in (1, 3):
        folder = tmp_path / str(count)
        assert sweep("fine", "dies-once", *part, "--workers", str(count), folder=folder) == 1
        tables.append(load(folder)[columns].sort_values(columns[:3]).reset_index(drop=True))
        lines = [line for line in read_shard(folder / "shards" / "sweep.jsonl") if line["line"] == "block"]
        assert Counter(line["spec"] for line in lines) == {"fine": 6, "dies-once": 6}
        assert len({(line["spec"], line["lo"]) for line in lines}) == 12, "each block ran once"
    assert tables[0].equals(tables[1])
    assert set(tables[0]["kind"]) == {"", "crash"}


def test_the_workers_stop_at_the_first_fault_of_the_reference(tmp_path):
    names = ["quick-reference-wrong", "fine"]
    dtypes = ["--dtype", "bfloat16", "--dtype", "float16"]
    assert sweep(*names, "--mode", "eager", *dtypes, "--workers", "2", folder=tmp_path) == 3
    found = load(tmp_path)
    assert set(found[found.spec == "quick-reference-wrong"].kind) == {"reference"}
    assert set(found[found.spec == "fine"].verdict) == {"match"}


def test_a_quick_reference_that_the_wide_one_contradicts_is_a_fault_of_the_suite(tmp_path, capsys):
    assert sweep("quick-reference-wrong", "fine", "--dtype", "bfloat16", "--dtype", "float16", folder=tmp_path) == 3
    found = load(tmp_path)
    assert set(found[found.spec == "quick-reference-wrong"].kind) == {"reference"}
    assert set(found[found.spec == "fine"].verdict) == {"match"}, "the others are swept all the same"
    assert "reference suspect: output[0] of quick-reference-wrong-bfloat16-sweep at" in capsys.readouterr().out


def tally_of(quantity, got, reference, lo, dtype="float32"):
    """What becomes of a result, for a function that is a factor."""
    spec = planted("factor", lambda tf, x: x, reference=lambda x: reference * x, vjp=lambda g, x: g * reference)
    part = Part.of(Case(spec, dtype, NORMAL), None, Piece(NORMAL, lo, lo + got.size), 0)
    return part.errors(quantity, "eager", Result("value", got), lo, got.size).tally


def test_a_flushed_number_is_told_from_a_wrong_one():
    lo = 0x3F800000
    x = Bits("float32", lo, lo + 70).array()
    g = Cycle("float32", UPSTREAM, lo, 70).array()
    least = np.float32(2.0**-149)
    for got, flushed in ((0 * x, 70), (x * np.float32(2.0**-130) + 2 * least, 0)):
        tally = tally_of("output[0]", got, 2.0**-130, lo)
        assert (tally.flushed, tally.mismatched, tally.max_ulp >= 2) == (flushed, 70 - flushed, not flushed)
    derivative = np.float32(2.0**-126 - 2.0**-149)  # subnormal, though most of its products are not
    near = (g.astype(np.float64) * derivative).astype(np.float32) - np.copysign(least, g)
    for got, flushed in ((0 * g, 70), (near, 70), (g * (derivative - 3 * least), 0), (-(0 * g), 0)):
        tally = tally_of("grad[0]", got, float(derivative), lo)
        assert (tally.flushed, tally.mismatched) == (flushed, 70 - flushed)


def test_an_interrupted_sweep_says_so_and_goes_on_where_it_stopped(tmp_path):
    part = ["--dtype", "float32", "--mode", "eager", "--range", f"0:{200 * BLOCK}"]
    command = [sys.executable, "-m", "harness", "sweep", "fine", *part, *OPTIONS, "--run-dir", str(tmp_path)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ | offer(), text=True, **pipes)
    shard = tmp_path / "shards" / "sweep.jsonl"
    while process.poll() is None and not (shard.exists() and len(shard.read_bytes().splitlines()) > 3):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=PATIENCE)
    info = RunInfo.load(tmp_path)
    assert (process.returncode, info.state) == (2, "interrupted"), output
    assert len(info.not_run) == 2
    assert "cut off after" in info.not_run[0]["why"]
    assert load(tmp_path).empty
    assert "Partial run" in (tmp_path / "summary.md").read_text()
    with shard.open("ab") as file:
        file.write(b'0000 {"line":"block","lo":')  # as a killed writer leaves it
    before = len(list(read_shard(shard)))
    assert sweep("fine", *part, folder=tmp_path) == 0
    lines = [line for line in read_shard(shard) if line]
    blocks = [line["lo"] for line in lines if line["line"] == "block"]
    assert before > 3
    assert sorted(blocks) == [n * BLOCK for n in range(200)]
    assert len(blocks) == len(set(blocks))
    assert RunInfo.load(tmp_path).state == "complete"
    assert sum(r.size for r in merge([tmp_path]).records if r.quantity == "output[0]") == 200 * BLOCK


def shared_files(pid):
    """The files whose memory a process shares with others: pairs of inode and path."""
    lines = (Path("/proc") / str(pid) / "maps").read_text().splitlines()
    fields = [line.split(maxsplit=5) for line in lines]
    return {(int(f[4]), f[5]) for f in fields if len(f) == 6 and f[1][1] == "w" and f[1][3] == "s"}


def mapped_by_anyone(files):
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            if files & shared_files(process.name):
                return True
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_nothing_remains_in_memory_of_a_sweep_that_is_killed_with_its_whole_group(tmp_path):
    part = ["--dtype", "float32", "--mode", "eager", "--range", f"0:{200 * BLOCK}"]
    command = [sys.executable, "-m", "harness", "sweep", "fine", *part, *OPTIONS, "--run-dir", str(tmp_path)]
    env = os.environ | {"TMPDIR": str(tmp_path)}  # the fork server is killed too, and cannot delete its folder
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, process_group=0, env=env)
    shard = tmp_path / "shards" / "sweep.jsonl"
    try:
        while process.poll() is None and not (shard.exists() and len(shard.read_bytes().splitlines()) > 3):
            time.sleep(0.01)
        shared = {file for file in shared_files(process.pid) if "/dev/shm/" in file[1] or "/memfd:" in file[1]}
        assert shared, "the segments"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    end = time.monotonic() + PATIENCE
    while mapped_by_anyone(shared) and time.monotonic() < end:
        time.sleep(0.02)
    assert not mapped_by_anyone(shared)
    assert [path for _, path in shared if Path(path).exists()] == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["flor"], "no op 'flor'; there is"),
        (["fine", "--range", "5:2"], "expected 0 <= LO < HI"),
        (["fine", "--range", "x"], "expected LO:HI"),
        (["fine", "--every", "0"], "--every: expected a whole number of bit patterns from 1 to 4,294,967,296"),
        (["fine", "--workers", "-1"], "--workers: expected a whole number of threads from 1 to 1,024"),
        (["not-elementwise"], "not-elementwise is not elementwise"),
        (["no-promise"], "it is not about every input"),
        (["two-inputs"], "it is not about every input"),
        ([], "expected either OP, once or more, or --all"),
        (["fine", "--all"], "expected either OP, once or more, or --all"),
        (["wrong-once", "--dtype", "float16"], "has none of float16"),
    ],
)
def test_what_cannot_be_swept_is_refused_in_one_line(arguments, says, tmp_path, capsys):
    assert sweep(*arguments, folder=tmp_path) == 4
    assert says in capsys.readouterr().err


def test_a_program_of_several_inputs_is_not_swept():
    from tf_opdiff.harness.spec.inputs.recipes import UNARY
    from tf_opdiff.harness.spec.spec import Spec

    def spec(program):
        return Spec(name="some", ops="", program=program, reference=abs, recipes=UNARY, every_input=True)

    assert spec(lambda tf, x: x).sweepable
    assert not spec(lambda tf, x: x).but(every_input=False).sweepable
    assert not spec(lambda tf, x, y: x).sweepable
    assert not spec(lambda tf, *xs: xs[0]).sweepable
