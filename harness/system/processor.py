"""Processor: this machine's CPU: its name, its model, and the instruction sets on which numerics depend."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

from tf_opdiff.harness.system.emulator import emulator

_CPUINFO = Path("/proc/cpuinfo")
#: Vector width, fused multiply-add, 16-bit floats and matrix tiles, as Linux names them: kernels and compilers choose
#: between these at run time. https://www.kernel.org/doc/html/latest/arch/x86/cpuinfo.html
_X86 = (
    *("avx", "f16c", "fma", "avx2", "avx_vnni", "avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512_vnni"),
    *("avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16", "amx_fp16"),
)
#: https://www.kernel.org/doc/html/latest/arch/arm64/elf_hwcaps.html
_ARM = (
    *("asimd", "fphp", "asimdhp", "asimddp", "asimdfhm", "fcma", "bf16", "i8mm", "sve", "sve2", "svebf16", "svei8mm"),
    *("sme", "sme2"),
)
#: Linux's name of NEON on 64-bit Arm.
_SPOKEN = {"asimd": "NEON"}
#: NumPy's names where they are not Linux's.
_NUMPY = {"FMA3": "FMA", "ASIMD": "NEON"}
_X86_MODEL = {"family": "cpu family", "model": "model", "stepping": "stepping"}
_ARM_MODEL = {name: f"CPU {name}" for name in ("implementer", "part", "variant", "revision")}


def processor() -> dict[str, str]:
    """This machine's `processor` (a name), `model` (numbers) and `instructions` (names of instruction sets).

    They come from `/proc/cpuinfo`. Without that file, the operating system gives the name and NumPy the instruction
    sets that it detects. An unknown value is empty. Under an emulator that file is about another processor: NumPy then
    gives the instruction sets, and `emulated` names the emulator.
    """
    try:
        text = _CPUINFO.read_text()
    except OSError:
        text = ""
    if running := emulator(text):
        name = f"emulated {platform.machine()}"
        return {"processor": name, "model": "", "instructions": _detected(), "emulated": str(running)}
    facts = read(text)
    return {
        "processor": facts.get("processor") or platform.processor() or platform.machine(),
        "model": facts.get("model", ""),
        "instructions": facts.get("instructions") or _instructions_of_numpy(),
    }


def read(cpuinfo: str) -> dict[str, str]:
    """`processor`, `model` and `instructions` of the first processor in the text of `/proc/cpuinfo`."""
    lines = (line.partition(":") for line in cpuinfo.partition("\n\n")[0].splitlines())
    fields = {name.strip(): value.strip() for name, _, value in lines}
    flags = set((fields.get("flags") or fields.get("Features", "")).split())
    return {
        "processor": fields.get("model name", ""),
        "model": _numbers(fields, _X86_MODEL) or _numbers(fields, _ARM_MODEL),
        "instructions": " ".join(_SPOKEN.get(flag, flag.upper()) for flag in (*_X86, *_ARM) if flag in flags),
    }


def described(machine: Mapping[str, str]) -> str:
    """A machine's processor in one line: name, model, instruction sets, emulator; without those that a run lacks."""
    facts = [machine.get(name, "") for name in ("processor", "model", "instructions")]
    emulated = machine.get("emulated", "")
    return ", ".join(filter(None, (*facts, emulated and f"by {emulated}")))


def _numbers(fields: Mapping[str, str], names: Mapping[str, str]) -> str:
    return ", ".join(f"{word} {fields[name]}" for word, name in names.items() if fields.get(name))


def _detected() -> str:
    """The instruction sets that NumPy detects in this process, by Linux's names; NumPy does not know all."""
    features = {_NUMPY.get(name, name) for name, present in _multiarray_umath.__cpu_features__.items() if present}
    return " ".join(n for flag in (*_X86, *_ARM) if (n := _SPOKEN.get(flag, flag.upper())) in features)


def _instructions_of_numpy() -> str:
    config = np.show_config(mode="dicts") or {}
    extensions = config.get("SIMD Extensions", {})
    return " ".join([*extensions.get("baseline", ()), *extensions.get("found", ())])
