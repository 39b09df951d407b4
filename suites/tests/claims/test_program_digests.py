"""A recording knows a program by a digest of its text, so that text is the same in every process and Python."""

import re

import pytest

from tf_opdiff.harness.repro.program_text.program_digest import text_of
from tf_opdiff.harness.spec.catalog import Catalog

SPECS = Catalog.load("tf_opdiff.suites").specs
#: A spec of each function that is a program; those of one function differ in the values that they use.
OF_FUNCTIONS = {getattr(spec.program, "__code__", name): name for name, spec in SPECS.items()}
#: An object's address, and a whole spec: its promises are no part of its program.
UNSTABLE = re.compile(r" at 0x[0-9a-f]{6,}|SimpleNamespace\(name='[^']+', program=")


def text(name):
    spec = SPECS[name]
    return text_of(tuple(filter(None, (spec.program, spec.execution.state))))


@pytest.mark.parametrize("letter", sorted({name[0] for name in OF_FUNCTIONS.values()}))
def test_the_text_of_a_program_has_no_address_and_no_promise(letter):
    texts = {name: text(name) for name in OF_FUNCTIONS.values() if name[0] == letter}
    assert not {name: found[0] for name, of_it in texts.items() if (found := UNSTABLE.search(of_it))}


def test_the_text_of_a_program_has_no_source_of_a_library():
    assert "importlib.import_module(" in text("debug-gradient-identity-gradient")
    assert "def import_module" not in text("debug-gradient-identity-gradient")
