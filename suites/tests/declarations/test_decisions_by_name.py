"""No name decides: no table outside a declaration is keyed by the names of ops, and no code branches on a name."""

import ast
import json

import pytest

from tf_opdiff.harness.paths import RAW_OPS, ROOT
from tf_opdiff.harness.spec.lists.raw_ops import REGISTRY
from tf_opdiff.suites.derived.op_types import FILE

#: Folders whose code handles every op alike. Programs and claims are about single ops.
FOLDERS = ("harness", "reports", "suites/derived", "suites/forms", "suites/ops", "suites/reference", "tf_opdiff")
#: Code that looks at the graphs of TensorFlow, in which the types of nodes say what they are.
OF_GRAPHS = ("harness/device", "tf_opdiff/model")
OPS = {op for file in (FILE, RAW_OPS / REGISTRY) for op in json.loads(file.read_text("utf-8"))["ops"]}
#: The attributes of specs, declarations and OpDefs that name them; those of a dtype name no op.
NAMES = ("name", "op", "ops", "raw")
#: The methods that read a part of a text, and the functions that look for a pattern in it.
READING = ("startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split", "find")
PATTERNS = ("re.search", "re.match", "re.fullmatch", "fnmatch", "fnmatchcase")


def texts(node):
    """The literal texts of an expression: its own, or those of a literal collection."""
    each = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]
    return {e.value for e in each if isinstance(e, ast.Constant) and isinstance(e.value, str) and e.value}


def named(node):
    """Whether an expression is the name of a spec, a declaration or an OpDef, such as `spec.name`."""
    if not isinstance(node, ast.Attribute) or node.attr not in NAMES:
        return False
    owner = ast.unparse(node.value).rpartition(".")[2]
    return owner in ("spec", "op", "main", "twin", "override", "subject", "declaration")


def of_name(node):
    """Whether an expression is such a name, or a text made of one: `spec.name.partition("-")[0]`, `str(op.raw)`."""
    return any(map(named, ast.walk(node)))


def decisions(text):
    """A line for each decision by a name in a module."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            literal = set().union(*map(texts, sides))
            if literal & OPS or (literal and any(map(of_name, sides))):
                yield f"{node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.Dict) and (keys := set().union(*(texts(k) for k in node.keys if k)) & OPS):
            yield f"{node.lineno}: a table keyed by {', '.join(sorted(keys))}"
        elif isinstance(node, ast.Attribute) and node.attr in READING and named(node.value):
            yield f"{node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.Match) and of_name(node.subject):
            yield f"{node.lineno}: match {ast.unparse(node.subject)}"
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in PATTERNS and any(map(of_name, node.args)):
            yield f"{node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_name_decides(folder):
    paths = [p for p in sorted((ROOT / folder).rglob("*.py")) if "tests" not in p.relative_to(ROOT).parts]
    assert paths
    found = {}
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(OF_GRAPHS) and (lines := list(decisions(path.read_text("utf-8")))):
            found[name] = lines
    assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        "if spec.name == 'cond': pass",
        "wide = case.spec.name in ('exp', 'log')",
        "wide = op.raw in {'Exp', 'Log'}",
        "wide = spec.name.endswith('-second-order')",
        "wide = kind == 'AddV2'",
        "BUDGETS = {'Exp': 2, 'Log': 3}",
        "wide = spec.name.partition('-')[0] == 'exp'",
        "wide = spec.name[:3] in ('exp', 'log')",
        "name = twin.name.removesuffix('-other')",
        "wide = re.search('-second-order$', spec.name)",
        "match op.raw:\n    case 'Exp': pass",
    ],
)
def test_a_decision_by_a_name_is_seen(text):
    assert list(decisions(text))
