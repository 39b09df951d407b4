"""A finding's script, run by itself, says whether the discrepancy is there: of planted faults, and of mended ones."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from multiprocessing.connection import wait
from pathlib import Path

import numpy as np
import pytest

from tf_opdiff.harness.repro.discrepancy import LANES, Discrepancy, discrepancy_of, with_all_results
from tf_opdiff.harness.repro.findings import findings
from tf_opdiff.harness.repro.program_text.function_source import Unwritable
from tf_opdiff.harness.repro.program_text.writer import Writer
from tf_opdiff.harness.repro.reproduce import Setting, write
from tf_opdiff.harness.repro.script import script_of
from tf_opdiff.harness.repro.script_runs.outcome import status_of
from tf_opdiff.harness.repro.script_runs.run_scripts import ScriptRuns, run_scripts
from tf_opdiff.harness.repro.short_programs.cuts import of_one_element
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.tests.forked_python import forked_python
from tf_opdiff.harness.tests.patience import PATIENCE
from tf_opdiff.harness.tests.planted_specs.planted_class import Line

PLANTED = Catalog.load("tf_opdiff.harness.tests.planted_specs.planted")
SEEN = (
    *("one-ulp-off", "zero-gradient", "dropped-gradient", "wrong-either-way", "wrong-in-eager", "wrong-dtype"),
    *("wrong-shape", "falls-back", "side-given-up", "by-length", "by-length-3-ulp", "wrong-forward", "aborts", "exits"),
    "hangs",
)


@pytest.fixture(scope="module")
def outcomes(shared_run):
    """What became of the scripts of planted findings, by spec."""
    names = (*SEEN, "writes-to-its-input", "drifts", "right", "other-op")
    ops = [word for name in names if name != "hangs" for word in ("--op", name)]
    done = shared_run(*ops, "-n", "2")
    hung = shared_run("--op", "hangs", "--op-timeout", "6")  # alone: whatever else ran might not be ready in time
    found = {}
    for ended in (done, hung):
        for outcome in json.loads((ended.directory / "repro.json").read_text()):
            script = str(ended.directory / outcome["script"]) if outcome["script"] else ""
            found.setdefault(outcome["spec"], []).append(outcome | {"script": script})
    return done.directory, found


@pytest.mark.parametrize("spec", SEEN)
def test_the_script_of_a_planted_fault_shows_it(outcomes, spec):
    directory, found = outcomes
    assert found[spec]
    for outcome in found[spec]:
        assert outcome["status"] == "reproduced", outcome
        assert (directory / outcome["script"]).exists()


def test_what_is_right_or_the_suites_own_fault_has_no_script(outcomes):
    assert not {"right", "other-op"} & set(outcomes[1])


def test_the_script_of_a_changed_input_shows_the_input_before_and_after(outcomes):
    (mutated,) = (o for o in outcomes[1]["writes-to-its-input"] if o["kind"] == "input_mutated")
    assert mutated["status"] == "reproduced"
    assert ": 9.5, " in mutated["output"]


def test_what_no_script_can_show_is_said_to_have_none(outcomes):
    assert all((o["status"], o["output"]) == ("no script", "_RUNS is a count") for o in outcomes[1]["drifts"])


def test_a_short_program_of_an_element_stands_for_the_case_where_it_shows_the_same(outcomes):
    directory, found = outcomes
    (outcome,) = (o for o in found["one-ulp-off"] if o["kind"] == "value")
    script = (directory / outcome["script"]).read_text()
    assert len(script.splitlines()) <= 30
    assert "base64" not in script


def plain_python(path):
    done = subprocess.run([sys.executable, str(path)], check=False, capture_output=True, text=True, timeout=PATIENCE)
    return done.returncode, done.stdout


def test_a_script_needs_tensorflow_and_numpy_only_and_says_when_the_fault_is_mended(outcomes, tmp_path):
    directory, found = outcomes
    script = directory / found["one-ulp-off"][0]["script"]
    made = script.read_text()
    assert {line for line in made.splitlines() if line.startswith(("import ", "from "))} <= {
        *("import base64", "import sys", "import zlib", "import numpy as np", "import tensorflow as tf")
    }
    (tmp_path / "there.py").write_text(made)
    code, said = plain_python(tmp_path / "there.py")
    assert (code, said.splitlines()[-1]) == (1, "at [0]: 2.0000002, 2.0"), said
    assert "tf.math.nextafter(v0, v0 + 1)" in made
    (tmp_path / "mended.py").write_text(made.replace("tf.math.nextafter(v0, v0 + 1)", "v0"))
    mended = forked_python(str(tmp_path / "mended.py"))
    assert (mended.returncode, mended.stdout.splitlines()[-1]) == (0, "at [0]: 2.0, 2.0"), mended


HARD_TO_END = {
    "closes": ("import os, threading\nos.closerange(0, 4096)\nthreading.Event().wait()\n", "TIMEOUT"),
    "stops": ("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n", "TIMEOUT"),
    "leaves-a-child": ("import os, time\nos.fork() or time.sleep(600)\nos.abort()\n", "SIGABRT"),
    "leaves-a-thread": ("import threading\nthreading.Thread(target=threading.Event().wait).start()\n", "EXIT 0"),
    "writes-much": (
        "import os\nfor n in range(99): os.write(2, b'x' * 65535 + b'\\n')\nprint('last words')\n",
        "EXIT 0",
    ),
}


def test_every_script_ends(tmp_path):
    """Forks of the fork server, and processes of their own, whose end is seen in another way."""
    scripts = {}
    for device in map(Device.parse, ("cpu", "cpu+noonednn")):
        for name, (script, _) in HARD_TO_END.items():
            path = tmp_path / f"{name}-{device}.py"
            path.write_text(script)
            scripts[path] = device
    ended = {path.name: (how, said) for path, how, said in run_scripts(scripts, timeout=15.0, at_once=len(scripts))}
    assert {name: how for name, (how, _) in ended.items()} == {
        path.name: HARD_TO_END[path.name.rpartition("-cpu")[0]][1] for path in scripts
    }
    assert ended["writes-much-cpu.py"][1].endswith("last words\n")


def test_a_script_runs_while_the_next_one_is_written_and_ends_with_the_context(tmp_path):
    script, started = tmp_path / "waits.py", tmp_path / "started"
    os.mkfifo(started)
    text = (
        "import os, threading\nwith open({!r}, 'w') as file: file.write(str(os.getpid()))\nthreading.Event().wait()\n"
    )
    script.write_text(text.format(str(started)))
    reader = os.open(started, os.O_RDONLY | os.O_NONBLOCK)
    with ScriptRuns(timeout=PATIENCE) as runs:
        runs.add(script, Device("cpu"))
        assert not list(runs.ended())
        assert wait([reader], timeout=PATIENCE), "it has not started"
        pid = int(os.read(reader, 32))
        assert runs
    os.close(reader)
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize(
    ("kind", "got", "how", "verdict"),
    [
        ("value", "1.0", "EXIT 1", "reproduced"),
        ("value", "1.0", "EXIT 0", "not reproduced"),
        ("value", "1.0", "SIGSEGV", "failed"),
        ("value", "1.0", "EXIT 70", "failed"),
        ("crash", "crash SIGABRT", "SIGABRT", "reproduced"),
        ("crash", "crash SIGABRT", "SIGSEGV", "not reproduced"),
        ("crash", "crash EXIT 7", "EXIT 7", "reproduced"),
        ("hang", "hang TIMEOUT", "TIMEOUT", "reproduced"),
        ("hang", "hang TIMEOUT", "EXIT 0", "not reproduced"),
    ],
)
def test_how_a_script_ended_says_what_it_showed(kind, got, how, verdict):
    assert status_of(how, Record(kind=kind, got=got)) == verdict


@pytest.mark.parametrize("output", ["got  ValueError: rank\nwant array([1.])", "got  array([1.])\nwant ABORTED: no"])
def test_an_error_is_not_the_discrepancy_of_two_results(output):
    """A program of one element may refuse it."""
    assert status_of("EXIT 1", Record(kind="value", got="2.0"), output) == "not reproduced"
    assert status_of("EXIT 1", Record(kind="error_code", got="error ABORTED"), output) == "reproduced"


@pytest.mark.parametrize(
    ("how", "output", "verdict"),
    [
        ("SIGABRT", "got  INVALID_ARGUMENT: no\nCheck failed", "reproduced"),
        ("SIGABRT", "Check failed", "not reproduced"),  # the record's own plan ended the process
        ("SIGSEGV", "got  INVALID_ARGUMENT: no", "not reproduced"),
        ("EXIT 1", "got  INVALID_ARGUMENT: no\nwant UNKNOWN: no", "not reproduced"),
    ],
)
@pytest.mark.parametrize("want", ["SIGABRT", "crash SIGABRT"])
def test_a_script_shows_that_the_other_plan_ends_the_process(how, output, verdict, want):
    record = Record(kind="error_code", got="INVALID_ARGUMENT", want=want, against="cpu/eager")
    assert status_of(how, record, output) == verdict


def test_one_record_stands_for_a_finding_the_simplest_against_numpy():
    base = {"suite": "s", "spec": "a", "verdict": "known", "kind": "value"}
    far, simple = (Record(**base, against="numpy", example=f"input {x}, got 1, want 2") for x in ("-9.9e-51", "-0.5"))
    other, claimed = (Record(**base, against=a, example="input 0") for a in ("cpu/eager", "claim:C01"))
    right = Record(**base | {"verdict": "match", "kind": ""})
    assert findings([far, other, simple, claimed, right]) == [simple]
    assert findings([other]) == [other]


def test_a_finding_has_one_cause_and_its_example_is_of_that_cause():
    base = {"suite": "s", "spec": "a", "kind": "value", "against": "numpy"}
    infinite = [
        Record(**base, verdict="known", reason="wrong at infinity", example=f"input {x}") for x in ("-inf", "inf")
    ]
    tiny = [Record(**base, verdict="known", reason="wrong near 0", example=f"input {x}") for x in ("1e-9", "0.0")]
    new = [Record(**base, verdict="mismatch", reason=r, example="input 2") for r in ("", "a contract's")]
    assert findings([*infinite, *tiny, *new]) == [infinite[1], tiny[1], new[0]]


def written(function):
    writer = Writer()
    name = writer.function(function, "program")
    scope = {"np": np}
    for module in writer.imports.values():
        scope[module] = __import__(module)
    exec(compile(writer.text, "written", "exec"), scope)  # noqa: S102  that it runs is what is tested
    return scope[name]


def _adding(n, scale=2.0):
    return lambda x: x * scale + n


def test_a_written_function_is_the_same_function():
    for function, arguments in (
        (_adding(3), (4,)),
        (_adding(-0.0, np.inf), (1.0,)),
        (_with_a_default, (1,)),
        (_twice(_adding(1), _adding(2)), (5,)),
    ):
        assert written(function)(*arguments) == function(*arguments)


_TENTH = np.float32(0.1)


def _with_a_default(x, k=_TENTH):
    return x + k


def _twice(n, other):
    def both(x):
        inner = [n(y) for y in (x, other(x))]
        return sum(inner)

    return both


def test_a_class_that_a_function_uses_is_written_with_what_it_uses():
    function = lambda x: Line.through(2.0, 3.0).at(x) + Line(1.0).at(x)  # noqa: E731
    assert written(function)(5.0) == function(5.0)


def test_two_functions_of_one_name_stay_two():
    assert written(_twice(_adding(10), _adding(20)))(1) == _twice(_adding(10), _adding(20))(1) == 66


def test_the_signs_of_zeros_and_what_is_not_finite_survive_writing():
    values = np.array([-0.0, np.nan, -np.inf, 1e-45], np.float32)
    assert written(lambda: values)().tobytes() == values.tobytes()
    numbers = np.array([complex(-0.0, 0.0), complex(1.0, -0.0), complex(np.nan, np.inf)])
    assert written(lambda: numbers)().tobytes() == numbers.tobytes()


def test_what_has_no_literal_is_named():
    held = object()
    with pytest.raises(Unwritable, match="held is a object"):
        Writer().function(lambda: held, "program")


def test_findings_of_one_quantity_against_numpy_and_another_plan_have_a_script_each(tmp_path):
    case = Case(PLANTED.specs["right"], "float32", "plain")
    place = (case, Plan(Device("cpu"), "xla"), "output[0]")
    one, other = (
        write(Discrepancy(*place, against, "value", case.inputs()), "2.21.0", tmp_path)
        for against in ("numpy", "cpu/eager")
    )
    assert one != other
    assert one.read_text() != other.read_text()


def test_a_case_with_inputs_of_several_shapes_is_not_cut_to_an_element():
    spec = PLANTED.specs["right"]
    case = Case(spec, "float32", "plain")
    whole = Discrepancy(case, Plan(Device("cpu"), "eager"), "output[0]", "numpy", "value", case.inputs(), index=(3,))
    one = of_one_element(whole)
    assert one is not None
    assert one.inputs[0].tolist() == [whole.inputs[0][3]]
    assert "np.array([" in script_of(one, "2.21.0")
    several = Discrepancy(
        case, whole.plan, "output[0]", "numpy", "value", (*case.inputs(), np.zeros((2, 2))), index=(3,)
    )
    assert of_one_element(several) is None


def test_the_input_of_a_sweep_is_tried_alone_and_then_in_the_lanes_of_a_vector():
    (case, *_) = Catalog.load("tf_opdiff.suites").specs["floor"].cases("bfloat16")
    record = Record(dtype="bfloat16", recipe="sweep", mode="eager", kind="value", example_index="[16256]")
    whole = discrepancy_of(record, case, Device("cpu"))
    assert [x.tolist() for x in whole.inputs] == [[1.0] * LANES]
    assert [x.tolist() for x in of_one_element(whole).inputs] == [[1.0]]


def test_another_allowed_result_may_be_beyond_float64():
    large = np.longdouble(1e300) ** 2
    spec = replace(PLANTED.specs["right"], alternatives={"output[0]": lambda dtype, g, x: [np.full(x.shape, large)]})
    case = Case(spec, "float32", "plain")
    of = Discrepancy(case, Plan(Device("cpu"), "eager"), "output[0]", "numpy", "value", case.inputs(), index=(3,))
    assert "inf" in script_of(of, "2.21.0")


def test_two_plans_may_differ_in_an_element_by_what_is_allowed_there():
    spec = replace(PLANTED.specs["right"], bound={"output[0]": lambda dtype, g, x: np.linspace(0, 1e9, x.size)})
    case = Case(spec, "float32", "plain")
    of = Discrepancy(case, Plan(Device("cpu"), "xla"), "output[0]", "cpu/eager", "value", case.inputs(), 1e39)
    assert "1e+39" in script_of(replace(of, case=Case(PLANTED.specs["right"], "float32", "plain")), "2.21.0")
    assert "1e+39" not in script_of(of, "2.21.0")


def test_the_last_program_of_an_output_computes_the_other_outputs_too():
    spec = Catalog.load("tf_opdiff.suites").specs["fused-batch-norm-statistics-single-first"]
    case = Case(spec, "float32", "plain")
    alone = Discrepancy(case, Plan(Device("cpu"), "xla"), "output[1]", "numpy", "value", case.inputs(), index=(0,))
    assert "return listed(program(tf, *xs))[1]" in script_of(alone, "2.21.0")
    assert "return ys[1], [value for value in ys if" in script_of(with_all_results(alone), "2.21.0")
    assert with_all_results(replace(alone, quantity="grad[0]")) is None


@pytest.mark.parametrize(("device", "against"), [("cpu", "other/xla"), ("other", "cpu/xla"), ("other", "third/eager")])
def test_no_program_compares_devices_of_two_machines(catalog, tmp_path, device, against):
    elsewhere = {name: Device("cpu", server=name) for name in ("other", "third")}
    setting = Setting(catalog=catalog, tf="2.21.0", folder=tmp_path, elsewhere=elsewhere)
    place = {"spec": "right", "case": "right-float32-plain", "dtype": "float32", "recipe": "plain", "mode": "eager"}
    fields = {**place, "kind": "value", "quantity": "output[0]"}
    with pytest.raises(Unwritable, match=f"^its oracle {against} is not on the same machine$"):
        setting.discrepancy(Record.from_json({**fields, "device": device, "against": against}))
    for same in ("numpy", f"{device}/xla"):
        assert setting.discrepancy(Record.from_json({**fields, "device": device, "against": same})).against == same
