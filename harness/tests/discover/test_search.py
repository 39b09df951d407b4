"""A search finds, names, keeps and resumes; what a person rejected stays away."""

from dataclasses import replace

import numpy as np
import pytest

from tf_opdiff.command_line import main
from tf_opdiff.discover.group import KNOWN, NEW, REJECTED, UNSTABLE, Group, data_of
from tf_opdiff.discover.programs.program import Node, Program
from tf_opdiff.discover.recognising import Recogniser
from tf_opdiff.discover.report import lines, write_report
from tf_opdiff.discover.search import Search, recognised
from tf_opdiff.discover.settling import script_of, settled
from tf_opdiff.discover.signature import Signature
from tf_opdiff.discover.state import State
from tf_opdiff.harness.spec.plan import Device

CPU = Device("cpu")
LOSES_NAN = "xla-maximum-minimum-lose-nan"


def group_of(text, draw, **changes):
    program = Program(Node(text, (Node("x"),)), (draw.dtype.name,))
    about = {"id": "xla-nan-min", "kind": "nan", "mode": "xla", "types": ("Min",), "got": "0", "want": "nan", "seed": 3}
    return Group(program=program.data(), draw=data_of((draw,)), **{**about, **changes})


def nan_lost(**changes):
    return group_of("tf.reduce_min({0}, 0)", np.float32([[0.0], [np.nan]]), **changes)


def test_a_known_difference_is_recognised_and_another_kind_is_not(worker):
    recogniser = Recogniser(worker, CPU)
    program = nan_lost().example.program
    assert LOSES_NAN in recogniser.causes(Signature.of(worker, program, "nan", "xla"))
    assert recogniser.causes(Signature.of(worker, program, "shape", "xla")) == ()


def test_a_function_of_a_loop_with_a_known_failure_is_alike(worker, budgets):
    recogniser = Recogniser(worker, CPU)
    root = Node("tf.reduce_min({0}, -1)", (Node("tf.asin({0})", (Node("x"),)),))
    program = Program(root, ("float32",), "map_fn")
    signature = Signature.of(worker, program, "nan", "xla")
    parts = [frozenset(budgets.types[op.text]) for op in program.ops]
    assert LOSES_NAN not in recogniser.causes(signature)
    assert LOSES_NAN in recogniser.alike(signature, parts)


def test_a_composition_is_recognised_by_the_ops_of_its_text(worker):
    recogniser = Recogniser(worker, CPU)
    program = Program(Node("tf.reduce_max({0}, 0)", (Node("tf.sqrt({0})", (Node("x"),)),)), ("float32",))
    assert "grappler-max-of-monotonic" in recogniser.causes(Signature.of(worker, program, "nan", "function"))


def test_a_new_group_is_run_in_fresh_processes_and_under_settings(budgets, tmp_path):
    group = settled(nan_lost(), CPU, budgets, tmp_path, 300.0)
    assert (group.state, group.setting) == (NEW, "none")
    assert "nan" in (tmp_path / group.id / "program.txt").read_text()


def test_a_group_that_no_fresh_process_shows_is_unstable(budgets, tmp_path):
    group = settled(group_of("tf.reduce_min({0}, 0)", np.float32([[0.0], [1.0]])), CPU, budgets, tmp_path, 300.0)
    assert (group.state, group.reason) == (UNSTABLE, "its program prints two equal results")


@pytest.mark.parametrize("form", ["plain", "gradient", "unknown shape", "while"])
def test_a_program_has_at_most_15_lines(form):
    program = Program(Node("tf.sqrt({0})", (Node("x"),)), ("float32",), form)
    text = script_of(replace(nan_lost(), program=program.data()))
    compile(text, "program", "exec")
    assert len(text.splitlines()) <= 15


def test_a_search_resumes_and_a_rejected_group_never_comes_back(tmp_path):
    state = State.load(tmp_path)
    state.seed, state.seconds = 7, 30.0
    state.counts["programs"] = 7
    state.add(nan_lost())
    state.checkpoint({("tf.sqrt({0})", "float32", "plain", "plain")}, {("", "tf.sqrt({0})"): 2})
    with (tmp_path / "events.jsonl").open("a") as file:
        file.write('{"group": {"id": "cut')  # the search was killed while it wrote
    again = State.load(tmp_path)
    assert (again.seed, again.seconds, again.counts["programs"], len(again.behaviours)) == (7, 30.0, 7, 1)
    assert again.pairs["", "tf.sqrt({0})"] == 2
    assert vars(again.groups["xla-nan-min"]).keys() == vars(nan_lost()).keys()
    assert again.groups["xla-nan-min"].example.draw[0].tobytes() == nan_lost().example.draw[0].tobytes()
    (tmp_path / "rejected.toml").write_text('[rejected]\n"xla-nan-min" = "documented"\n')
    rejected = State.load(tmp_path)
    assert rejected.groups["xla-nan-min"].state == rejected.add(nan_lost()).state == REJECTED
    assert not any("tf.reduce_min" in line for line in lines(rejected))


def test_a_rejection_needs_a_reason(tmp_path):
    (tmp_path / "rejected.toml").write_text('[rejected]\n"xla-nan-min" = ""\n')
    with pytest.raises(ValueError, match="xla-nan-min: expected a reason"):
        State.load(tmp_path)


def test_the_report_has_a_program_an_issue_and_a_draft(tmp_path):
    state = State.load(tmp_path)
    state.add(nan_lost())
    write_report(state)
    assert "tf.reduce_min(x, 0)" in (tmp_path / "report.md").read_text()
    assert "jit_compile=True" in (tmp_path / "xla-nan-min" / "issue.md").read_text()
    assert "[cause.xla-nan-min]" in (tmp_path / "xla-nan-min" / "known.toml").read_text()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--for", "30"), "expected a time such as 90s, 30m or 2h, got '30'"),
        (("--for", "0m"), "expected a time"),
        (("Maxx",), "no op 'Maxx'"),
        (("--device", "gpu:7"), "device gpu:7 is not there"),
        (("--device", "cpu-1"), "expected TYPE or TYPE:INDEX"),
    ],
)
def test_wrong_arguments_get_one_line(words, says, capsys, tmp_path):
    assert main(["discover", *words, "--dir", str(tmp_path)]) == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line


def test_the_search_names_the_ops_that_nothing_has(tmp_path):
    search = Search(State.load(tmp_path), CPU, tmp_path, types=("Nothing",), settle=False)
    with pytest.raises(LookupError, match="no program and no spec has one of the ops Nothing"):
        search.run(1.0)


class Found(Exception):
    """A search has the group that a test waits for."""


def until_found(sentence):
    if ": xla-nan-min: " in sentence:
        raise Found


@pytest.mark.parametrize(("hidden", "state"), [((), KNOWN), ((LOSES_NAN,), NEW)])
def test_a_search_finds_a_known_difference_and_a_hidden_cause_is_new(tmp_path, hidden, state):
    kept = State.load(tmp_path)
    search = Search(kept, CPU, tmp_path, types=("Min",), hidden=hidden, settle=False, progress=until_found)
    with pytest.raises(Found):
        search.run(600.0)
    assert kept.groups["xla-nan-min"].state == state
    assert recognised(search) == {*hidden}
    assert State.load(tmp_path).seed == kept.seed > 0
