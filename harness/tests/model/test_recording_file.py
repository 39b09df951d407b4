"""A recording of a program's ops can be replayed elsewhere; a file that is none is refused in one line."""

import zipfile
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tf_opdiff.model.recordings.recorded import RecordedOp, Recording
from tf_opdiff.model.recordings.recording_file import About, read_recording, write_recording
from tf_opdiff.model.recordings.values import ValueReader, ValueWriter
from tf_opdiff.model.request import ModelRequest


@pytest.fixture(scope="module")
def recordings():
    """The recordings of planted programs, by name; each is made when a test first asks for it."""
    return {}


@pytest.fixture
def recorded(run, recordings, tmp_path):
    """recorded(NAME) → the file of a recording of a planted program, which the test may change."""

    def record(name):
        file = tmp_path / "ops.recording"
        if name not in recordings:
            run(f"planted_programs:{name}", "--mode", "function", "--record", str(file))
            recordings[name] = file.read_bytes()
        file.write_bytes(recordings[name])
        return file

    return record


def request(tmp_path, name):
    return ModelRequest(str(Path(__file__).parent), "planted_programs", name, str(tmp_path / "x.npz"))


def with_other_outputs(file, tmp_path, kind):
    """Rewrites a recording so that the outputs of the ops of a type are half as large, as another TensorFlow's."""
    asked = request(tmp_path, "masked_root")
    recording, about = read_recording(file, asked, tmp_path / "old.values")
    wrong = {v for op in recording.ops if op.type == kind for v in op.outputs}
    read, writer = ValueReader(recording.file), ValueWriter(tmp_path / "new.values")
    values = []
    for number, stored in enumerate(recording.values):
        array = read(stored) if stored else None
        values.append(stored and writer.add(array / np.float32(2) if number in wrong else array))
    writer.close()
    changed = replace(recording, values=tuple(values), file=tmp_path / "new.values")
    write_recording(file, changed, msgspec.structs.replace(about, tf="2.99.0", machine="elsewhere"))


def test_a_recording_of_this_machine_has_the_same_bits_here(recorded, run, capsys):
    file = recorded("masked_root")
    capsys.readouterr()
    assert run("planted_programs:masked_root", "--mode", "eager", "--against", str(file)) == 0
    assert "No difference: every result has the same bits." in capsys.readouterr().out


def test_the_op_that_differs_from_a_recording_of_another_tensorflow_is_named(recorded, run, capsys, tmp_path):
    file = recorded("masked_root")
    with_other_outputs(file, tmp_path, "Sqrt")
    capsys.readouterr()
    assert run("planted_programs:masked_root", "--mode", "eager", "--against", str(file)) == 1
    says = capsys.readouterr().out
    assert "cpu/eager against cpu/eager of TensorFlow 2.99.0 on elsewhere: An op differs alone." in says
    assert "of 19, Sqrt (planted_programs.py:" in says
    assert "setting: none of the 2 that were tried" in says


def test_an_op_of_another_mode_is_compared_with_the_recording(recorded, run, capsys):
    file = recorded("masked_root")
    assert run("planted_programs:masked_root", "--mode", "xla", "--against", str(file)) == 1
    assert "SqrtGrad, in the gradient of Sqrt (planted_programs.py:" in capsys.readouterr().out


def test_what_is_written_is_what_is_read(recorded, tmp_path):
    recording, about = read_recording(recorded("network"), request(tmp_path, "network"), tmp_path / "a")
    write_recording(tmp_path / "again", recording, about)
    again, same = read_recording(tmp_path / "again", request(tmp_path, "network"), tmp_path / "b")
    assert (again.ops, again.values, same) == (recording.ops, recording.values, about)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def rewritten(file, name, change):
    """Changes a member of an archive."""
    with zipfile.ZipFile(file) as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    with zipfile.ZipFile(file, "w") as archive:
        for each, data in members.items():
            archive.writestr(each, change(data) if each == name else data)


def flip(file):
    data = bytearray(file.read_bytes())
    data[data.index(b"values") + 100] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda file: file.write_bytes(file.read_bytes()[:-100]), "expected a recording of format 1"),
        (lambda file: file.write_bytes(b"no archive"), "expected a recording of format 1"),
        (flip, "expected a recording of format 1"),
        (lambda file: rewritten(file, "ops.msgpack", lambda data: data[:50]), "expected a recording of format 1"),
        (lambda file: rewritten(file, "values", lambda data: data[:64]), "damaged: value"),
        (lambda file: rewritten(file, "about.json", lambda d: d.replace(b'"format":1', b'"format":2')), "got 2"),
        (lambda file: rewritten(file, "about.json", lambda d: d.replace(b":clean", b":other")), "got one of"),
        (
            lambda file: rewritten(file, "about.json", lambda d: d.replace(b'"inputs":"', b'"inputs":"0')),
            "other inputs",
        ),
        (lambda file: file.unlink(), "No such file"),
    ],
    ids=["cut", "no-archive", "flipped", "ops", "values", "format", "program", "inputs", "absent"],
)
def test_a_file_that_is_no_recording_of_the_program_is_refused_in_one_line(tmp_path, change, says):
    np.savez(tmp_path / "x.npz", x=np.float32([1]))
    writer = ValueWriter(tmp_path / "values")
    stored = writer.add(np.arange(1000.0))
    writer.close()
    recording = recording_of_one_value(stored, tmp_path / "values")
    asked = request(tmp_path, "clean")
    write_recording(tmp_path / "r", recording, About.here(asked, "2.21.0"))
    assert read_recording(tmp_path / "r", asked, tmp_path / "copy")[0].values == (stored,)
    change(tmp_path / "r")
    with pytest.raises(ValueError, match=says) as error:
        read_recording(tmp_path / "r", asked, tmp_path / "copy")
    assert "\n" not in str(error.value)


def recording_of_one_value(stored, file):
    op = RecordedOp(number=0, type="Neg", attrs=(("T", b"float"),), inputs=(0,), outputs=(0,))
    return Recording((op,), (stored,), file, frozenset({0}), 1.0, 1.0)
