"""Every spec's inputs tell right from wrong, and its program can be written down as a text that stands alone."""

import pytest

from tf_opdiff.harness.judge.mutation import score
from tf_opdiff.harness.paths import SUITES
from tf_opdiff.harness.repro.writer import Writer
from tf_opdiff.harness.spec.catalog import Catalog

SPECS = Catalog.load(SUITES).specs


@pytest.mark.parametrize("name", SPECS)
def test_no_possible_mutant_survives_every_case(name):
    assert score(SPECS[name]).alive == []


@pytest.mark.parametrize("name", [name for name, spec in SPECS.items() if not spec.files])
def test_a_program_can_be_written_down(name):
    spec = SPECS[name]
    writer = Writer()
    for function, wanted in ((spec.program, "program"), (spec.state, "make_state")):
        if function:
            writer.function(function, wanted)
    compile(writer.text, name, "exec")
