"""What a sweep makes of results that are made up here: tallies, records, and the cells that they fill."""

import json
from functools import partial

import numpy as np
import pytest

from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.device.request import Bits
from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.known_failures.entry import Entry
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.judge.verdicts.verdict import Context, Origin
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.spec.inputs.recipes import bit_patterns
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Case, Side, Spec
from tf_opdiff.harness.spec.tolerances.by_mode import by_mode
from tf_opdiff.harness.store.shards.cell_lines import CellWriter
from tf_opdiff.harness.store.shards.merged import merge
from tf_opdiff.harness.store.shards.shard import Shard
from tf_opdiff.harness.sweep.measurements import tally_rows
from tf_opdiff.harness.sweep.measurements.block_promises import upstream_at, upstreams
from tf_opdiff.harness.sweep.measurements.oracle import Oracle, Part
from tf_opdiff.harness.sweep.measurements.pieces import NORMAL, SUBNORMAL, Piece
from tf_opdiff.harness.sweep.measurements.promise import Promise
from tf_opdiff.harness.sweep.measurements.tally import Tally, of_comparison, of_difference
from tf_opdiff.harness.sweep.progress_state import Swept
from tf_opdiff.harness.sweep.sweep import Sweep
from tf_opdiff.harness.sweep.sweepable import refusal

PLAN = Plan(Device("cpu"), "eager")
#: Around 1, and around the border of subnormal numbers.
LO, HI = 0x3C00, 0x3C40
BORDER = 0x03F0, 0x0410
CAUSE = Cause(id="planted", owner="us", reason="planted for these tests")
ENTRY = Entry(spec="x", kind="value", cause=CAUSE)


def program(tf, x):
    return tf.identity(x)


def made(**more):
    defaults = {"name": "x", "program": program, "reference": lambda x: x, "ops": "", "dtypes": ("float16",)}
    return Spec(**defaults | {"recipes": {"bits": bit_patterns}, "every_input": True} | more)


def swept(*observations, spec=None, plan=PLAN, span=(LO, HI), block=None):
    """A sweep whose blocks gave these observations, each as the shard has it."""
    item = Item("tf_opdiff.harness.tests.sweep.test_sweep_judging", spec or made(), "float16")
    sweep = Sweep(item, [plan], *span, **({"block": block} if block else {}))
    for (lo, hi), observation in zip(sweep.blocks(), observations, strict=True):
        sweep.swept[plan].add(json.loads(json.dumps(line(sweep, plan, lo, hi, observation))))
    return sweep


def line(sweep, plan, lo, hi, observation):
    """The line of a block with this observation."""
    return sweep.line(plan, sweep.inputs(lo, hi), observation, Oracle(sweep.case(NORMAL), 1))


def values(change=lambda x: x, span=(LO, HI), **more):
    return Observation({"output[0]": Result("value", change(Bits("float16", *span).array()))}, **more)


def records(sweep, *entries):
    context = Context(run="r", started="s", here=Origin("2.21.0"), known=Known(entries))
    return [r for cell in tally_rows.cells(sweep) for r in tally_rows.records(sweep, context, *cell)]


def only(rows):
    (row,) = rows
    return row


def off(n, at=5):
    def change(x):
        x = x.copy()
        x.view(np.uint16)[at] += n
        return x

    return change


def test_a_right_result_is_one_match_for_each_recipe():
    record = only(records(swept(values())))
    assert (record.verdict, record.kind, record.size, record.mismatched) == ("match", "", HI - LO, 0)
    border = records(swept(values(span=BORDER), span=BORDER))
    assert {(r.recipe, r.size, r.verdict) for r in border} == {(NORMAL, 16, "match"), (SUBNORMAL, 16, "match")}


@pytest.mark.parametrize(("steps", "verdict"), [(2, "match"), (3, "mismatch")])
def test_a_sweep_is_held_to_the_budget_of_its_spec(steps, verdict):
    record = only(records(swept(values(off(steps)), spec=made(ulp={"output": 2}))))
    assert (record.verdict, record.budget, record.max_ulp) == (verdict, 2, steps)


@pytest.mark.parametrize(("steps", "verdict"), [(4, "match"), (5, "mismatch")])
def test_a_sweep_is_held_to_the_bound_of_its_spec(steps, verdict):
    spec = made(bound={"output": lambda u, g, x: 8 * u + 0 * x})
    assert only(records(swept(values(off(steps)), spec=spec))).verdict == verdict


@pytest.mark.parametrize(
    ("mode", "steps", "verdict"), [("graph", 2, "mismatch"), ("xla", 8, "match"), ("xla", 9, "mismatch")]
)
@pytest.mark.parametrize("field", ["ulp", "bound"])
def test_a_sweep_is_held_to_the_budget_of_its_mode(field, mode, steps, verdict):
    bounds = by_mode(eager=lambda u, g, x: 2 * u + 0 * x, xla=lambda u, g, x: 16 * u + 0 * x)
    spec = made(**{field: {"output": by_mode(eager=1, xla=8) if field == "ulp" else bounds}})
    record = only(records(swept(values(off(steps)), spec=spec, plan=Plan(Device("cpu"), mode))))
    assert record.verdict == verdict


def test_one_wrong_bit_pattern_is_named():
    record = only(records(swept(values(off(1)))))
    assert (record.kind, record.mismatched, record.worst_index) == ("value", 1, f"[{LO + 5}]")
    assert record.input.endswith(f"(0x{LO + 5:04x})")
    assert record.rerun.endswith(f"--range 0x{LO:x}:0x{HI:x}")
    assert (np.float16(record.want), np.float16(record.got)) == (1 + 5 * 2**-10, 1 + 6 * 2**-10)


@pytest.mark.parametrize(
    ("quantities", "wrong"),
    [
        ({}, {"output[0]"}),
        ({"output[1]": Result("value", Bits("float16", LO, HI).array())}, {"output[0]", "output[1]"}),
        ({"output[0]": Result("error", code="INTERNAL", message="m")}, {"output[0]"}),
        ({"output[0]": Result("crash", code="SIGABRT")}, {"output[0]"}),
        ({"output[0]": Result("value", Bits("float16", LO, HI - 1).array())}, {"output[0]"}),
        ({"output[0]": Result("value", Bits("float16", LO, HI).array().astype(np.float32))}, {"output[0]"}),
    ],
)
def test_a_quantity_that_did_not_come_or_was_not_promised_is_a_mismatch(quantities, wrong):
    found = records(swept(Observation(quantities)))
    assert {r.quantity for r in found if r.verdict == "mismatch"} == wrong
    assert {r.mismatched for r in found} == {HI - LO}


def test_a_flushed_number_is_a_contract_that_says_so_and_a_wrong_one_is_not():
    flushed = values(lambda x: np.where(np.abs(x) < np.finfo(np.float16).smallest_normal, np.float16(0), x), BORDER)
    by_recipe = {r.recipe: r for r in records(swept(flushed, span=BORDER))}
    assert by_recipe[NORMAL].verdict == "match"
    small = by_recipe[SUBNORMAL]
    assert (small.verdict, small.kind, small.mismatched) == ("contract", "subnormal", 16)
    assert "16 of 16" in small.detail
    lost = only(records(swept(values(lambda x: np.where(np.arange(x.size) == 3, np.float16(0), x)))))
    assert (lost.verdict, lost.kind, lost.mismatched) == ("mismatch", "value", 1)
    wrong = records(swept(values(off(1, at=3), BORDER), span=BORDER))
    assert {(r.recipe, r.verdict) for r in wrong} == {(NORMAL, "match"), (SUBNORMAL, "mismatch")}


def test_a_flushed_number_excuses_no_wrong_one_and_is_not_the_reason_for_a_contract():
    def both(x):
        return np.where(np.arange(x.size) < 4, np.float16(0), off(9, at=8)(x))

    wrong = {r.recipe: r for r in records(swept(values(both, BORDER), span=BORDER))}[SUBNORMAL]
    assert (wrong.verdict, wrong.kind, wrong.mismatched, wrong.reason) == ("mismatch", "value", 1, "")
    spec = made(contract={"*/eager": Side(reference=lambda x: x, why="it is documented")})
    flushed = values(lambda x: np.where(np.arange(x.size) < 4, np.float16(0), x), BORDER)
    small = {r.recipe: r for r in records(swept(flushed, spec=spec, span=BORDER))}[SUBNORMAL]
    assert (small.verdict, small.reason) == ("contract", "it is documented")


def test_a_sweep_that_ran_elsewhere_is_an_error_and_a_later_block_mends_nothing():
    faulty = values(span=(LO, LO + 32), fault="ran elsewhere")
    sweep = swept(faulty, values(span=(LO + 32, HI)), block=32)
    assert only(records(sweep)).verdict == "error"


def test_a_known_failure_is_known_and_stale_only_over_the_whole_range():
    assert only(records(swept(values(off(1))), ENTRY)).verdict == "known"
    assert only(records(swept(values()), ENTRY)).verdict == "match"
    whole = 0, 1 << 16
    sweep = swept(values(span=whole), span=whole)
    assert {r.verdict for r in records(sweep, ENTRY)} == {"stale"}


def test_a_sweep_is_held_to_its_own_side_of_a_contract():
    spec = made(contract={"*/eager": Side(reference=np.negative, why="it is documented")})
    assert only(records(swept(values(np.negative), spec=spec))).verdict == "contract"
    assert only(records(swept(values(), spec=spec))).verdict == "mismatch"
    assert only(records(swept(values(), spec=spec, plan=Plan(Device("cpu"), "graph")))).verdict == "match"


def test_every_cell_of_a_sweep_has_a_record_in_the_shard(tmp_path):
    (tmp_path / "shards").mkdir()
    shard = Shard(tmp_path / "shards" / "a.jsonl")
    tally_rows.write(records(swept(values(span=BORDER), span=BORDER)), CellWriter(shard))
    shard.close()
    merged = merge([tmp_path])
    assert {case for case, *_ in merged.done} == {f"x-float16-{r}-3f0-410" for r in (NORMAL, SUBNORMAL)}
    assert len(merged.records) == 2


def test_a_sweep_without_a_reference_has_a_record_in_every_cell():
    sweep = Sweep(Item("m", made(), "float16"), [PLAN, Plan(Device("cpu"), "xla")], 0, 1 << 16)
    context = Context(run="r", started="s", here=Origin("2.21.0"), known=Known())
    found = tally_rows.faulty(sweep, context, "it failed")
    assert {(r.recipe, r.mode, r.verdict) for r in found} == {
        (recipe, mode, "error") for recipe in (NORMAL, SUBNORMAL) for mode in ("eager", "xla")
    }


def test_a_block_counts_once_and_one_that_was_lost_is_swept_again(tmp_path):
    sweep = swept(values())
    block = json.loads(json.dumps(line(sweep, PLAN, LO, HI, values(off(1)))))
    sweep.swept[PLAN].add(block)
    assert only(records(sweep)).size == HI - LO
    assert sweep.left == 0
    lost = line(sweep, PLAN, LO, HI, Observation({"output[0]": Result("crash", code="SIGABRT")}))
    others = (({**block, "spec": "y"}, HI - LO), ({**block, "lo": 0}, HI - LO))
    for some, left in ((block, 0), (lost, HI - LO), *others):
        path = tmp_path / f"{left}.jsonl"
        shard = Shard(path)
        shard.write("block", **some)
        shard.close()
        again = Sweep(sweep.item, [PLAN], LO, HI)
        again.resume(path)
        assert again.left == left
        path.unlink()


def test_the_blocks_of_a_range_are_all_of_it_once():
    blocks = list(Sweep(Item("m", made(), "float16"), [PLAN], 5, 100, block=32).blocks())
    assert blocks == [(5, 32), (32, 64), (64, 96), (96, 100)]


@pytest.mark.parametrize(("at", "verdict"), [(35, "mismatch"), (36, "match")])
def test_a_sample_tries_each_multiple_of_its_step_and_says_so(at, verdict):
    step, first = 5, -(-LO // 5) * 5
    sample = Sweep(Item("m", made(vjp=lambda g, x: g), "float16"), [PLAN], LO, HI, block=4, step=step)
    tried = [int(p) for lo, hi in sample.blocks() for p in sample.inputs(lo, hi).array().view(np.uint16)]
    assert tried == list(range(first, HI, step))
    assert sample.left == len(tried)
    wrong = first + at
    for lo, hi in sample.blocks():
        x = sample.inputs(lo, hi).array()
        y, g = x.copy(), x.dtype.type(1) * upstream_at(sample.inputs(lo, hi), np.arange(x.size)).astype(x.dtype)
        y.view(np.uint16)[x.view(np.uint16) == wrong] += np.uint16(1)
        observation = Observation({"output[0]": Result("value", y), "grad[0]": Result("value", g)})
        sample.swept[PLAN].add(json.loads(json.dumps(line(sample, PLAN, lo, hi, observation))))
    by_quantity = {r.quantity: r for r in records(sample)}
    assert by_quantity["output[0]"].verdict == verdict
    assert by_quantity["grad[0]"].verdict == "match"
    record = by_quantity["output[0]"]
    assert (record.size, record.case) == (len(tried), f"x-float16-sweep-{LO:x}-{HI:x}-every-5")
    assert record.rerun.endswith("--every 5")
    assert record.worst_index == (f"[{wrong}]" if verdict == "mismatch" else "")


def test_an_upstream_belongs_to_the_bit_pattern_in_a_sample_too():
    whole, sample = Bits("float32", 0, 100), Bits("float32", 15, 100, 5)
    values = upstream_at(whole, np.arange(100))
    assert (upstream_at(sample, np.arange(sample.size)) == values[15:100:5]).all()
    assert (upstreams(sample, Case(made(), "float16", NORMAL), [np.zeros(1)])[0].array() == values[15:100:5]).all()


def test_a_reference_in_float64_is_held_against_the_wide_one():
    from tf_opdiff.harness.spec.tolerances import precision

    def misled(x):
        return x * (1.01 if precision.allowed() else 1.0)

    with pytest.raises(ReferenceFault, match="reference suspect"):
        Part.of(Case(made(reference=misled), "float16", NORMAL), None, Piece(NORMAL, LO, HI), 8)


@pytest.mark.parametrize("limit", [131008.0, 65000.0])
def test_a_reference_in_float64_may_overflow_only_where_every_result_is_infinite(limit):
    from tf_opdiff.harness.spec.tolerances import precision

    def overflows(x):
        return np.where(precision.allowed() & (4 * x > limit), np.inf, 4 * x)

    part = partial(Part.of, Case(made(reference=overflows, vjp=None), "float16", NORMAL), None)
    if limit > 131000:
        part(Piece(NORMAL, 0x7000, 0x7C00), 512)
    else:
        with pytest.raises(ReferenceFault, match="reference suspect"):
            part(Piece(NORMAL, 0x7000, 0x7C00), 512)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({}, ""),
        ({"reference": np.cumsum}, "is not elementwise"),
        ({"reference": lambda x: x[:1]}, "is not unary"),
        ({"every_input": False}, "it is not about every input"),
        ({"dtypes": ("float64",)}, "promises nothing for float16"),
    ],
)
def test_what_can_be_swept_is_unary_and_elementwise(more, says):
    found = refusal(made(**more), "float16")
    assert says in found
    assert bool(found) is bool(says)


def test_tallies_add_up():
    one = Tally(5, 1, 2, 3.0, 0.5, {"value": 1}, [1, 2], [["value", 3.0, 7, "a", "b"]])
    other = Tally(7, 2, 1, 9.0, 0.25, {"nan": 1, "value": 1}, [4], [["nan", 0.0, 9, "c", "d"]], "error", "X", "m")
    one.add(other)
    assert (one.size, one.mismatched, one.flushed, one.max_ulp, one.max_abs) == (12, 3, 3, 9.0, 0.5)
    assert (one.kinds, one.histogram, one.comparison(0).kind) == ({"value": 2, "nan": 1}, [5, 2], "nan")
    assert [row[2] for row in one.worst] == [9, 7]
    assert (one.status, one.code) == ("error", "X")
    one.add(Tally(1))
    assert (one.status, one.code) == ("error", "X")
    found = one.comparison(4)
    assert (found.kind, found.mismatched, found.index, found.got, found.budget) == ("nan", 3, (9,), "c", 4)


def test_a_result_that_is_wrong_as_a_whole_counts_every_element():
    tally = of_comparison(Comparison(kind="shape", got="a", want="b"), 9, 3, "float16")
    assert (tally.mismatched, tally.kinds, tally.worst) == (9, {"shape": 1}, [["shape", 0.0, 3, "a", "b"]])
    assert of_comparison(Comparison(), 9, 3, "float16").mismatched == 0


def test_the_worst_inputs_are_those_that_are_farthest_off():
    x = Bits("float16", LO, HI).array()
    got = x.copy()
    got.view(np.uint16)[:40] += np.arange(1, 41, dtype=np.uint16)
    tally = of_difference(Promise(x.astype(np.float64), x.dtype, 0.0).compare(got), LO, "float16")
    assert [row[2] - LO for row in tally.worst] == list(range(39, 29, -1))
    assert (tally.mismatched, tally.max_ulp) == (40, 40)


def test_of_the_wrong_inputs_the_simplest_of_each_kind_is_kept():
    lo, hi = 0x3800, 0x3C02  # from 0.5 to a little above 1
    x = Bits("float16", lo, hi).array()
    got = x + np.float16(2)
    got[5] = np.nan
    parts = Tally()
    for a, b in ((0, 3), (3, x.size)):
        promise = Promise(x[a:b].astype(np.float64), x.dtype, 0.0)
        parts.add(of_difference(promise.compare(got[a:b]), lo + a, "float16"))
    assert {kind: row[1:] for kind, row in parts.simplest.items()} == {
        "value": [0x3C00, "3.0", "1.0"],
        "nan": [lo + 5, "nan", str(x[5])],
    }
    found = parts.comparison(0).simplest
    assert (found.index, found.got, found.want) == ((lo + 5,), "nan", str(x[5]))


@pytest.mark.parametrize("dtype", ["int32", "bool"])
def test_integers_are_compared_exactly(dtype):
    value = np.array([0, 1, 1, 0], dtype)
    got = np.array([1, 1, 0, 0], dtype)
    found = Promise(value, value.dtype, 9.0).compare(got)
    assert (found.at.tolist(), of_difference(found, 0, "float32").mismatched) == ([0, 2], 2)
    assert of_difference(Promise(value, value.dtype, 0.0).compare(value), 0, "float32").mismatched == 0


def test_a_line_of_a_block_is_taken_once():
    done, tally = Swept(), Tally(4).to_json()
    line = {
        "lo": 3,
        "seconds": 2.0,
        "about": {"fault": "", "ran_on": "CPU:0"},
        "tallies": [["sweep", "q", tally]],
    }
    for _ in range(2):
        done.add(line)
    assert (done.seconds, done.tallies["sweep", "q"].size, done.about["ran_on"]) == (2.0, 4, "CPU:0")
