"""A device server frees the programs that it no longer needs, and does not walk what stays at each collection."""

import gc
import weakref

import pytest

from tf_opdiff.harness.device.programs.garbage import Collector


class Node:
    """A link of a cycle."""


def cycle():
    node = Node()
    node.itself = node
    return node


@pytest.fixture(autouse=True)
def _leave_nothing_frozen():
    yield
    gc.unfreeze()


def test_a_cycle_that_was_dropped_since_the_last_collection_is_freed():
    collector = Collector()
    collector.collect()
    node = weakref.ref(cycle())
    assert node() is not None
    collector.collect()
    assert node() is None


def test_objects_that_stay_are_not_walked_again():
    collector, node = Collector(), cycle()
    collector.collect()
    assert not any(thing is node for thing in gc.get_objects())


def test_a_cycle_that_was_dropped_later_is_freed_by_the_next_whole_collection():
    collector, node = Collector(whole=3), cycle()
    collector.collect()
    dropped = weakref.ref(node)
    del node
    collector.collect()
    assert dropped() is not None
    collector.collect()
    assert dropped() is None


def test_a_device_server_frees_the_graphs_of_one_program_before_the_next(run_module):
    records = run_module("tf_opdiff.harness.tests.planted_servers.planted_graphs", modes=("function", "graph"))
    assert len({(r.dtype, r.mode) for r in records}) == 6
    assert {r.verdict for r in records} == {"match"}, [r.got for r in records]
