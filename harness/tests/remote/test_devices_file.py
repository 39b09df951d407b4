"""The file of devices, and the names of devices whose servers it has."""

import pytest

from tf_opdiff.harness.judge.known_failures.known import Entry, Known
from tf_opdiff.harness.remote.devices_file import read
from tf_opdiff.harness.spec.plan import Device

SERVERS = ("tf218", "gpubox", "big-box")


@pytest.fixture
def written(tmp_path):
    """written(text) → the path of a file of devices with this text."""

    def write(text):
        path = tmp_path / "devices.toml"
        path.write_text(text)
        return path

    return write


def test_a_table_has_the_words_of_its_command(written):
    servers = read(
        written('[devices.tf218]\ncommand = ["a b", "c"]\n[devices.gpubox]\ncommand = ["d"]\nstart_timeout = 9\n')
    )
    assert [(name, s.command, s.start_timeout) for name, s in servers.items()] == [
        ("tf218", ("a b", "c"), 180),
        ("gpubox", ("d",), 9),
    ]


WRONG = {
    "[devices.x]": "[devices.x]: Object missing required field command",
    '[devices.x]\ncommand = "python"': "[devices.x]: $.command: Expected array, got str",
    "[devices.x]\ncommand = []": "[devices.x]: $.command: Expected array of length >= 1",
    '[devices.x]\ncommand = [""]': "[devices.x]: $.command[0]: Expected str of length >= 1",
    '[devices.x]\ncommand = ["a"]\nstart_timeout = 0': "[devices.x]: $.start_timeout: Expected float > 0.0",
    '[devices.x]\ncommand = ["a"]\nshell = true': "[devices.x]: Object contains unknown field shell",
    '[device.x]\ncommand = ["a"]': "Object contains unknown field device",
    '[devices.cpu]\ncommand = ["a"]': "[devices.cpu]: expected a name of a-z, 0-9, _ and -",
    '[devices."a/b"]\ncommand = ["a"]': "[devices.a/b]: expected a name of a-z, 0-9, _ and -",
    "[devices": "expected a file of devices in TOML (",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_malformed_file_is_refused_in_one_line_with_the_field(written, text):
    path = written(text)
    with pytest.raises(ValueError, match=r"devices\.toml: ") as error:
        read(path)
    assert str(error.value).startswith(f"{path}: {WRONG[text]}") and "\n" not in str(error.value)


def test_an_absent_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"expected a file of devices in TOML \(.*No such file"):
        read(tmp_path / "devices.toml")


NAMES = {
    "tf218": Device("cpu", server="tf218"),
    "tf218+noonednn+threads=2": Device("cpu", variants=("noonednn", "threads=2"), server="tf218"),
    "tf218:cpu:1": Device("cpu", 1, server="tf218"),
    "gpubox:gpu:0": Device("gpu", server="gpubox"),
    "gpubox:gpu:1+tf32": Device("gpu", 1, ("tf32",), server="gpubox"),
    "big-box:toy:0": Device("toy", server="big-box"),
    "gpu:0": Device("gpu"),
    "cpu+noonednn": Device("cpu", variants=("noonednn",)),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_device_has_the_name_that_the_user_gave_it(name):
    assert Device.parse(name, SERVERS) == NAMES[name]
    assert str(NAMES[name]) == name
    assert NAMES[name].local == (not NAMES[name].server)


@pytest.mark.parametrize(
    "name", ["nobox:gpu:0", "gpubox:gpu:x", "gpubox:", "gpubox+nothing", "gpubox:cpu+tf32", "tf218 x"]
)
def test_another_name_is_refused(name):
    with pytest.raises(ValueError, match=r"^device '|^no variant"):
        Device.parse(name, SERVERS)


def test_a_name_with_an_unknown_server_is_refused_with_the_servers_that_there_are():
    with pytest.raises(ValueError, match=r"^device 'nobox:gpu:0': .*; servers in the file of devices: tf218, "):
        Device.parse("nobox:gpu:0", SERVERS)
    with pytest.raises(ValueError, match=r"servers in the file of devices: none$"):
        Device.parse("nobox:gpu:0")


def test_known_failures_select_a_remote_device_by_its_type_and_traits():
    facts = {"server": "gpubox", "device": "gpu:0", "traits": "arm64"}
    place = {"spec": "s", "dtype": "float32", "attrs": "", "recipe": "r", "device": "gpubox:gpu:0", "mode": "eager"}

    def entries(**selectors):
        entry = Entry(spec="s", kind="value", cause=None, **selectors)
        return Known((entry,)).on({"gpubox:gpu:0": facts}).about(place, "2.18.1")

    assert entries(device="gpu", trait="arm64", tf="<2.19")
    assert entries(device="gpubox:gpu:0")
    assert not entries(device="cpu")
    assert not entries(trait="avx2")
    assert not entries(tf=">=2.19")
