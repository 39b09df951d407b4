"""One process with TensorFlow, and one with a planted fault, for all tests of a module."""

import pytest

from tf_opdiff.discover.budgets import WordBudgets
from tf_opdiff.discover.judging import Judge
from tf_opdiff.discover.programs.vocabulary import WORDS
from tf_opdiff.discover.settling import SERVER
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.model.worker import Worker

PLANTED = "tf_opdiff.harness.tests.discover.planted_server:PlantedServer"


def _worker(server, folder):
    return Worker(Device("cpu"), folder / "log", 300.0, server=server)


@pytest.fixture(scope="module")
def worker(tmp_path_factory):
    with _worker(SERVER, tmp_path_factory.mktemp("plain")) as made:
        yield made


@pytest.fixture(scope="module")
def budgets(worker):
    return WordBudgets.of(worker, WORDS)


@pytest.fixture(scope="module")
def judge(worker, budgets):
    return Judge(worker, budgets)


@pytest.fixture(scope="module")
def planted_judge(budgets, tmp_path_factory):
    with _worker(PLANTED, tmp_path_factory.mktemp("planted")) as made:
        yield Judge(made, budgets)
