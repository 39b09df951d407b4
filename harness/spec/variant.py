"""Variant: a device with one of TensorFlow's switches set otherwise; `cpu+onednn`, `gpu:0+tf32+deterministic`.

A switch is set in the server of that device alone, so that the device and its variants run side by side.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tf_opdiff.harness.system import compiler

#: Whether TensorFlow takes oneDNN's kernels on a CPU, `on` or `off`: by default that depends on the processor.
#: https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/util/port.cc
ONEDNN = "oneDNN"
ONEDNN_FLAG = "TF_ENABLE_ONEDNN_OPTS"
_HERE = Path(__file__).resolve().parent


def _nothing(*_: Any) -> None:
    pass


def _no_environment() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True)
class Variant:
    """A switch: what it does, and how it is set.

    types          the types of device that it means something for; none for any.
    environment()  what has to be in the environment before TensorFlow starts; `OSError` where that can't be had.
    apply(tf, n)   sets it in a TensorFlow that has started; `n` is the number behind `=`. `OSError` where this
                   TensorFlow does not obey.
    counted        whether it takes a number: `threads=4`.
    lines          the same in a program of its own, behind its configuration: `{}` stands for the number.
    facts          what is known of a device by its having the variant: `oneDNN`, `on` or `off`.
    """

    about: str
    types: tuple[str, ...] = ()
    environment: Callable[[], Mapping[str, str]] = _no_environment
    apply: Callable[[Any, int], None] = _nothing
    counted: bool = False
    lines: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


def denormals() -> Mapping[str, str]:
    """Has the constructor with which TensorFlow's threads begin to flush subnormals do the opposite.

    There is no switch for that. Both constructors are exported by libtensorflow_framework; a library that is loaded
    before it puts the one in the other's place. It is compiled once, and kept in `.cache/`.

    Raises:
      OSError: there is no C compiler, or it fails or takes too long.
    """
    source = _HERE / "denormals.c"
    library = compiler.cache() / "denormals.so"
    if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
        cc = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
        if not cc:
            raise OSError("variant denormals: there is no C compiler (cc, gcc, clang) on the PATH")
        with compiler.workspace() as folder:
            made = folder / library.name
            why = compiler.failure([cc, "-shared", "-fPIC", "-O2", "-o", str(made), str(source)])
            if why:
                raise OSError(f"variant denormals: {why}")
            os.replace(made, library)
    return {"LD_PRELOAD": ":".join(filter(None, [str(library), os.environ.get("LD_PRELOAD")]))}


def onednn() -> str:
    """Whether this TensorFlow takes oneDNN's kernels, `on` or `off`; only in a device server.

    TensorFlow reads `TF_ENABLE_ONEDNN_OPTS`; without it, kernels are on where the processor has instructions such as
    AVX-512 VNNI. TensorFlow's own tests ask in the same way (`test_util.IsMklEnabled`).
    """
    from tensorflow.python.util import _pywrap_util_port

    return "on" if _pywrap_util_port.IsMklEnabled() else "off"


def _onednn_set(state: str, setting: str) -> Variant:
    """oneDNN's kernels on or off, whatever the processor."""

    def check_state(*_: Any) -> None:
        if onednn() != state:
            raise OSError(f"{ONEDNN_FLAG}={setting} leaves oneDNN {onednn()} in this TensorFlow; expected {state}")

    facts = {ONEDNN: state}
    return Variant(f"oneDNN's kernels {state}", ("cpu",), lambda: {ONEDNN_FLAG: setting}, check_state, facts=facts)


VARIANTS: Mapping[str, Variant] = {
    "noonednn": _onednn_set("off", "0"),
    "onednn": _onednn_set("on", "1"),
    "tf32": Variant(
        "TensorFloat-32 on",
        ("gpu",),
        apply=lambda tf, _: tf.config.experimental.enable_tensor_float_32_execution(True),
        lines=("tf.config.experimental.enable_tensor_float_32_execution(True)",),
    ),
    "deterministic": Variant(
        "deterministic ops on",
        apply=lambda tf, _: _determined(tf),
        lines=("tf.config.experimental.enable_op_determinism()", "tf.random.set_seed(1)"),
    ),
    "threads": Variant(
        "so many intra-op threads, where one is the rule",
        ("cpu",),
        apply=lambda tf, n: tf.config.threading.set_intra_op_parallelism_threads(n),
        counted=True,
        lines=("tf.config.threading.set_intra_op_parallelism_threads({})",),
    ),
    "denormals": Variant("subnormals preserved, which TensorFlow's threads flush", ("cpu",), denormals),
}


def _determined(tf: Any) -> None:
    tf.config.experimental.enable_op_determinism()
    tf.random.set_seed(1)  # without one, an op that draws numbers is an error under this switch


def split(text: str) -> tuple[str, int]:
    """`threads=4` as its name and number; the number is 0 where there is none.

    Raises:
      ValueError: there is no such variant, or it has a number and takes none, or takes one and has none.
    """
    name, equals, number = text.partition("=")
    if name not in VARIANTS:
        raise ValueError(f"no variant {name!r}; there is {', '.join(VARIANTS)}")
    if VARIANTS[name].counted != bool(equals) or (equals and not (number.isdecimal() and int(number))):
        raise ValueError(f"variant {text!r}: expected {name}{'=N, N at least 1' if VARIANTS[name].counted else ''}")
    return name, int(number or 0)


def check(variants: tuple[str, ...], device_type: str) -> None:
    """Refuses variants that there are not, that mean nothing for a type of device, or that contradict each other.

    Raises:
      ValueError: one is like that.
    """
    setters: dict[str, str] = {}
    for text in variants:
        name, _ = split(text)
        types = VARIANTS[name].types
        if types and device_type not in types:
            raise ValueError(f"variant {name!r} is for {', '.join(types)}, not for {device_type}")
        for fact in VARIANTS[name].facts:
            if fact in setters:
                raise ValueError(f"variants {setters[fact]!r} and {name!r} contradict each other")
            setters[fact] = name


def environment(variants: tuple[str, ...]) -> dict[str, str]:
    """What the variants need in the environment before TensorFlow starts.

    Raises:
      OSError: it can't be had.
    """
    return {k: v for text in variants for k, v in VARIANTS[split(text)[0]].environment().items()}


def facts(variants: tuple[str, ...]) -> dict[str, str]:
    """What is known of a device by its variants."""
    return {k: v for text in variants for k, v in VARIANTS[split(text)[0]].facts.items()}


def apply(variants: tuple[str, ...], tf: Any) -> None:
    """Sets the variants in a TensorFlow that has started and run nothing yet.

    Raises:
      OSError: this TensorFlow does not obey one.
    """
    for text in variants:
        name, number = split(text)
        VARIANTS[name].apply(tf, number)


def program(variants: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    """The variants in a program of its own: what it puts into its environment first, and its lines.

    Raises:
      OSError: one needs what a program cannot do for itself.
    """
    if "denormals" in variants:
        raise OSError("a library has to be loaded before TensorFlow for it: see harness/spec/variant.py")
    told = [(VARIANTS[name], number) for name, number in map(split, variants)]
    return environment(variants), [line.format(number) for variant, number in told for line in variant.lines]
