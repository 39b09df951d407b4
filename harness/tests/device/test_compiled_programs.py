"""Programs that XLA compiled are kept between servers: the same bits, and a damaged file costs a compilation only."""

from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from tf_opdiff.harness.device.observation import unpack
from tf_opdiff.harness.device.programs.compiled_programs import _PARTS, FLAGS, CompiledPrograms, circumstances
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.system.file_cache import FileCache

SUITE = "tf_opdiff.harness.tests.planted_servers.planted_first_xla"


def values(outcome):
    """Case and quantity → the bytes of the result; None for an error."""
    results = {}
    for (case, _, _), line in outcome.merged.results.items():
        for quantity, result in line["observation"]["quantities"].items():
            value = unpack(result.get("value"))
            results[case, quantity] = None if value is None else value.tobytes()
    return results


def verdicts(outcome):
    return sorted((r.case, r.quantity, r.against, r.verdict, r.kind) for r in outcome.merged.records)


def test_loaded_programs_give_the_bits_of_fresh_ones_and_damaged_files_are_compiled_again(run_pytest, tmp_path):
    def run(*options):
        env = {"TF_OPDIFF_CACHE": str(tmp_path)}
        return run_pytest("--device", "cpu", "--mode", "xla", "--repro=none", *options, suites=SUITE, shared_env=env)

    fresh = run()
    assert not (tmp_path / "xla").exists()
    first = run("--xla-cache")
    files = {path: path.read_bytes() for path in (tmp_path / "xla").iterdir()}
    assert files, "TensorFlow ignores the folder"
    second = run("--xla-cache")
    for path, content in files.items():
        path.write_bytes(content[:-9] + b"\0" + content[-8:])
    third = run("--xla-cache")
    outcomes = [fresh, first, second, third]
    assert [values(outcome) == values(fresh) for outcome in outcomes] == [True] * 4
    assert [verdicts(outcome) == verdicts(fresh) for outcome in outcomes] == [True] * 4
    assert sum(value is not None for value in values(fresh).values()) >= 4
    inodes = {path: path.stat().st_ino for path in (tmp_path / "xla").iterdir()}
    assert inodes.keys() == files.keys()
    alone = run("--xla-cache", "--op", "cc-tanh")
    now = {path: path.stat().st_ino for path in (tmp_path / "xla").iterdir()}
    assert now == inodes, "the names of programs depend on other programs"
    assert values(alone).items() <= values(fresh).items()
    cache = FileCache(tmp_path / "xla")
    for path in files:  # with a right checksum
        cache.put(path.name, msgspec.msgpack.encode(dict.fromkeys(msgspec.msgpack.decode(cache.get(path.name)), b"")))
    misled = run("--xla-cache", "--op", "cc-tanh")
    assert None in values(misled).values(), "TensorFlow does not load the programs"
    assert "programs that XLA compiled" not in RunInfo.load(fresh.directory).cache
    assert RunInfo.load(first.directory).cache["programs that XLA compiled"] == "on"


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """programs() → the compiled programs of another server, over the same files; with its folder."""
    monkeypatch.setenv(FLAGS, "")

    def of_server(words="one"):
        server = CompiledPrograms(words, FileCache(tmp_path / "files"))
        return server, server._folder

    return of_server


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_server_loads_the_programs_of_its_subject_and_circumstances_only(programs):
    server, folder = programs()
    server.enter(["exp", "float32"])
    (folder / "a.pb").write_bytes(b"a")
    server.keep()
    (folder / "b.pb").write_bytes(b"b")
    server.keep()
    server.enter(["exp", "float16"])
    assert names(folder) == []
    other, elsewhere = programs()
    other.enter(["exp", "float32"])
    assert {path.name: path.read_bytes() for path in elsewhere.iterdir()} == {"a.pb": b"a", "b.pb": b"b"}
    changed, third = programs("two")
    changed.enter(["exp", "float32"])
    assert names(third) == []


def test_many_servers_share_the_files_and_see_whole_programs_only(programs):
    content = bytes(range(256)) * 400

    def compile_often(_):
        server, folder = programs()
        for number in range(40):
            server.enter([f"spec{number % 4}"])
            assert all(path.read_bytes() == content for path in folder.iterdir())
            (folder / f"{number % 4}.pb").write_bytes(content)
            server.keep()
        return True

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(compile_often, range(6)))


def test_programs_of_a_subject_that_changes_for_ever_are_dropped(programs):
    server, folder = programs()
    server.enter(["exp"])
    for number in range(_PARTS + 1):
        (folder / f"{number}.pb").write_bytes(b"x")
        server.keep()
    other, elsewhere = programs()
    other.enter(["exp"])
    assert names(elsewhere) == [f"{_PARTS}.pb"]


def test_circumstances_are_tensorflows_files_flags_and_variants(tmp_path, monkeypatch):
    package = tmp_path / "tensorflow"
    package.mkdir()
    library = package / "libtensorflow_cc.so.2"
    library.write_text("one")
    texts = [circumstances(str(package / "__init__.py"), variants) for variants in ((), ("threads=3",))]
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_max_isa=AVX2")
    texts.append(circumstances(str(package / "__init__.py"), ()))
    library.write_text("another")
    texts.append(circumstances(str(package / "__init__.py"), ()))
    assert len(set(texts)) == 4
    monkeypatch.setenv("TF_OPDIFF_SCRATCH", "another in each run")
    assert circumstances(str(package / "__init__.py"), ()) == texts[-1]
