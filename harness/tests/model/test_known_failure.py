"""An answer says whether the difference of the named ops is known, expected or new."""

import numpy as np
import pytest

from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.model.answers.answer import lines
from tf_opdiff.model.answers.known_failure import op_words, with_known

XLA = Plan(Device("cpu"), "xla")


@pytest.mark.parametrize(
    ("name", "cause", "says"),
    [
        ("masked_root", "xla-gradient-of-dead-side", "(https://github.com/tensorflow/tensorflow/issues/118674); "),
        ("log_of_exp", "xla-log-of-exp", "known: Under XLA, `tf.math.log` of `tf.exp` returns its argument ("),
        ("random_float16", "xla-generator-float16-crash", "ends the process"),
    ],
)
def test_a_known_failure_is_named_with_its_evidence(answer_of, name, cause, says):
    recording, answer = answer_of(name)
    known = with_known(answer, XLA, recording, "2.21.0")
    assert known.causes[0] == cause
    assert says in "\n".join(lines(known, recording))
    new = with_known(answer, XLA, recording, "1.15")
    assert not new.causes, "the entries are about later versions"
    assert "  new: no known failure that names " in "\n".join(lines(new, recording))


def test_a_difference_within_the_budgets_is_expected(answer_of):
    recording, answer = answer_of("amplified", x=np.linspace(4, 9, 1000, dtype=np.float32))
    assert with_known(answer, XLA, recording, "2.21.0").known == "expected: each op is within its budget"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tf.math.log(tf.exp(x))", ("exp", "log")),
        ("(x + 1e6) - 1e6", ("addv2", "sub")),
        ("-x * tf.math.log1p(y) / 2.0", ("log1p", "mul", "neg", "realdiv")),
        ("tf.equal(x < y, True)", ("", "equal")),
        ("ii->i", ()),
    ],
)
def test_the_text_of_a_program_names_its_ops(text, words):
    assert op_words(text) == words
