"""Imports go one way: down the list of rooms, and without a circle inside a room; TensorFlow stays in device
servers."""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

import pytest

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.store.run_directories import run_code

#: From top to bottom: a module may import those of its own room and of the rooms below.
ROOMS = (
    "conftest",
    "tf_opdiff",  # the command line
    *("reports", "reports.ci", "reports.pages", "reports.analysis", "reports.text", "reports.data"),
    "reports.text.verdicts",  # the table of verdicts, which also sorts data
    *("suites", "suites.programs", "suites.ops", "suites.claims"),
    *("suites.forms", "suites.derived", "suites.reference"),
    *(
        "harness.run",
        "harness.cases",
        "harness.repro",
        "harness.sweep",
        "harness.judge",
        "harness.remote",
        "harness.store",
        "harness.device",
    ),
    *("harness.spec", "harness.system", "harness.paths", "harness"),
)
#: What a checkout's `python -m harness` and `python -m reports` run: other names of the command line.
ALIASES = {"harness.__main__", "reports.__main__"}
#: Modules that only name others, for pytest's options: nothing is imported there.
NAMES_ONLY = {"harness.paths"}
#: Modules that import TensorFlow, and run in device servers only.
SERVER_ONLY = {
    *(
        f"harness.device.programs.{name}"
        for name in (
            "evidence",
            "faults",
            "gradients",
            "graph_mode",
            "modes",
            "program",
            "program_cache",
            "results",
        )
    ),
    *(
        f"harness.device.installation.{name}"
        for name in (
            "kernels",
            "measured_traits",
            "op_registry",
            "op_types",
            "option_values",
            "tensorflow_setup",
            "tensorflow_state",
        )
    ),
    *(f"harness.device.processes.{name}" for name in ("preload",)),
    *(
        f"harness.device.{name}"
        for name in (
            "public_api",
            "server",
        )
    ),
    *(f"tf_opdiff.checking.condition.{name}" for name in ("condition_server",)),
    *(f"tf_opdiff.discover.programs.{name}" for name in ("program_server",)),
    *(
        f"tf_opdiff.model.recordings.{name}"
        for name in (
            "interpreter",
            "layer_stack",
            "op_runner",
            "op_script",
            "recording",
            "replay_server",
            "tracing",
        )
    ),
    *(
        f"tf_opdiff.model.{name}"
        for name in (
            "subject",
            "subject_server",
        )
    ),
}
#: Modules that a command line names: what `python -m NAME` runs.
COMMANDS = {"pytest": "harness.run.plugin", "harness": "tf_opdiff.command_line", "reports": "reports.__main__"}


def modules(root):
    """name → file, of every module that is not a test; names as in an import, without `tf_opdiff.`."""
    files = [p for part in ("harness", "reports", "suites", "tf_opdiff") for p in (root / part).rglob("*.py")]
    files += [root / "conftest.py"]
    parts = [p.relative_to(root).with_suffix("").parts for p in files if "tests" not in p.parts]
    return {".".join(part).removesuffix(".__init__"): root.joinpath(*part).with_suffix(".py") for part in parts}


MODULES = modules(ROOT)


def room(name):
    """The room of a module: the longest entry of `ROOMS` that its name begins with."""
    return max((r for r in ROOMS if name == r or name.startswith(f"{r}.")), key=len)


@cache
def tree(path):
    return ast.parse(path.read_text())


def named(text, known):
    """The module of ours that a text names, if any: `tf_opdiff.harness.run.plugin`, or a function in it."""
    name = text.removeprefix("tf_opdiff.") if text.startswith("tf_opdiff.") else ""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


def commands(node):
    """The words behind `-m` in a list or tuple of words."""
    words = [e.value if isinstance(e, ast.Constant) else "" for e in node.elts]
    return {COMMANDS.get(after, after) for word, after in pairwise(words) if word == "-m"}


@cache
def mentions(path, top_only):
    """The (kind, text) pairs of a file that may name a module: imports, strings and words behind `-m`."""
    pairs = set()
    for node in tree(path).body if top_only else ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            pairs |= {("text", a.name) for a in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tf_opdiff"):
            pairs |= {("from", f"{node.module}.{a.name}") for a in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"[\w.]+", node.value):
            pairs.add(("text", node.value))
        elif isinstance(node, (ast.List, ast.Tuple)):
            pairs |= {("command", c) for c in commands(node)}
    return pairs


def arrows(path, known, *, top_only=False):
    """The modules of ours that a file imports: also late, also by a string, also as the command of a process."""
    meaning = {
        "text": lambda text: named(text, known),
        "from": lambda text: named(text, known) or "tf_opdiff",
        "command": lambda text: text if text in known else named(text, known),
    }
    return {meaning[kind](text) for kind, text in mentions(path, top_only)} - {""}


def wrong(known):
    """A line for each import that goes up, and one for each circle."""
    graph = {name: arrows(path, known) for name, path in known.items() if name not in {*ALIASES, *NAMES_ONLY}}
    for name, targets in sorted(graph.items()):
        for target in sorted(targets - ALIASES):
            if target in known and ROOMS.index(room(target)) < ROOMS.index(room(name)):
                yield f"{name} ({room(name)}) imports {target} ({room(target)}), which stands above it"
    try:
        TopologicalSorter({n: {t for t in ts if t != n and t in graph} for n, ts in graph.items()}).prepare()
    except CycleError as error:
        yield f"a circle: {' → '.join(error.args[1])}"


def test_every_import_goes_down():
    assert list(wrong(MODULES)) == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("from tf_opdiff.harness.judge.verdicts import verdict", "imports harness.judge.verdicts.verdict"),
        ("def late():\n    import tf_opdiff.harness.run.runner", "imports harness.run.runner"),
        ("NAME = 'tf_opdiff.reports.write'", "imports reports.write"),
        ("COMMAND = ['python', '-m', 'tf_opdiff.reports', 'x']", "imports reports"),
        ("COMMAND = ['python', '-m', 'pytest']", "imports harness.run.plugin"),
        ("from tf_opdiff.harness.spec import spec", "a circle: "),
    ],
)
def test_a_turned_arrow_is_seen(tmp_path, line, expected):
    turned = tmp_path / "recipes.py"
    turned.write_text(f"{MODULES['harness.spec.inputs.recipes'].read_text()}\n\n{line}\n")
    (said, *_) = wrong(MODULES | {"harness.spec.inputs.recipes": turned})
    assert expected in said


def doors(known):
    """The modules of the harness's rooms that other rooms may import: each folder names its own as `__all__`."""
    for name, path in known.items():
        if name.startswith("harness.") and path.name == "__init__.py":
            lists = [n.value for n in tree(path).body if isinstance(n, ast.Assign) and n.targets[0].id == "__all__"]
            yield from (f"{name}.{door.value}" for names in lists for door in names.elts)


def entered(known):
    """The modules of the harness's rooms that other rooms import, and where."""
    into = {}
    for name, path in known.items():
        for target in arrows(path, known):
            if target.startswith("harness.") and target not in {room(target), *ALIASES} and room(target) != room(name):
                into.setdefault(target, set()).add(name)
    return into


def test_rooms_of_the_harness_are_entered_by_their_doors_only():
    public, into = list(doors(MODULES)), entered(MODULES)
    assert {name: sorted(into[name]) for name in into.keys() - set(public)} == {}
    assert sorted(public) == sorted(into), "a door that nobody uses, or one that stands twice"


def test_an_import_past_the_doors_is_seen(tmp_path):
    past = tmp_path / "tiers.py"
    past.write_text(
        "from tf_opdiff.harness.store.shards.shard_arrays import read\n"
        "from tf_opdiff.harness.judge.differences import row\n"
    )
    assert entered(MODULES | {"harness.run.tiers": past}).keys() - set(doors(MODULES)) == {
        "harness.judge.differences.row"
    }


def test_every_module_has_a_room_and_every_room_a_module():
    assert {room(name) for name in MODULES} == set(ROOMS)


def test_the_code_of_a_run_has_every_room_that_decides_results():
    """Programs of findings are made after the results: `harness.repro` decides none."""
    rooms = {f"{room.replace('.', '/')}/" for room in ROOMS if room.startswith("harness.") and room != "harness.paths"}
    assert set(run_code.ROOMS) == rooms - {"harness/repro/"}


def other_names(path):
    """The imports of a file that the other tests do not see: by a second name, or relative to the file."""
    nodes = list(ast.walk(tree(path)))
    names = {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
    froms = [n for n in nodes if isinstance(n, ast.ImportFrom)]
    names |= {n.module for n in froms if not n.level}
    relative = {"." * n.level + (n.module or "") for n in froms if n.level}
    return {n for n in names if n.split(".")[0] in ("harness", "reports", "suites")} | relative


def test_nothing_is_imported_by_a_second_name():
    """`harness.spec` in addition to `tf_opdiff.harness.spec` would be another module, with other classes."""
    assert nonempty({name: other_names(path) for name, path in MODULES.items()}) == {}


@pytest.mark.parametrize(
    "line", ["import harness.spec.plan", "from ..judge.differences import row", "from . import plan"]
)
def test_a_second_name_is_seen(tmp_path, line):
    module = tmp_path / "tiers.py"
    module.write_text(f"{line}\n")
    assert other_names(module)


def nonempty(by_module):
    """The modules with something wrong, and what it is."""
    return {name: wrong for name, wrong in by_module.items() if wrong}


#: Programs for readers to paste into Python: they import TensorFlow themselves, and no module imports them.
PASTED = {name for name in MODULES if name.endswith(".paste")}


def test_no_module_imports_a_program_for_readers():
    assert not PASTED & {target for file in MODULES.values() for target in arrows(file, MODULES)}


def test_tensorflow_is_imported_in_device_servers_only():
    imported = {}
    for name in sorted(set(MODULES) - SERVER_ONLY - PASTED):
        body = tree(MODULES[name]).body
        heavy = {a.name.split(".")[0] for n in body if isinstance(n, ast.Import) for a in n.names}
        heavy |= {n.module.split(".")[0] for n in body if isinstance(n, ast.ImportFrom) and n.module}
        late = arrows(MODULES[name], MODULES, top_only=True) & SERVER_ONLY
        imported[name] = heavy & {"tensorflow", "keras"} | late
    assert nonempty(imported) == {}


#: The most that a function may have.
LINES, PARAMETERS = 50, 6
#: Modules with functions that still have more parameters; an entry goes when they are cut.
STILL = {"suites.claims.c22_center_loss.program"}
#: What the harness hands to a program, before its inputs: these do not count.
HANDED = {"tf", "session", "state"}


def faults_of_functions(name):
    """A line for each function of a module that is too long or has too many parameters."""
    functions = [n for n in ast.walk(tree(MODULES[name])) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for f in functions:
        lines = f.end_lineno - f.lineno + 1
        arguments = (*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs)
        count = len([a for a in arguments if a.arg not in {"self", "cls", *HANDED}])
        if lines > LINES:
            yield f"{f.name} has {lines} lines, at most {LINES}"
        if count > PARAMETERS and name not in STILL:
            yield f"{f.name} has {count} parameters, at most {PARAMETERS}"


def test_functions_are_short_and_take_few_parameters():
    assert nonempty({name: list(faults_of_functions(name)) for name in MODULES}) == {}
