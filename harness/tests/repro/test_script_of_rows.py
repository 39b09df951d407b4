"""The scripts of planted rows that depend on their batch show it, with TensorFlow and NumPy alone."""

import json

import pytest

SPECS = ("rows-by-size-0", "rows-by-size-2", "rows-by-size-4", "rows-3-ulp", "rows-leaking", "rows-leaking-gradient")


@pytest.fixture(scope="module")
def outcomes(run_pytest):
    chosen = [word for name in (*SPECS, "rows") for word in ("--op", name)]
    done = run_pytest(*chosen, "--mode", "eager", suites="tf_opdiff.harness.tests.planted_specs.planted_rows")
    return done.directory, json.loads((done.directory / "repro.json").read_text())


@pytest.mark.parametrize("spec", SPECS)
def test_the_script_shows_the_row(outcomes, spec):
    directory, found = outcomes
    own = [outcome for outcome in found if outcome["spec"] == spec]
    assert own
    for outcome in own:
        assert outcome["status"] == "reproduced", outcome["output"]
        script = (directory / outcome["script"]).read_text()
        assert ("beside rows of NaN and infinities" if "leaking" in spec else "alone") in script


def test_sound_rows_have_no_script(outcomes):
    assert not [outcome for outcome in outcomes[1] if outcome["spec"] == "rows"]
