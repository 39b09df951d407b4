"""A process in an emulator knows it, although `/proc/cpuinfo` is the host's."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.system import emulator, processor
from tf_opdiff.harness.tests.patience import PATIENCE
from tf_opdiff.harness.tests.system.test_processor import ARM, X86

COMMAND = ("qemu-aarch64-static", "-cpu", "max", "-L", "/sysroot", "/sysroot/python3.11", "program.py", "")
PROGRAM = """
import json
from tf_opdiff.harness.system.processor import processor
print(json.dumps(processor()))
"""


@pytest.fixture
def run_by(monkeypatch, tmp_path):
    """run_by(name, command, version) → this process seems to be run by a program of that name."""

    def run_by(name, command=COMMAND, version="qemu-aarch64 version 7.2.22 (Debian)"):
        program, link, line = tmp_path / name, tmp_path / "exe", tmp_path / "cmdline"
        program.write_text(f"#!/bin/sh\necho '{version}'\n")
        program.chmod(0o755)
        link.symlink_to(program)
        line.write_text("\0".join(command))
        monkeypatch.setattr(emulator, "_PROGRAM", link)
        monkeypatch.setattr(emulator, "_COMMAND", line)
        monkeypatch.delenv("QEMU_CPU", raising=False)
        emulator._version.cache_clear()

    return run_by


def test_qemu_is_named_with_its_version_and_the_processor_that_it_emulates(run_by):
    run_by("qemu-aarch64-static")
    assert str(emulator.emulator(X86)) == "qemu-aarch64 7.2.22 -cpu max"


def test_a_variable_can_name_the_processor_too(run_by, monkeypatch):
    run_by("qemu-x86_64", ("qemu-x86_64", "python", ""), version="")
    assert str(emulator.emulator(X86)) == "qemu-x86_64"
    monkeypatch.setenv("QEMU_CPU", "Skylake-Client")
    assert str(emulator.emulator(X86)) == "qemu-x86_64 -cpu Skylake-Client"


@pytest.mark.parametrize(
    ("machine", "cpuinfo", "emulated"),
    [
        ("aarch64", X86, "an emulator"),
        ("x86_64", ARM, "an emulator"),
        ("aarch64", ARM, "None"),
        ("x86_64", X86, "None"),
        ("riscv64", "isa : rv64gc", "None"),
        ("x86_64", "", "None"),
    ],
)
def test_instruction_sets_of_another_architecture_reveal_an_unknown_emulator(
    run_by, monkeypatch, machine, cpuinfo, emulated
):
    run_by("python3.11")
    monkeypatch.setattr(emulator.platform, "machine", lambda: machine)
    assert str(emulator.emulator(cpuinfo)) == emulated


def test_facts_of_an_emulated_processor_are_not_the_host_s(run_by, monkeypatch, tmp_path):
    run_by("qemu-aarch64-static")
    (tmp_path / "cpuinfo").write_text(X86)
    monkeypatch.setattr(processor, "_CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(processor.platform, "machine", lambda: "aarch64")
    features = {"ASIMD": True, "FPHP": True, "SVE": False, "FMA3": True}
    monkeypatch.setattr(processor._multiarray_umath, "__cpu_features__", features)
    facts = processor.processor()
    assert facts == {
        "processor": "emulated aarch64",
        "model": "",
        "instructions": "FMA NEON FPHP",
        "emulated": "qemu-aarch64 7.2.22 -cpu max",
    }
    assert processor.described(facts) == "emulated aarch64, FMA NEON FPHP, by qemu-aarch64 7.2.22 -cpu max"


@pytest.mark.skipif(not shutil.which("qemu-x86_64-static"), reason="qemu-user-static is not installed")
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="this Python is for another processor")
def test_a_real_emulator_is_noticed():
    command = ["qemu-x86_64-static", "-cpu", "max", "-0", sys.executable, os.path.realpath(sys.executable)]
    done = subprocess.run([*command, "-c", PROGRAM], cwd=ROOT, capture_output=True, check=True, timeout=PATIENCE)
    facts = json.loads(done.stdout)
    assert facts["processor"] == "emulated x86_64"
    assert facts["emulated"].startswith("qemu-x86_64 ")
    assert facts["emulated"].endswith(" -cpu max")
    assert "AVX2" in facts["instructions"]
    assert "AVX512" not in facts["instructions"]  # QEMU has none
