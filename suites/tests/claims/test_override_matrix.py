"""The matrix of overrides has a cell for every combination, and a program without its override is red."""

import os
import secrets
from itertools import product

import numpy as np
import pytest

from tf_opdiff.harness.repro.override_listing import overrides_data
from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.lists.override_cell import APPLIED, IGNORED, INEXPRESSIBLE, OWN, REFUSED
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.store.records.record import FAILING
from tf_opdiff.harness.tests.forked_python import forked_python
from tf_opdiff.suites.forms.overrides.declaration import OVERRIDES
from tf_opdiff.suites.forms.overrides.promises import Promise
from tf_opdiff.suites.forms.overrides.specs import MECHANISMS, PLACES
from tf_opdiff.suites.programs.override_matrix import SPECS
from tf_opdiff.suites.tests.claims import planted_without_overrides as planted


def cells():
    """(op, mechanism, place, mode) → the expected state."""
    return {
        (s.override.op, s.override.mechanism, s.override.place, mode): expected
        for s in SPECS
        for mode, expected in s.override.expected.items()
    }


def test_every_combination_has_a_cell_or_a_reason():
    absent = {(s.override.op, mechanism) for s in SPECS for mechanism in s.override.absent}
    ops, mechanisms = ({getattr(s.override, name) for s in SPECS} for name in ("op", "mechanism"))
    places = {part.title for part in PLACES.values()}
    assert (len(ops), len(mechanisms)) == (8, 8)  # select has two ops; one mechanism is that there is no override
    wanted = {c for c in product(ops, mechanisms, places, MODES) if c[:2] not in absent}
    assert set(cells()) == wanted
    assert absent == {("py_func (tf.numpy_function)", "an op in C++ with RegisterGradient")}


def test_each_state_occurs_and_only_specs_without_override_have_the_own_gradient():
    states = {e.state for e in cells().values()}
    assert states == {APPLIED, IGNORED, REFUSED, INEXPRESSIBLE, OWN}
    assert {m for (_, m, _, _), e in cells().items() if e.state == OWN} == {MECHANISMS["none"].title}
    nested = [e.state for (_, m, p, _), e in cells().items() if p == PLACES["nested"].title and e.state == IGNORED]
    assert nested == []


@pytest.mark.parametrize("override", OVERRIDES, ids=lambda o: o.name)
@pytest.mark.parametrize("place", PLACES)
def test_the_promise_of_an_override_differs_from_that_of_the_op_itself(override, place):
    """So a program that lost its override can't keep its promise."""
    inputs = override.recipe(Draw(1), np.dtype("float32"))
    applied, own = (Promise(override=override, place=place, applied=each) for each in (True, False))
    upstream = np.linspace(1.0, 2.0, len(inputs[0]))
    results = [[np.asarray(y) for y in promise._results(*inputs)] for promise in (applied, own)]
    differs = any(not np.array_equal(a, b) for a, b in zip(*results, strict=True))
    if place not in ("nested", "forward-mode") and not place.startswith("fitted"):
        g = (upstream,) * override.floats if place == "second-order" else upstream
        rules, natural = (promise.vjp(g, *inputs)[: override.floats] for promise in (applied, own))
        differs = any(not _equal(a, b) for a, b in zip(rules, natural, strict=False))
    assert differs == (place != "nested")


def _equal(one, other):
    return type(one) is type(other) and np.array_equal(one, other)


def _seed():
    """The seed of the draw: another one each time, unless the environment names one."""
    return int(os.environ.get("TF_OPDIFF_DRAW") or secrets.randbelow(10**6))


def test_thirty_programs_without_their_override_are_red(run_module):
    seed = _seed()
    drawn = planted.drawn(seed)
    names = [spec.name for spec in drawn]
    repeat = f"TF_OPDIFF_DRAW={seed} repeats this draw"
    print(f"{repeat}: {', '.join(names)}")
    assert len(set(names)) == planted.COUNT
    assert {spec.override.mechanism for spec in drawn} == set(planted.OUT)
    records = run_module("tf_opdiff.suites.tests.claims.planted_without_overrides", specs=names)
    wanted = {(spec.name, mode) for spec in drawn for mode in planted.applied_modes(spec)}
    red = {(r.spec, r.mode) for r in records if r.verdict in FAILING}
    assert wanted - red == set(), repeat


def test_a_draw_has_every_mechanism_and_another_one_with_another_seed():
    first, same, other = (planted.drawn(seed) for seed in (1, 1, 2))
    assert first == same != other
    places = {spec.override.place for seed in range(9) for spec in planted.drawn(seed)}
    assert places == {part.title for name, part in PLACES.items() if name != "nested"}


def test_a_program_of_the_page_runs_alone_and_prints_the_gradients_of_its_cells(tmp_path):
    """The map on floor: None where a tape sees the op, the rule where a graph is differentiated."""
    specs = [s for s in SPECS if s.name.startswith("matrix-floor-map-") and s.tier == "default"]
    (data,) = overrides_data(specs)
    assert data["alone"] and "tf_opdiff" not in data["program"]
    script = tmp_path / "program.py"
    script.write_text(data["program"])
    done = forked_python(str(script), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    place, ignored = "", {}
    for line in done.stdout.splitlines():
        if line.startswith("  "):
            ignored[place, line.split(":")[0].strip()] = line.endswith("gradient: None")
        else:
            place = line
    expected = {(s.override.place, m): e.state == IGNORED for s in specs for m, e in s.override.expected.items()}
    assert ignored == expected
