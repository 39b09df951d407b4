"""No more servers share an accelerator than there are slots, over real processes."""

import multiprocessing as mp
import os
import time

import pytest

from tf_opdiff.harness.device.processes.locks import Slots, physical
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.tests.patience import PATIENCE

GPU = Device("gpu", 0)
_context = mp.get_context("spawn")


def _hold(folder, limit, connection):
    slots = Slots([GPU], limit=limit, folder=folder)
    slots.acquire()
    connection.send("held")
    given = False
    while not given:
        connection.recv()
        given = slots.release_if_wanted()
        connection.send(given)
    connection.recv()


@pytest.fixture
def holder(tmp_path):
    """holder(limit) → a connection to a process that takes a slot, and the process."""
    started = []

    def start(limit):
        ours, theirs = _context.Pipe()
        process = _context.Process(target=_hold, args=(tmp_path, limit, theirs), daemon=True)
        process.start()
        theirs.close()
        started.append(process)
        return ours, process

    yield start
    for process in started:
        process.kill()
        process.join()


def test_a_slot_that_is_taken_is_waited_for_and_handed_over(holder):
    first, _ = holder(1)
    assert first.recv() == "held"
    second, _ = holder(1)
    given, deadline = False, time.monotonic() + PATIENCE
    while not given and time.monotonic() < deadline:  # until the second has come as far as waiting
        assert not second.poll(0.1), "two servers hold the only slot"
        first.send("give way if another waits")
        given = first.recv()
    assert given
    assert second.poll(PATIENCE)


def test_a_slot_is_kept_where_nobody_waits(holder):
    first, _ = holder(1)
    assert first.recv() == "held"
    first.send("give way if another waits")
    assert first.recv() is False


def test_as_many_hold_a_slot_as_there_are(holder):
    one, two = holder(2), holder(2)
    assert one[0].poll(PATIENCE)
    assert two[0].poll(PATIENCE)


def test_the_slot_of_a_killed_holder_is_free(holder):
    first, process = holder(1)
    assert first.recv() == "held"
    process.kill()
    second, _ = holder(1)
    assert second.poll(PATIENCE)


@pytest.mark.parametrize(
    ("visible", "index", "name"),
    [(None, 1, "gpu-1"), ("", 0, "gpu-0"), ("3,5", 1, "gpu-5"), ("GPU-8a2c", 0, "gpu-GPU-8a2c")],
)
def test_a_gpu_is_known_by_what_the_outer_variable_makes_visible(monkeypatch, visible, index, name):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert physical(Device("gpu", index)) == name


def test_a_cpu_needs_no_slot(tmp_path):
    slots = Slots([Device("cpu")], limit=0, folder=tmp_path)
    slots.acquire()
    assert list(tmp_path.iterdir()) == []


def linked(path):
    path.with_name("elsewhere").mkdir()
    path.symlink_to("elsewhere")


def writable(path):
    path.mkdir()
    path.chmod(0o770)


def foreign(path):
    path.mkdir(mode=0o700)
    os.chown(path, 12345, -1)


@pytest.mark.parametrize("made", [linked, writable, foreign, lambda path: path.write_text("")])
def test_slots_are_not_kept_where_somebody_else_could_have_a_hand_in_them(tmp_path, made):
    folder = tmp_path / "slots"
    try:
        made(folder)
    except PermissionError:
        pytest.skip("only root can give a folder away")
    with pytest.raises(RuntimeError, match="slots: expected a folder"):
        Slots([GPU], folder=folder)
    assert [path.name for path in folder.resolve().parent.iterdir() if path.name not in ("slots", "elsewhere")] == []


def test_a_folder_that_changes_hands_while_slots_are_used_is_refused(tmp_path):
    folder = tmp_path / "slots"
    slots = Slots([GPU], folder=folder)
    folder.rmdir()
    linked(folder)
    with pytest.raises(RuntimeError, match="expected a folder"):
        slots.acquire()
    assert list((tmp_path / "elsewhere").iterdir()) == []
