"""Variant: a changed setting of TensorFlow on a device: `cpu+onednn`, `gpu:0+tf32+deterministic`.

The setting is changed only in the server of that device, so a device and its variants can run at the same time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tf_opdiff.harness.spec.settings import trait
from tf_opdiff.harness.spec.settings.rewrites import ALL, HLO_PASSES, REWRITERS
from tf_opdiff.harness.system import compiler

#: The fact whether TensorFlow uses oneDNN's kernels on a CPU, `on` or `off`. The default depends on the processor.
#: https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/util/port.cc
ONEDNN = "oneDNN"
ONEDNN_FLAG = "TF_ENABLE_ONEDNN_OPTS"
_HERE = Path(__file__).resolve().parent


#: The environment variable with XLA's flags, which several variants set.
_XLA = "XLA_FLAGS"
#: An instruction set of x86-64 in XLA's words → in those of `ONEDNN_MAX_CPU_ISA`.
_ISAS: Mapping[str, str] = {"AVX2": "AVX2", "AVX512": "AVX512_CORE"}


def _nothing(*_: Any) -> None:
    pass


def _no_lines(_: str) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True)
class Variant:
    """A setting of TensorFlow.

    about             its effect, in a few words.
    types             the device types that have it; empty if all types do.
    environment(text) → the environment variables that must be set before TensorFlow starts; `text` stands after `=`.
                      Raises `OSError` if they can't be provided.
    apply(tf, text)   changes the setting after TensorFlow has started. Raises `OSError` if this TensorFlow ignores the
                      setting.
    counted           whether it takes a number, as in `threads=4`.
    choices           the names that it takes, as in `nohlo=algsimp`; empty if it takes none.
    lines(text)       → the lines that change the setting in the program of a finding, after the configuration of
                      devices.
    session_lines(text) → the lines that change it in the `config` of a v1 session of such a program.
    facts             facts that the variant implies about a device, such as `oneDNN` → `on`.
    """

    about: str
    types: tuple[str, ...] = ()
    environment: Callable[[str], Mapping[str, str]] = lambda _: {}
    apply: Callable[[Any, str], None] = _nothing
    counted: bool = False
    choices: tuple[str, ...] = ()
    lines: Callable[[str], tuple[str, ...]] = _no_lines
    session_lines: Callable[[str], tuple[str, ...]] = _no_lines
    facts: Mapping[str, str] = field(default_factory=dict)

    def fits(self, text: str, *, present: bool) -> bool:
        """Whether the text after `=`, if there is one, is right."""
        if self.counted:
            return text.isdecimal() and int(text) > 0
        return text in self.choices if self.choices else not present

    @property
    def form(self) -> str:
        """The text after the name, for messages."""
        return "=N, N at least 1" if self.counted else f"={'|'.join(self.choices)}" if self.choices else ""


def denormals(_: str = "") -> Mapping[str, str]:
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
    return Variant(f"oneDNN's kernels {state}", ("cpu",), lambda _: {ONEDNN_FLAG: setting}, check_state, facts=facts)


VARIANTS: Mapping[str, Variant] = {
    "noonednn": _onednn_set("off", "0"),
    "onednn": _onednn_set("on", "1"),
    "tf32": Variant(
        "TensorFloat-32 on",
        ("gpu",),
        apply=lambda tf, _: tf.config.experimental.enable_tensor_float_32_execution(True),
        lines=lambda _: ("tf.config.experimental.enable_tensor_float_32_execution(True)",),
    ),
    "deterministic": Variant(
        "deterministic ops on",
        apply=lambda tf, _: _determined(tf),
        lines=lambda _: ("tf.config.experimental.enable_op_determinism()", "tf.random.set_seed(1)"),
    ),
    "threads": Variant(
        "so many intra-op threads, where one is the rule",
        ("cpu",),
        apply=lambda tf, n: tf.config.threading.set_intra_op_parallelism_threads(int(n)),
        counted=True,
        lines=lambda n: (f"tf.config.threading.set_intra_op_parallelism_threads({n})",),
    ),
    "denormals": Variant("subnormals preserved, which TensorFlow's threads flush", ("cpu",), denormals),
    "norewriter": Variant(
        "one of Grappler's rewriters off, or all",
        apply=lambda tf, name: tf.config.optimizer.set_experimental_options(_without(name)),
        choices=(ALL, *REWRITERS),
        lines=lambda name: (f"tf.config.optimizer.set_experimental_options({_without(name)})",),
        session_lines=lambda name: tuple(
            f"config.graph_options.rewrite_options.{option} = {value or '2  # RewriterConfig.OFF'}"
            for option, value in _without(name).items()
        ),
    ),
    "nohlo": Variant(
        "one of XLA's passes off, or all that can be",
        environment=lambda name: _xla_flag(f"--xla_disable_hlo_passes={','.join(HLO_PASSES) if name == ALL else name}"),
        choices=(ALL, *HLO_PASSES),
    ),
    "noexcess": Variant(
        "XLA keeps no more digits between ops than the dtype has",
        environment=lambda _: _xla_flag("--xla_allow_excess_precision=false"),
    ),
    "nofma": Variant(
        "XLA compiles for AVX: no fused multiply-add, and narrower vectors than AVX-512",
        ("cpu",),
        environment=lambda _: _xla_flag("--xla_cpu_max_isa=AVX"),
    ),
    "isa": Variant(
        "XLA and oneDNN use no later instruction set",
        ("cpu",),
        environment=lambda name: {**_xla_flag(f"--xla_cpu_max_isa={name}"), "ONEDNN_MAX_CPU_ISA": _ISAS[name]},
        choices=tuple(_ISAS),
    ),
}


def _xla_flag(flag: str) -> Mapping[str, str]:
    return {_XLA: flag}


def _without(rewriter: str) -> dict[str, bool]:
    """The options that turn a rewriter off, or all."""
    return {"disable_meta_optimizer": True} if rewriter == ALL else {rewriter: False}


def _determined(tf: Any) -> None:
    tf.config.experimental.enable_op_determinism()
    tf.random.set_seed(1)  # with determinism on, random ops without a seed raise an error


def split(text: str) -> tuple[str, str]:
    """Splits `threads=4` into its name and the text after `=`, which is empty for a variant without one.

    Raises:
      ValueError: the variant does not exist, lacks its number or name, or has one but takes none.
    """
    name, equals, argument = text.partition("=")
    if name not in VARIANTS:
        raise ValueError(f"no variant {name!r}; there is {', '.join(VARIANTS)}")
    if not VARIANTS[name].fits(argument, present=bool(equals)):
        raise ValueError(f"variant {text!r}: expected {name}{VARIANTS[name].form}")
    return name, argument


def check(variants: tuple[str, ...], device_type: str) -> None:
    """Refuses variants that do not exist, do not apply to a device type, or contradict each other.

    Raises:
      ValueError: the message names the variant.
    """
    setters: dict[str, str] = {}
    for text in variants:
        name, _ = split(text)
        if name in setters:
            raise ValueError(f"variant {name!r}: expected once, got {setters[name]!r} and {text!r}")
        setters[name] = text
        types = VARIANTS[name].types
        if types and device_type not in types:
            raise ValueError(f"variant {name!r} is for {', '.join(types)}, not for {device_type}")
        for fact in VARIANTS[name].facts:
            if fact in setters:
                raise ValueError(f"variants {setters[fact]!r} and {name!r} contradict each other")
            setters[fact] = name


def environment(variants: tuple[str, ...]) -> dict[str, str]:
    """The environment variables that the variants need before TensorFlow starts; XLA's flags follow those of the user.

    Raises:
      OSError: a variant can't provide its variables.
    """
    variables: dict[str, str] = {}
    for name, argument in map(split, variants):
        for key, value in VARIANTS[name].environment(argument).items():
            before = variables.get(key, os.environ.get(key, "")) if key == _XLA else ""
            variables[key] = f"{before} {value}".strip()
    return variables


def facts(about: Mapping[str, Any], variants: tuple[str, ...]) -> dict[str, Any]:
    """The facts of a device under variants, from its facts without them."""
    under = dict(about) | {k: v for text in variants for k, v in VARIANTS[split(text)[0]].facts.items()}
    return trait.without_onednn(under) if under.get(ONEDNN) == "off" else under


def apply(variants: tuple[str, ...], tf: Any) -> None:
    """Applies the variants to a TensorFlow that has started but run nothing yet.

    Raises:
      OSError: this TensorFlow ignores the setting of a variant.
    """
    for name, argument in map(split, variants):
        VARIANTS[name].apply(tf, argument)
