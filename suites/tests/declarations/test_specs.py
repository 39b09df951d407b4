"""Every spec's inputs tell right from wrong, and its program can be written down as a text that stands alone."""

from collections import defaultdict
from functools import cache

import pytest

from tf_opdiff.harness.judge.planted_faults.mutation import score
from tf_opdiff.harness.paths import SUITES
from tf_opdiff.harness.repro.program_text.function_source import Unwritable
from tf_opdiff.harness.repro.program_text.program_writer import complete
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.tests.rotation import subject

#: module → its specs: a test for each spec would take more time for pytest's own work than for some specs.
MODULES = defaultdict(dict)
for item in Catalog.load(SUITES).items:
    MODULES[item.module][item.spec.name] = item.spec


@cache
def unwritable(program, state):
    """Why a program and the function of its state cannot be written so that they run alone; empty if they can.

    About half of the specs share both with another spec.
    """

    def build(writer):
        for function, wanted in ((program, "program"), (state, "make_state")):
            if function:
                writer.function(function, wanted)
        return "\n".join(["import numpy as np", "import tensorflow as tf", *writer.import_lines, writer.text])

    try:
        complete(build)
    except Unwritable as why:
        return str(why)
    return ""


#: Specs with living mutants. The mean of 105 numbers in float16 may lose half of its digits: 105 u is 5 %.
OPEN = {"mean-overflow"}


@pytest.mark.parametrize("module", [subject(module, module) for module in MODULES])
def test_no_possible_mutant_survives_every_case(module):
    specs = MODULES[module]
    alive = {name: mutants for name, spec in specs.items() if (mutants := score(spec).alive)}
    assert {name: mutants for name, mutants in alive.items() if name not in OPEN} == {}
    assert OPEN & specs.keys() <= alive.keys(), "no mutant lives any more: delete these names"


@pytest.mark.parametrize("module", [subject(module, module) for module in MODULES])
def test_every_program_can_be_written_down(module):
    reasons = {
        name: unwritable(spec.program, spec.execution.state) for name, spec in MODULES[module].items() if not spec.files
    }
    assert {name: reason for name, reason in reasons.items() if reason} == {}
