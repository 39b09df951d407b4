"""A file cache: whole files or none, bounded in bytes, and safe with many writers."""

import multiprocessing
import os

import pytest

from tf_opdiff.harness.system.file_cache import LARGEST, FileCache


def used(path, seconds):
    os.utime(path, (seconds, seconds))


def test_content_comes_back_under_its_key_only(tmp_path):
    cache = FileCache(tmp_path / "cache")
    assert cache.get("a") is None
    cache.put("a", b"content")
    assert FileCache(tmp_path / "cache").get("a") == b"content"
    assert cache.get("b") is None


@pytest.mark.parametrize(
    "damage", [lambda d: d[:-1], lambda d: b"", lambda d: d[:20] + b"X" + d[21:], lambda d: d + b"+"]
)
def test_a_damaged_file_is_a_miss_and_is_deleted(tmp_path, damage):
    cache = FileCache(tmp_path)
    cache.put("a", b"some content")
    path = tmp_path / "a"
    path.write_bytes(damage(path.read_bytes()))
    assert cache.get("a") is None
    assert not path.exists()


def test_a_file_under_another_name_is_a_miss(tmp_path):
    cache = FileCache(tmp_path)
    cache.put("a", b"content")
    (tmp_path / "a").rename(tmp_path / "b")
    assert cache.get("b") is None


def test_the_bound_holds_while_writing_and_the_files_unused_for_longest_go_first(tmp_path):
    cache = FileCache(tmp_path, limit=10_000)
    for i in range(9):
        cache.put(f"{i}", bytes(1000))
        used(tmp_path / f"{i}", 1000 + i)
    assert cache.get("0") == bytes(1000)  # a use: now it is the youngest
    for i in range(9, 15):
        cache.put(f"{i}", bytes(1000))
    cache.prune()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 10_000
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"0", *(str(i) for i in range(7, 15))}


def test_writers_prune_by_themselves(tmp_path):
    cache = FileCache(tmp_path, limit=10_000)
    for i in range(100):
        cache.put(f"{i}", bytes(1000))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 11_100


def test_files_that_a_killed_writer_left_behind_are_deleted_and_those_of_a_living_one_are_not(tmp_path):
    cache = FileCache(tmp_path)
    for name in ("a.1.new", "b.2.new"):
        (tmp_path / name).write_bytes(b"half")
    used(tmp_path / "a.1.new", 1000)
    cache.prune()
    assert {path.name for path in tmp_path.iterdir()} == {"b.2.new"}


def test_content_that_is_too_large_is_not_stored(tmp_path):
    cache = FileCache(tmp_path)
    cache.put("a", bytes(LARGEST + 1))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "make", [lambda path: path.write_text("no folder"), lambda path: path.symlink_to("/proc/none")]
)
def test_a_folder_that_cannot_be_used_means_misses(tmp_path, make):
    make(tmp_path / "cache")
    cache = FileCache(tmp_path / "cache", limit=10)
    cache.put("a", b"content")
    cache.prune()
    cache.drop("a")
    assert cache.get("a") is None


def _write_and_read(folder, number):
    cache = FileCache(folder, limit=60_000)
    for turn in range(300):
        key = str(turn % 20)
        cache.put(key, key.encode() * 2000 + bytes([number]))
        content = cache.get(key)
        assert content is None or content[:-1] == key.encode() * 2000


def test_many_writers_at_once_leave_no_torn_file(tmp_path):
    processes = [
        multiprocessing.get_context("fork").Process(target=_write_and_read, args=(tmp_path, i)) for i in range(6)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 6
    assert not list(tmp_path.glob("*.new"))
