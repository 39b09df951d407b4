"""Variant: a changed setting of TensorFlow on a device: `cpu+onednn`, `gpu:0+tf32+deterministic`.

The setting is changed only in the server of that device, so a device and its variants can run at the same time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tf_opdiff.harness.system import compiler

#: The fact whether TensorFlow uses oneDNN's kernels on a CPU, `on` or `off`. The default depends on the processor.
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
    """A setting of TensorFlow.

    about          its effect, in a few words.
    types          the device types that have it; empty if all types do.
    environment()  → the environment variables that must be set before TensorFlow starts. Raises `OSError` if they
                   can't be provided.
    apply(tf, n)   changes the setting after TensorFlow has started; `n` is the number after `=`. Raises `OSError` if
                   this TensorFlow ignores the setting.
    counted        whether it takes a number, as in `threads=4`.
    lines          the lines that change the setting in the program of a finding, after the configuration of devices;
                   `{}` stands for the number.
    facts          facts that the variant implies about a device, such as `oneDNN` → `on`.
    """

    about: str
    types: tuple[str, ...] = ()
    environment: Callable[[], Mapping[str, str]] = _no_environment
    apply: Callable[[Any, int], None] = _nothing
    counted: bool = False
    lines: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


def denormals() -> Mapping[str, str]:
    """Compiles a library that makes TensorFlow's threads preserve subnormals; returns the variable that loads it.

    TensorFlow has no setting for this. libtensorflow_framework exports the constructor that turns flushing on and the
    one that turns it off. This library is loaded first and replaces the former by the latter. It is compiled once and
    stored in `.cache/`.

    Raises:
      OSError: the machine has no C compiler, or compilation fails or takes too long.
    """
    try:
        library = compiler.library(_HERE / "denormals.c", "-O2")
    except OSError as why:
        raise OSError(f"variant denormals: {why}") from why
    return {"LD_PRELOAD": ":".join(filter(None, [str(library), os.environ.get("LD_PRELOAD")]))}


def onednn() -> str:
    """Whether this TensorFlow uses oneDNN's kernels, `on` or `off`; call it only in a device server.

    TensorFlow reads `TF_ENABLE_ONEDNN_OPTS`. If it is not set, the kernels are on if the processor has instructions
    such as AVX-512 VNNI. TensorFlow's own tests use the same function (`test_util.IsMklEnabled`).
    """
    from tensorflow.python.util import _pywrap_util_port

    return "on" if _pywrap_util_port.IsMklEnabled() else "off"


def _onednn_set(state: str, setting: str) -> Variant:
    """The variant with oneDNN's kernels on or off, independent of the processor."""

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
    tf.random.set_seed(1)  # with determinism on, random ops without a seed raise an error


def split(text: str) -> tuple[str, int]:
    """Splits `threads=4` into its name and number; the number is 0 for a variant without one.

    Raises:
      ValueError: the variant does not exist, lacks its number, or has a number but takes none.
    """
    name, equals, number = text.partition("=")
    if name not in VARIANTS:
        raise ValueError(f"no variant {name!r}; there is {', '.join(VARIANTS)}")
    if VARIANTS[name].counted != bool(equals) or (equals and not (number.isdecimal() and int(number))):
        raise ValueError(f"variant {text!r}: expected {name}{'=N, N at least 1' if VARIANTS[name].counted else ''}")
    return name, int(number or 0)


def check(variants: tuple[str, ...], device_type: str) -> None:
    """Refuses variants that do not exist, do not apply to a device type, or contradict each other.

    Raises:
      ValueError: the message names the variant.
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
    """The environment variables that the variants need before TensorFlow starts.

    Raises:
      OSError: a variant can't provide its variables.
    """
    return {k: v for text in variants for k, v in VARIANTS[split(text)[0]].environment().items()}


def facts(variants: tuple[str, ...]) -> dict[str, str]:
    """The facts that a device's variants imply about it."""
    return {k: v for text in variants for k, v in VARIANTS[split(text)[0]].facts.items()}


def apply(variants: tuple[str, ...], tf: Any) -> None:
    """Applies the variants to a TensorFlow that has started but run nothing yet.

    Raises:
      OSError: this TensorFlow ignores the setting of a variant.
    """
    for text in variants:
        name, number = split(text)
        VARIANTS[name].apply(tf, number)


def program(variants: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    """The variants in the program of a finding: the environment variables that it sets first, and its lines.

    Raises:
      OSError: a program can't apply one of the variants itself.
    """
    if "denormals" in variants:
        raise OSError("a library has to be loaded before TensorFlow for it: see harness/spec/variant.py")
    numbered = [(VARIANTS[name], number) for name, number in map(split, variants)]
    return environment(variants), [line.format(number) for variant, number in numbered for line in variant.lines]
