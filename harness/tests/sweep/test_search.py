"""Searches find large errors in regions that a random sample of the same size misses, and continue where they ended."""

import json
import os

import numpy as np
import pytest
from scipy import special

from tf_opdiff.command_line import main
from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.processes.server_handle import DeviceServer, memory_limit
from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.repro.discrepancy import discrepancy_of, promise_of
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import SEARCH, Case
from tf_opdiff.harness.spec.tolerances import precision
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.shards.shard import Shard, read_shard
from tf_opdiff.harness.sweep.searches.boxes import Boxes, floats_at, places_of
from tf_opdiff.harness.sweep.searches.search import Search
from tf_opdiff.harness.sweep.searches.search_oracle import Space, distances, refusal
from tf_opdiff.harness.sweep.searches.search_rows import _at_top
from tf_opdiff.harness.tests.planted_sweeps.planted_search import FAR, off_at
from tf_opdiff.reports.data.figures import searched
from tf_opdiff.reports.data.run_data.load import load
from tf_opdiff.suites.reference.promises.wide import long_double, mp

SUITE = "tf_opdiff.harness.tests.planted_sweeps.planted_search"
CPU = Device.parse("cpu")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_places_ascend_with_the_floats_and_lead_back_to_them(dtype):
    numbers = np.array([-np.inf, -1, -1e-40, -0.0, 0.0, 1e-40, 1, np.inf], dtype)
    places = places_of(numbers)
    assert (places[1:] > places[:-1]).all()
    assert floats_at(places, np.dtype(dtype)).tobytes() == numbers.tobytes()
    above = floats_at(places[1:-1] + np.uint64(1), np.dtype(dtype))
    assert above[[0, -1]].tolist() == np.nextafter(numbers[[1, 6]], np.array(np.inf, dtype)).tolist()


def test_the_parts_of_a_box_are_the_whole_box_once():
    boxes = Boxes(np.array([[1, 5], [3, 3]], np.uint64), np.array([[4, 6], [3, 9]], np.uint64))
    parts = boxes.cut(9)

    def points(some):
        each = zip(some.lo.tolist(), some.hi.tolist(), strict=True)
        return [(x, y) for (a, b), (c, d) in each for x in range(a, c + 1) for y in range(b, d + 1)]

    assert parts.size > boxes.size
    assert sorted(points(parts)) == sorted(points(boxes))
    whole = Boxes(*(places_of(np.array([[x]])) for x in (-np.inf, np.inf)))
    cut = whole.cut(1000)
    assert (cut.lo[1:] == cut.hi[:-1] + np.uint64(1)).all()
    assert (cut.lo[0], cut.hi[-1]) == (whole.lo[0], whole.hi[0])
    rng = np.random.default_rng(1)
    owners, samples = parts.sample(rng, 100)
    assert ((samples >= parts.lo[owners]) & (samples <= parts.hi[owners])).all()


def planted(name, **more):
    """A search of a planted spec with rounds of fixed size, and its item."""
    item = next(i for i in Catalog.load(SUITE).items if i.spec.name == name)
    return Search(item, [Plan(CPU, "eager")], descents=1, size=2048, **more)


@pytest.mark.parametrize("name", ["far-off-once", "far-off-pair"])
def test_a_region_of_one_input_in_a_million_is_found_and_a_random_sample_misses_it(name, tmp_path):
    search, shard = planted(name), Shard(tmp_path / "sweep.jsonl")
    server = DeviceServer(CPU, tmp_path, memory=memory_limit(CPU))
    try:
        search.run({CPU: server}, shard, lambda n: None)
        results = search.worst({CPU: server})
    finally:
        server.stop()
        shard.close()
    (trail,) = search.trails.values()
    assert FAR <= max(trail.worst.values()) <= 2 * FAR
    assert off_at(*results.inputs).max() == FAR
    points = search.space.box.sample(np.random.default_rng(0), search.tried)[1]
    assert off_at(*search.space.inputs(points)).max() < 64, "a random sample of the same size"
    again = planted(name)
    again.resume(tmp_path / "sweep.jsonl")
    assert (again.left, again.tried) == (0, search.tried)
    assert again.trails.keys() == search.trails.keys()
    assert again.trails[trail.plan, trail.quantity].worst == trail.worst


def test_a_search_records_its_worst_inputs_and_adds_them_to_the_atlas(tmp_path, capsys):
    options = ["--suites", SUITE, "--known", os.devnull, "--device", "cpu", "--run-dir", str(tmp_path / "run")]
    assert main(["sweep", "far-off-once", "--search", "1", *options]) == 1
    rows = load(tmp_path / "run")
    (row,) = rows.itertuples()
    assert (row.case, row.recipe, row.verdict, row.kind) == (
        "far-off-once-float64-search",
        "search",
        "mismatch",
        "value",
    )
    x = np.array([json.loads(row.worst_index)[0]], np.uint64).view(np.float64)
    assert off_at(x)[0] == FAR
    assert "rerun: python -m harness sweep far-off-once --dtype float64" in capsys.readouterr().out
    (found,) = searched.rows([tmp_path / "run"])
    assert (found["spec"], found["mode"], found["descents"]) == ("far-off-once", "eager", 1)
    assert found["max_ulp"] == pytest.approx(row.max_ulp)
    assert searched.store([found], tmp_path / "atlas") == [tmp_path / "atlas" / f"cpu@{found['tf']}.csv"]
    assert list(searched.load(tmp_path / "atlas").values()) == [[found]]
    lines = len(list(read_shard(tmp_path / "run" / "shards" / "sweep.jsonl")))
    assert main(["sweep", "far-off-once", "--search", "1", *options]) == 1
    later = [line["line"] for line in list(read_shard(tmp_path / "run" / "shards" / "sweep.jsonl"))[lines:]]
    assert "descent" not in later, "the descent is in the shard already"


def test_options_of_sweeps_do_not_go_with_a_search(tmp_path, capsys):
    options = ["--suites", SUITE, "--known", os.devnull, "--device", "cpu", "--run-dir", str(tmp_path)]
    assert main(["sweep", "far-off-once", "--search", "1", "--every", "3", *options]) == 4
    assert "--search: expected no --range and no --every" in capsys.readouterr().err
    assert main(["sweep", "far-off-once", "--search", "1", "--dtype", "float32", *options]) == 4
    assert "far-off-once has none of float32" in capsys.readouterr().err


def test_a_spec_without_bits_is_searched_within_its_domain_and_with_its_whole_numbers():
    spec = Catalog.load("tf_opdiff.suites").specs["polygamma"]
    assert refusal(spec, "float64") == ""
    space = Space.of(Case(spec, "float64", SEARCH))
    domain = Case(spec, "float64", "domain").inputs()
    inputs = space.inputs(space.box.sample(np.random.default_rng(0), 1000)[1])
    assert (inputs[0] == np.round(inputs[0])).all()
    assert not (inputs[1] == np.round(inputs[1])).any()
    for x, y in zip(inputs, domain, strict=True):
        assert (x.min(), x.max()) >= (y.min(), y.min())
        assert x.max() <= y.max()


def test_an_estimate_is_never_in_the_dtype_of_the_search():
    x = np.array([0.1])
    with precision.quick():
        assert precision.computed(np.exp, x).dtype == precision.computed(special.erfc, x).dtype == np.float64
    with precision.quick(long_double=True):
        assert precision.computed(np.exp, x).dtype == np.longdouble
        assert precision.computed(special.erfc, x) is None, "TensorFlow has the same formula, and so the same errors"
    erfc = Catalog.load("tf_opdiff.suites").specs["erfc"]
    with precision.quick(long_double=True):
        assert erfc.reference(x).tolist() == [long_double(mp.erfc(mp.mpf(0.1)))]


def test_distances_leave_out_wrong_classes_and_promises_next_to_subnormal_numbers():
    want = Want("value", np.array([1.0, 1.0, np.inf, 1e-310]), np.dtype("float64"))
    ulps, wrong = distances("output[0]", np.array([1.0 + 2**-50, np.nan, 3.0, 0.0]), want)
    assert ulps.tolist() == [4.0, 0.0, 0.0, 0.0]
    assert {kind: np.flatnonzero(where).tolist() for kind, where in wrong.items() if where.any()} == {
        "nan": [1],
        "inf": [2],
    }


def test_next_to_the_largest_number_an_infinity_is_within_the_budget():
    top = float(np.finfo(np.float64).max)
    ulp = np.spacing(np.nextafter(top, 0))

    def kind(got, want, budget):
        promise = _at_top(Want("value", np.array([want], np.longdouble), np.dtype("float64"), budget=budget))
        return compare(Result("value", np.array([got])), promise, "output[0]").kind

    assert kind(np.inf, top - ulp, 1.5) == kind(top, np.longdouble(top) + ulp, 1.5) == ""
    assert kind(np.inf, top - 2 * ulp, 1.5) == kind(-np.inf, top, 1.5) == "inf"


def test_a_script_of_a_finding_runs_the_inputs_that_its_record_names():
    spec = Catalog.load(SUITE).specs["far-off-pair"]
    pair = np.array([1.5, -2.25])
    index = str(pair.view(np.uint64).tolist())
    record = Record(dtype="float64", recipe=SEARCH, mode="eager", quantity="output[0]", kind="value", worst_index=index)
    discrepancy = discrepancy_of(record, Case(spec, "float64", SEARCH), CPU)
    assert [set(x.tolist()) for x in discrepancy.inputs] == [{1.5}, {-2.25}]
    assert set(promise_of(discrepancy).wants["output[0]"].value.tolist()) == {1.5}
