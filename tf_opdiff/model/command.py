"""Model command: `model my_module:build --input batch.npz` from the shell."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tf_opdiff.checking.array_file import arrays_of
from tf_opdiff.harness.device.installation.probe import probe
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.store.run_directories.open_run import require
from tf_opdiff.harness.system.interrupt import Scratch
from tf_opdiff.harness.system.number_argument import SECONDS, Number
from tf_opdiff.model.analysis import BASE, Analysis, ModelProblem
from tf_opdiff.model.answers.answer import Answer, lines
from tf_opdiff.model.answers.known_failure import with_known
from tf_opdiff.model.answers.page import write_page
from tf_opdiff.model.answers.table import write_table
from tf_opdiff.model.recordings.recorded_analysis import RecordedAnalysis
from tf_opdiff.model.recordings.recording_file import About, write_recording
from tf_opdiff.model.request import ModelRequest
from tf_opdiff.model.setting import with_setting

#: The modes that an analysis can compare; a v1 graph can't use what eager mode made.
MODES = ("eager", "function", "xla")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m harness model`."""
    parser.add_argument(
        "subject",
        metavar="MODULE:NAME",
        help="a function of tensors, a model of Keras, or a function without parameters that gives one of these or the"
        " folder of a SavedModel",
    )
    parser.add_argument(
        "--input",
        required=True,
        metavar="FILE",
        help="the inputs: a file of np.savez with an array for each parameter; with an array y, a compiled model is"
        " trained for a step",
    )
    parser.add_argument("--device", action="append", default=[], metavar="D", help="a device; default: all")
    parser.add_argument(
        "--mode", action="append", default=[], choices=MODES, help="a mode; default: all but eager on the CPU"
    )
    parser.add_argument(
        "--steps", type=Number("steps", 1, 100_000), default=1, metavar="N", help="run the program N times; default: 1"
    )
    parser.add_argument(
        "--script",
        type=Path,
        metavar="FILE",
        help="write a program of the ops that differ, for the first plan that does",
    )
    files = parser.add_mutually_exclusive_group()
    files.add_argument("--record", type=Path, metavar="FILE", help="write the recorded ops with their values")
    files.add_argument(
        "--against",
        type=Path,
        metavar="FILE",
        help="compare with a file that --record wrote, on another machine or with another TensorFlow",
    )
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the errors of each op as CSV")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the answers and the errors of each op as HTML")
    parser.add_argument("--timeout", type=SECONDS, default=600.0, metavar="S", help="seconds for one run; default: 600")


def main(options: argparse.Namespace) -> int:
    """Analyses a program; prints the answer for each plan; 1 if one differs."""
    module, _, name = options.subject.partition(":")
    if not (module and name):
        raise ValueError(f"{options.subject!r}: expected MODULE:NAME")
    arrays_of(Path(options.input))  # a damaged file is refused here: the program is not to blame
    if options.against and options.steps > 1:
        raise ValueError(f"--steps {options.steps}: a recording has one step")
    asked = [Device.parse(text) for text in options.device]
    facts = probe()
    present, tf = facts["devices"], facts["versions"]["tensorflow"]
    devices = asked or [Device.parse(text) for text in present]
    require(devices, present)
    plans = [Plan(device, mode) for device in devices for mode in options.mode or MODES]
    others = plans if options.against else [plan for plan in plans if plan != BASE] or plans
    request = ModelRequest(os.getcwd(), module, name, str(Path(options.input).resolve()))
    try:
        with Scratch() as folder, _analysis(request, folder, options) as analysis:
            if options.record:
                write_recording(options.record, analysis.recording, About.here(request, tf))
            answers = _answers(analysis, others, tf, options.script)
            if options.table:
                write_table(options.table, answers, analysis.recordings)
            if options.page:
                write_page(options.page, options.subject, answers, analysis.recordings)
    except ModelProblem as why:
        raise ValueError(str(why)) from why
    return 1 if any(answer.differs for answer in answers) else 0


def _analysis(request: ModelRequest, folder: Path, options: argparse.Namespace) -> Analysis:
    """The analysis that the options ask for: of the program, or of a recording of it."""
    if options.against:
        return RecordedAnalysis(request, folder, 1, options.timeout, _progress, source=options.against)
    return Analysis(request, folder, options.steps, options.timeout, _progress)


def _answers(analysis: Analysis, plans: Sequence[Plan], tf: str, script: Path | None) -> list[Answer]:
    """The answer for each plan, which is printed; writes a program for the first that differs."""
    recording, answers = analysis.recording, list[Answer]()
    plain, recorded = (f"{seconds:.2g} s" for seconds in (recording.plain_seconds, recording.seconds))
    print(f"{len(recording.ops)} ops recorded in eager mode on the CPU in {recorded}; a plain run takes {plain}")
    for plan in plans:
        answer = with_setting(analysis, plan, analysis.answer(plan))
        answers.append(answer := with_known(answer, plan, analysis.recordings[answer.step], tf))
        print(*lines(answer, analysis.recordings[answer.step]), sep="\n", flush=True)
        if script and answer.differs and not any(one.differs for one in answers[:-1]):
            problem = analysis.write_script(plan, answer, script.resolve())
            print(f"  no program: {problem}" if problem else f"  program: {script}")
    return answers


def _progress(sentence: str) -> None:
    """Writes what is at work to a terminal."""
    if sys.stderr.isatty():
        print(f"… {sentence}", file=sys.stderr)
