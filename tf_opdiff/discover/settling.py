"""Settling: a new group in fresh processes: whether it shows again, on which setting it depends, and its program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from tf_opdiff.discover.budgets import WordBudgets
from tf_opdiff.discover.group import UNSTABLE, Group, numbers_of
from tf_opdiff.discover.judging import Judge
from tf_opdiff.harness.repro.script_runs.run_scripts import run_scripts
from tf_opdiff.harness.repro.trials.setting_trials import GONE, SHOWN
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.model.setting import trials_of
from tf_opdiff.model.worker import RequestFailed, Worker, WorkerEnded

SERVER = "tf_opdiff.discover.programs.program_server:ProgramServer"
_PROGRAM = '''"""{title}"""
import tensorflow as tf
from numpy import inf, nan

{program}
{inputs}
print("eager", program({names}))
print("{mode}", tf.function(program, {how})({names}))
'''


def settled(group: Group, device: Device, budgets: WordBudgets, folder: Path, timeout: float) -> Group:
    """The group with its setting; `UNSTABLE` if a fresh process does not show it. Writes its program to the folder."""
    (folder / group.id).mkdir(parents=True, exist_ok=True)
    script, ran = folder / group.id / "program.py", ""
    script.write_text(script_of(group), "utf-8")
    for _, how, output in run_scripts({script: device}, timeout=timeout):
        ran = _problem(group, how, output)
        script.with_suffix(".txt").write_text(f"{how}\n{output}\n", "utf-8")

    def status(under: Plan) -> str:
        try:
            with Worker(under.device, folder / group.id / "trial.log", timeout, server=SERVER) as worker:
                every = Judge(worker, budgets).differences(group.example.program, [group.example.draw], [group.mode])
        except (RequestFailed, WorkerEnded, RuntimeError) as why:
            return f"failed: {why}"
        return SHOWN if any(one.kind == group.kind for one in (every or {}).get(group.mode, ())) else GONE

    trials = trials_of(Plan(device, group.mode), status)
    if ran or not trials.shown:
        return replace(group, state=UNSTABLE, reason=ran or "a fresh process does not show it")
    return replace(group, setting=trials.switch)


def _problem(group: Group, how: str, output: str) -> str:
    """Why a program does not show its difference; empty if it does."""
    lines = output.partition("eager ")[2].partition(f"\n{group.mode} ")
    if group.kind == "status":
        return "" if how != "EXIT 0" else "its program raises nothing"
    if how != "EXIT 0" or not lines[1]:
        return f"its program ended with {how}"
    return "" if lines[0].strip() != lines[2].strip() else "its program prints two equal results"


def script_of(group: Group) -> str:
    """A program of TensorFlow alone that prints both results."""
    example = group.example
    named = dict(zip(example.program.names, example.draw, strict=True))
    inputs = [f"{n} = tf.constant({_written(x)}, tf.{x.dtype.name}, shape={[*x.shape]})" for n, x in named.items()]
    how = "jit_compile=True" if group.mode == "xla" else "autograph=False"
    if example.program.unknown:
        sizeless = [f"tf.TensorSpec({[None] * x.ndim}, tf.{x.dtype.name})" for x in example.draw]
        how += f", input_signature=[{', '.join(sizeless)}]"
    return _PROGRAM.format(
        title=f"{group.title}.",
        program=example.program.text.replace("\n\n\n", "\n"),
        inputs="\n".join(inputs),
        names=", ".join(named),
        mode=group.mode,
        how=how,
    )


def _written(x: np.ndarray) -> str:
    numbers = numbers_of(x)
    return repr(numbers if x.size != 1 else numbers[0])
