"""The verb `check`: what cannot be checked is wrong usage, in one line; nothing that was not compared is green."""

import re
import sys

import numpy as np
import pytest

from tf_opdiff import check, uniform
from tf_opdiff.command_line import main

MODULES = {
    "ends the process": ("import sys\nsys.exit(0)\n", "importing {} raises SystemExit: 0 ("),
    "ends the process at once": ("import os\nos._exit(0)\n", "importing {} raises SuddenExit: os._exit(0) ("),
    "ends it at once, by name": ("from os import _exit\n_exit(0)\n", "importing {} raises SuddenExit: os._exit(0) ("),
    "raises": ("def f(x):\n    return x\n1 / 0\n", "importing {} raises ZeroDivisionError: division by zero ("),
    "is no Python": ("def f(:\n", "importing {} raises SyntaxError: invalid syntax ("),
    "is absent": (None, "No module named '{}'"),
    "lacks the name": ("", "has no attribute 'f'"),
    "names a number": ("f = 3\n", "expected a callable, got int"),
}


@pytest.fixture
def written(tmp_path, monkeypatch):
    """written(text) → the name of a module with this text in the current folder; None: of none."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    modules = set(sys.modules)

    def write(text):
        name = f"planted_{abs(hash((text, tmp_path)))}"
        if text is not None:
            (tmp_path / f"{name}.py").write_text(text)
        return name

    yield write
    for name in {name for name in sys.modules if name.startswith("planted_")} - modules:
        del sys.modules[name]  # later tests of this process hash the files of all modules


@pytest.mark.parametrize(("text", "says"), MODULES.values(), ids=MODULES)
def test_a_module_that_gives_no_callable_is_wrong_usage(text, says, written, capsys):
    name = written(text)
    assert main(["check", f"{name}:f"]) == 4
    told = capsys.readouterr().err
    assert f"{name}:f: " in told and says.format(name) in told and told.count("\n") == 1
    assert "raises" not in says or f"{name}.py" in told.partition("raises")[2]


def test_the_callable_runs_in_the_environment_that_its_module_sets(written, capsys, monkeypatch):
    monkeypatch.delenv("PLANTED_FACTOR", raising=False)
    name = written(
        "import os\nos.environ['PLANTED_FACTOR'] = '2'\ndef f(x):\n    return x * float(os.environ['PLANTED_FACTOR'])\n"
    )
    assert main(["check", f"{name}:f", "--mode", "eager", "--no-gradient"]) == 0
    assert "comparisons without a difference, on cpu/eager" in capsys.readouterr().out


def test_a_wrong_device_is_refused_before_the_module_is_imported(written, capsys):
    name = written("raise SystemExit('imported')\n")
    assert main(["check", f"{name}:f", "--device", "gpu-0"]) == 4
    assert "device 'gpu-0': expected TYPE or TYPE:INDEX" in capsys.readouterr().err
    assert name not in sys.modules


def constant(x):
    import tensorflow as tf

    return tf.constant([1.0, 2.0]), tf.zeros(x.shape)


def partly_constant(x):
    import tensorflow as tf

    return tf.constant([1.0, 2.0]), x + 1


def constant_of_its_shape(x):
    import tensorflow as tf

    return tf.zeros_like(x)


@pytest.mark.parametrize("reference", [None, lambda x: (x[:2] * 0 + (1.0, 2.0), x * 0)])
def test_a_callable_that_ignores_its_input_is_refused(reference):
    with pytest.raises(ValueError, match=r"^check: constant: no output depends on the input, so no input can show a"):
        check(constant, uniform(-3, 3), devices=["cpu"], reference=reference)


@pytest.mark.parametrize("function", [partly_constant, constant_of_its_shape])
def test_one_output_that_depends_on_the_input_is_enough(function):
    assert check(function, uniform(-3, 3), devices=["cpu"], modes=["eager", "function"]).records


def test_a_callable_that_ends_its_process_is_refused():
    def leaves(x):
        raise SystemExit(0)

    with pytest.raises(ValueError, match=r"leaves fails in eager mode on the CPU: it ends its process"):
        check(leaves, 1.5)


@pytest.mark.parametrize("seconds", [-1, 0, float("nan"), float("inf"), 1e300])
def test_a_senseless_time_limit_is_refused(seconds):
    with pytest.raises(ValueError, match=r"expected a number of seconds from 0\.001"):
        check(constant, 1.5, timeout=seconds)


WRONG = {
    "no input": ((), {}, "expected an input"),
    "no callable": ((None, 1.5), {}, "expected a callable as the first argument, got a NoneType"),
    "swapped": ((np.ones(3), 1.5), {}, "expected a callable as the first argument, got a ndarray"),
    "a device": ((constant, 1.5), {"devices": "cpu"}, "devices: expected a list of names, such as ['cpu'], got"),
    "a mode": ((constant, 1.5), {"modes": "xla"}, "modes: expected a list of names, such as ['xla'], got"),
    "no mode": ((constant, 1.5), {"modes": []}, "modes: expected a mode; without one nothing would be compared"),
    "a text of ULPs": ((constant, 1.5), {"ulp": "a"}, "ulp: expected a number of ULPs, got 'a'"),
}


@pytest.mark.parametrize(("arguments", "options", "says"), WRONG.values(), ids=WRONG)
def test_wrong_arguments_are_refused_in_one_line(arguments, options, says):
    with pytest.raises(TypeError, match=f"^check: {re.escape(says)}[^\n]*$"):
        check(*(arguments or [constant]), **options)


def test_inputs_without_an_element_are_refused():
    with pytest.raises(ValueError, match=r"^check: expected an input with elements"):
        check(constant, np.zeros((0, 3)))


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda x: None, "it returned None; expected a tensor, or a tuple of tensors"),
        (lambda x: {"a": x}, "it returned a dict; expected a tensor, or a tuple of tensors"),
        (lambda x: sys.exit(0), "it ends its process (EXIT 0), as sys.exit does"),
        (lambda x: list(x.shape)[3], "IndexError: list index out of range"),
    ],
    ids=["None", "a dict", "an exit", "an index"],
)
def test_a_callable_that_returns_no_tensor_is_told_what_it_returned(function, says):
    with pytest.raises(ValueError, match=f"fails in eager mode on the CPU: {re.escape(says)};"):
        check(function, 1.5)


@pytest.mark.parametrize(("text", "module"), [("my.py:f", "my:f"), ("./my.py", "my:NAME"), ("a/my.py:f", "a.my:f")])
def test_the_path_of_a_file_is_no_module(text, module, capsys):
    assert main(["check", text]) == 4
    assert f"expected MODULE:NAME, got a file; try {module}\n" in capsys.readouterr().err
