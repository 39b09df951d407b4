"""Files of arrays: a damaged file is refused in a line that names it, or gives the arrays that were saved."""

import pickle
import random
import warnings

import numpy as np
import pytest

from tf_opdiff.checking.array_file import arrays_of, numbers_of
from tf_opdiff.command_line import main

ARRAYS = {"x": np.arange(12, dtype=np.float32).reshape(3, 4), "n": np.int64([1, 2, 3])}
#: Ways to damage a file: `mutated` makes this many files from each valid one.
WAYS = 200


def flipped(data, draw):
    at = draw.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]


def cut(data, draw):
    return data[: draw.randrange(len(data))]


def replaced(data, draw):
    at = draw.randrange(len(data))
    return data[:at] + draw.randbytes(draw.randrange(9)) + data[at + draw.randrange(1, 9) :]


def filled(data, draw):
    at = draw.randrange(len(data))
    return data[:at] + draw.choice([b"\0", b"\xff"]) + data[at + 1 :]


def mutated(data):
    """Damaged files, the same in every run."""
    for number in range(WAYS):
        yield (flipped, cut, replaced, filled)[number % 4](data, random.Random(number))


class Planted:
    """A pickle that says so when it is loaded."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_no_damage_is_a_traceback_or_gives_other_arrays(save, tmp_path):
    path = tmp_path / "x.npz"
    save(path, **ARRAYS)
    refused = 0
    for data in mutated(path.read_bytes()):
        path.write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            reason, arrays = answer(path)
        refused += bool(reason)
        assert not reason or (reason.startswith(f"{path}: ") and "\n" not in reason)
        assert reason or [(a.dtype, a.tolist()) for a in arrays] == [(a.dtype, a.tolist()) for a in ARRAYS.values()]
    assert refused > WAYS / 2


def answer(path):
    """Why a file is refused, and its arrays."""
    try:
        return "", [*arrays_of(path).values()]
    except ValueError as error:
        return str(error), []


def test_an_array_that_damage_hides_is_missed(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, **ARRAYS)
    data = bytearray(path.read_bytes())
    first, second, end = data.find(b"PK\1\2"), data.rfind(b"PK\1\2"), data.rfind(b"PK\5\6")
    data[first + 32 : first + 34] = (end - second).to_bytes(2, "little")  # the comment of the first covers the second
    path.write_bytes(data)
    assert [*np.load(path)] == ["x"]
    with pytest.raises(ValueError, match=r"x.npz: expected .* expected 2 arrays, got 1"):
        arrays_of(path)


def test_a_smaller_shape_is_damage(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, x=np.zeros((900, 100)))
    path.write_bytes(path.read_bytes().replace(b"(900, 100)", b"(100, 100)"))
    assert np.load(path)["x"].shape == (100, 100)
    with pytest.raises(ValueError, match=r"x.npz: expected .* Bad CRC-32"):
        arrays_of(path)


def npy(path):
    np.save(path.with_suffix(".npy"), ARRAYS["x"])
    path.with_suffix(".npy").rename(path)


def objects(path):
    np.savez(path, x=np.array([Planted()], object))


FILES = {
    "a .npy": (npy, "expected a file of np.savez, got a file of np.save;"),
    "a pickle": (lambda path: path.write_bytes(pickle.dumps(Planted())), "expected a file of np.savez, got a pickle,"),
    "an array of pickles": (objects, "expected a file of np.savez (ValueError: Object arrays cannot be loaded"),
    "empty": (lambda path: path.touch(), "expected a file of np.savez, got an empty file"),
    "no array": (lambda path: np.savez(path), "expected arrays"),
    "a folder": (lambda path: path.mkdir(), "there is no such file"),
    "absent": (lambda path: None, "there is no such file"),
}


@pytest.mark.parametrize(("write", "says"), FILES.values(), ids=FILES)
@pytest.mark.parametrize(
    "words", [["check", "absent:f", "--npz"], ["model", "absent:f", "--input"]], ids=lambda w: w[0]
)
def test_a_file_that_holds_no_arrays_is_wrong_usage_and_is_named(write, says, words, tmp_path, capsys):
    path = tmp_path / "x.npz"
    write(path)
    assert main([*words, str(path)]) == 4
    told = capsys.readouterr().err
    assert told.startswith(f"python -m harness {words[0]}: {path}: {says}") and told.count("\n") == 1


def test_the_inputs_of_a_check_are_numbers(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, words=np.array(["a"]))
    assert [*arrays_of(path)] == ["words"]
    with pytest.raises(ValueError, match=r"x.npz: array 'words': expected inputs of numbers"):
        numbers_of(path)
