"""`os._exit` of somebody's module raises, and works again afterwards and in child processes."""

import os

import pytest

from tf_opdiff.harness.system.sudden_exit import SuddenExit, sudden_exit_raises


def test_a_sudden_exit_raises_and_the_real_one_comes_back():
    real = os._exit
    with pytest.raises(SuddenExit, match=r"os\._exit\(3\)"), sudden_exit_raises():
        os._exit(3)
    assert os._exit is real


def test_a_child_process_can_end_at_once():
    with sudden_exit_raises():
        child = os.fork()
        if not child:
            os._exit(7)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 7
