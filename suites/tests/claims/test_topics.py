"""Every topic says what its origin says and what to do instead, and its program for readers runs as it is."""

import codeop
import json

import pytest

from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.tests.forked_python import forked_python

SPECS = Catalog.load("tf_opdiff.suites.claims").specs.values()
TOPICS = {claim.topic.id: claim.topic for spec in SPECS for claim in spec.claims}
PRINTS = "# Prints:\n"


def promised_by(file):
    """The lines that a program says it prints, in the comment at its end."""
    lines = file.read_text().partition(PRINTS)[2].splitlines()
    return "".join(line.removeprefix("# ") + "\n" for line in lines)


@pytest.mark.parametrize("topic", TOPICS.values(), ids=TOPICS)
def test_a_topic_is_complete(topic):
    assert all((topic.says, topic.post, topic.today, topic.instead, topic.origin))
    assert topic.origin.startswith(("a post", "an answer", "posts", "answers", "course slides", "documentation"))
    assert max(map(len, topic.post.splitlines())) <= 54, "the page shows it beside the text"
    assert topic.paste.parent.name.partition("_")[0] == topic.id.lower()
    text = topic.paste.read_text()
    assert promised_by(topic.paste)
    assert "tf_opdiff" not in text and "compat.v1" not in text


def first_that_python_refuses(text):
    """The first lines that interactive Python does not accept, pasted one after the other; empty if it accepts all."""
    compiled, waiting = codeop.CommandCompiler(), []
    for line in text.splitlines():
        waiting.append(line)
        try:
            if compiled("\n".join(waiting), symbol="single"):
                waiting = []
        except SyntaxError:
            break
    return "\n".join(waiting)


@pytest.mark.parametrize("topic", TOPICS.values(), ids=TOPICS)
def test_interactive_python_accepts_a_program_line_by_line(topic):
    assert not first_that_python_refuses(topic.paste.read_text())


def test_interactive_python_refuses_a_block_that_no_empty_line_ends():
    assert first_that_python_refuses("for i in range(2):\n    pass\nprint(i)\n").endswith("print(i)")


def printed_by(*files, options=()):
    """What programs print, and their exit statuses, each in a process of its own; see `pasted_programs`."""
    ended = forked_python("-m", "tf_opdiff.suites.tests.claims.pasted_programs", *options, *map(str, files))
    assert not ended.returncode, ended.stderr[-3000:]
    return json.loads(ended.stdout.splitlines()[-1])


def test_every_program_prints_what_it_says():
    printed = printed_by(*(topic.paste for topic in TOPICS.values()))
    expected = {str(topic.paste): [promised_by(topic.paste), 0] for topic in TOPICS.values()}
    assert printed == expected


def test_programs_with_traced_functions_print_the_same_at_a_prompt():
    """Python has no source of what is typed in, so that AutoGraph cannot convert it."""
    pastes = [topic.paste for topic in TOPICS.values() if "tf.function" in topic.paste.read_text()]
    assert len(pastes) > 5
    printed = printed_by(*pastes, options=["--prompt"])
    assert printed == {str(paste): [promised_by(paste), 0] for paste in pastes}


def test_a_program_that_needs_its_source_fails_at_a_prompt(tmp_path):
    lines = ("import tensorflow as tf", "", "", "@tf.function", "def size(x):", "    return len(x)", "", "")
    program = tmp_path / "size.py"
    program.write_text("\n".join((*lines, "print(size(tf.constant([1, 2])).numpy())", "")))
    assert printed_by(program) == {str(program): ["2\n", 0]}
    assert printed_by(program, options=["--prompt"]) == {str(program): ["", 1]}


def test_the_program_of_the_post_on_assigned_results_runs_as_the_page_shows_it(tmp_path):
    program = tmp_path / "post.py"
    program.write_text("import tensorflow as tf\n\n" + TOPICS["C14"].post)
    assert printed_by(program) == {str(program): ["None\n", 0]}


def test_a_program_that_fails_is_seen_to_fail(tmp_path):
    broken, other = tmp_path / "broken.py", tmp_path / "other.py"
    broken.write_text('print("first")\nraise SystemExit(3)\n')
    other.write_text("import tensorflow as tf\n\nprint(tf.square(3).numpy())\n# Prints:\n# 10\n")
    assert printed_by(broken, other) == {str(broken): ["first\n", 1], str(other): ["9\n", 0]}
