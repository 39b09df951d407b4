"""Commands, paths and TOML in the documents are those of the code."""

import argparse
import re
import tomllib
from functools import cache
from importlib import import_module
from pkgutil import resolve_name

import pytest

from docs.tests.test_links import documents
from tf_opdiff.harness.judge.known_failures import maturity
from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.known_failures.entry import Entry
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.remote import devices_file
from tf_opdiff.harness.remote.bootstrap import NEEDED
from tf_opdiff.harness.run.options import CAMPAIGN, OPTIONS
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.verbs import VERBS

#: Options of pytest itself, and those of the plugin.
PYTEST = {"-n", "-q", "-x", "-o", "-p", "--maxfail", "--junit-xml"} | {option.flag for option in (*OPTIONS, CAMPAIGN)}
PAGES = [path for path in documents() if path.name != "CHANGELOG.md"]
COMMAND = re.compile(r"(?:python -m harness|pytest|make)\b[^\n`#|]*")
PATH = re.compile(r"`((?:harness|reports|suites|docs|bench|tf_opdiff|recordings)/[\w./-]*)`")


def commands(text):
    """The commands in a document's blocks and between its backticks: a program, and the words behind it."""
    fence = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
    blocks = [block for language, block in fence.findall(text) if not language]
    for part in (*blocks, *re.findall(r"`([^`\n]+)`", fence.sub("", text))):
        yield from (command.split() for command in COMMAND.findall(part))


@cache
def options(verb):
    """The options of a verb."""
    parser = argparse.ArgumentParser(add_help=False)
    import_module(VERBS[verb].module).add_options(parser)
    return {flag for action in parser._actions for flag in action.option_strings}


def wrong(words, targets):
    """What a command names that does not exist."""
    if words[0] == "make":
        return {word for word in words[1:2] if not re.match(r"\.|…", word) and word.strip("`,.;") not in targets}
    flags = {word.partition("=")[0] for word in words[1:] if re.match(r"--?[a-z]", word)}
    if words[0] == "pytest":
        files = {word.partition("::")[0] for word in words if re.match(r"(suites|harness|reports)/\w", word)}
        return (flags - PYTEST) | {name for name in files if not (ROOT / name).exists()}
    verb = words[3] if len(words) > 3 else "VERB"
    if verb in ("VERB", "[VERB]"):
        return set()
    return {verb} if verb not in VERBS else {flag for flag in flags - {"-m"} if flag not in options(verb)}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_exists(path):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert [(words, bad) for words in commands(path.read_text()) if (bad := wrong(words, targets))] == []


def test_commands_are_read_from_blocks_and_from_the_text():
    text = "Use `make a`.\n\n```python\npytest\n```\n\n```\npytest --op x   # why\nmake b\n```\n"
    assert list(commands(text)) == [["pytest", "--op", "x"], ["make", "b"], ["make", "a"]]


@pytest.mark.parametrize(
    "command",
    [
        "python -m harness reproduce x",
        "python -m harness diff a b --bit",
        "pytest --ops Floor",
        "pytest suites/absent.py",
        "make everything",
    ],
)
def test_a_wrong_command_is_seen(command):
    assert wrong(command.split(), {"test"})


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_path_in_a_document_exists(path):
    not_stored = {"recordings/h100@2.21.0.parquet", "docs/atlas.md"}
    assert [
        name for name in PATH.findall(path.read_text()) if name not in not_stored and not (ROOT / name).exists()
    ] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_name_of_reports_in_a_document_exists(path):
    for name in re.findall(r"`reports((?:\.\w+)+)`", path.read_text()):
        assert resolve_name(f"tf_opdiff.reports{name}") is not None, name


def test_the_cause_in_the_guide_is_real():
    text = (ROOT / "docs" / "guides" / "known-failures.md").read_text()
    (block,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    assert block.strip() in (ROOT / "suites" / "known" / "math.toml").read_text().split("\n\n")


def test_the_mutant_on_the_page_of_mutants_is_real():
    text = (ROOT / "docs" / "explanations" / "mutants.md").read_text()
    (mutant,) = tomllib.loads(re.search(r"```toml\n(.*?)```", text, re.DOTALL)[1])["mutant"]
    assert mutant in tomllib.loads((ROOT / "harness" / "tests" / "mutants.toml").read_text())["mutant"]


def test_the_fields_of_the_guide_are_those_of_an_entry_and_a_cause():
    text = (ROOT / "docs" / "guides" / "known-failures.md").read_text()
    entry = {*Entry.__struct_fields__} - {"cause"}
    cause = {*Cause.__struct_fields__, "defaults", "entries"} - {"severity_reason"}  # a file has it in `severity`
    for heading, fields in (("## An entry", entry), ("## A cause", cause)):
        rows = re.findall(r"^\| (`.*?) \|", text.partition(heading)[2].partition("\n## ")[0], re.MULTILINE)
        assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == fields


def test_the_maturity_list_in_the_guide_is_valid(tmp_path):
    text = (ROOT / "docs" / "guides" / "vendors.md").read_text()
    path = tmp_path / "toy.toml"
    path.write_text(re.search(r"```toml\n(.*?)```", text, re.DOTALL)[1])
    assert maturity.load(path, Catalog.load("tf_opdiff.suites")).device == "toy"


def test_the_files_of_devices_in_the_guide_are_valid_and_its_fields_and_packages_are_those_of_the_code(tmp_path):
    text = (ROOT / "docs" / "guides" / "remote-devices.md").read_text()
    path = tmp_path / "devices.toml"
    path.write_text("\n".join(re.findall(r"```toml\n(.*?)```", text, re.DOTALL)))
    assert {"tf218", "gpubox"} < set(devices_file.read(path))
    fields = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert fields == list(devices_file.ServerCommand.__struct_fields__)
    default = devices_file.ServerCommand(command=("python",)).start_timeout
    assert f"default: {default:g}." in text and f"default: {default:g}." in devices_file.ServerCommand.__doc__
    (packages,) = re.findall(r"^pip install (.*)$", text, re.MULTILINE)
    assert set(packages.split()) == set(NEEDED.values())
