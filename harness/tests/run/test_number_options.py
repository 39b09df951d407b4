"""Options refuse numbers that make no sense, in one line, with the status of wrong usage."""

import argparse
from importlib import import_module

import pytest

from tf_opdiff.command_line import main
from tf_opdiff.harness.run import plugin
from tf_opdiff.harness.run.options import OPTIONS
from tf_opdiff.harness.system.number_argument import SECONDS, Number
from tf_opdiff.verbs import VERBS

#: Words behind an option's name that say that its value is a number.
METAVARS = ("N", "S", "ULP")


def actions(verb):
    parser = argparse.ArgumentParser(add_help=False)
    import_module(VERBS[verb].module).add_options(parser)
    return parser._actions


EVERY = [(verb, action) for verb in VERBS for action in actions(verb)]
NUMBERS = [(verb, action) for verb, action in EVERY if isinstance(action.type, Number)]


def senseless(number):
    """Texts that are no such number; of zero and fractions, where the limits leave them out."""
    texts = ["-1", "nan", "inf", "-inf", "1e300", "much", "", "9" * 400]
    return [*texts, *(["0"] if number.least > 0 else []), *(["1.5"] if number.whole else [])]


@pytest.mark.parametrize(("verb", "action"), EVERY, ids=lambda x: x if isinstance(x, str) else x.dest)
def test_an_option_with_a_number_has_limits(verb, action):
    plain = action.type in (int, float) or (type(action.default) in (int, float))
    assert isinstance(action.type, Number) or not (plain or action.metavar in METAVARS)


def test_the_numeric_options_of_the_verbs_are_there():
    assert {action.option_strings[0] for _, action in NUMBERS} >= {
        *("--every", "--workers", "--search", "--op-timeout", "--timeout", "--steps", "--ulp"),
        *("--top", "--last", "--most", "--port", "--num-cpus"),
    }


@pytest.mark.parametrize(
    ("verb", "flag", "text"),
    [(verb, a.option_strings[0], text) for verb, a in NUMBERS for text in senseless(a.type)],
)
def test_a_verb_refuses_a_number_that_makes_no_sense(verb, flag, text, capsys):
    assert main([verb, f"{flag}={text}"]) == 4
    told = capsys.readouterr()
    assert f"argument {flag}: expected a " in told.err and repr(text) in told.err
    assert told.err.count("\n") == 1 and not told.out


@pytest.mark.parametrize(
    ("flag", "text"),
    [(o.flag, t) for o in OPTIONS if isinstance(n := o.settings.get("type"), Number) for t in senseless(n)],
)
def test_pytest_refuses_a_number_that_makes_no_sense(flag, text):
    parser = pytest.Parser(_ispytest=True)
    plugin.pytest_addoption(parser)
    with pytest.raises(pytest.UsageError, match=rf"error: argument {flag}: expected a (whole )?number of [^\n]*$"):
        parser.parse([f"{flag}={text}"])


def test_a_senseless_time_limit_ends_pytest_with_the_status_of_wrong_usage(run_pytest):
    outcome = run_pytest("--op", "right", "--op-timeout", "nan")
    assert outcome.status == 4
    assert "argument --op-timeout: expected a number of seconds from 0.001 to 1,000,000, got 'nan'" in outcome.output
    assert "Traceback" not in outcome.output and not outcome.directory.exists()


@pytest.mark.parametrize(("text", "value"), [("0.5", 0.5), ("1e3", 1000.0), ("120", 120.0)])
def test_a_number_within_its_limits_is_read(text, value):
    assert SECONDS(text) == value


def test_a_whole_number_is_an_integer():
    value = Number("rows", 0, 9)("7")
    assert value == 7 and isinstance(value, int)
