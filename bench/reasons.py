"""Whether the numbers in the texts of known failures are those that TensorFlow gives.

`python -m bench.reasons [--cause ID]…` evaluates the expression of each pair in the field `numbers` of the causes, in
processes of their own, and lists the pairs whose texts differ, with the processor. It ends with 1 if there are some.

The first number in a text is compared, with as many digits as it has there: `4,629` has to be 4629, `0.50` a number
from 0.495 to 0.505, and `-2.8e-30` one from -2.85e-30 to -2.75e-30. Before ` %`, a number counts as hundredths. A text
without a number, such as `NaN`, `-inf`, `False` or `SIGSEGV`, has to be the value itself. An expression can give a
text, and one that ends its process gives the name of the signal, or `hang` after a minute.

Expressions are Python and have these names:

tf, np, mp       TensorFlow, NumPy, and mpmath with 60 digits, for right values.
raw              `tf.raw_ops`.
f16, bf16, f32, f64, c64, c128, i32, i64
                 make a tensor of this dtype.
grad(f, *xs)     the gradient of f(*xs) by each x, with an upstream of ones; of a single x it is no list.
function(f)      f, compiled by tf.function.
xla(f)           f, compiled by XLA.
graph(f)         f in a graph of TensorFlow 1, whose arguments are placeholders.
ulp(got, want)   the largest distance of elements in ULPs of the dtype of `got` at `want`, which can be numbers of mp.
rel(got, want)   the largest distance of elements as a part of |want|.
error(f)         the name of the class of the error that f() raises; empty without one.
digits(x, n)     x, rounded to n digits: for `430`, of which two digits count.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import ml_dtypes
import mpmath
import numpy as np

from tf_opdiff.harness.judge.known_failures.known_files import files
from tf_opdiff.harness.paths import KNOWN, ROOT
from tf_opdiff.harness.system.processor import described, processor

#: Seconds after which an expression counts as one that does not return.
LIMIT = 60
#: The beginning of each line that holds a value; a kernel may print other lines.
_MARK = "value of an expression: "
_NUMBER = re.compile(r"-?\d[\d,]*(\.\d+)?(e-?\d+)?")


def agrees(text: str, value: float | str) -> bool:
    """Whether a value, printed with the digits of the text, is the text's first number; or is the text."""
    number = _NUMBER.search(text)
    if number is None or isinstance(value, str):
        return str(value).lower() == text.lower()
    digits = number[0].replace(",", "")
    hundredths = text[number.end() :].startswith(" %")
    mantissa, _, power = digits.partition("e")
    places = len(mantissa.partition(".")[2])
    printed = f"{value * 100 if hundredths else value:.{places}{'e' if power else 'f'}}"
    same_zero = value != 0 or math.copysign(1, value) == math.copysign(1, float(digits))
    return float(printed) == float(digits) and same_zero


def evaluated(expressions: Iterable[str]) -> list[float | str]:
    """The value of each expression: a number, or a text such as `NaN`, `SIGSEGV` or the message of an error."""
    left = list(expressions)
    values: list[float | str] = []
    quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    while left:
        command = [sys.executable, "-m", "bench.reasons", "--child"]
        child = subprocess.run(
            command, input=json.dumps(left), cwd=ROOT, env=quiet, check=False, capture_output=True, text=True
        )
        new = [json.loads(line.removeprefix(_MARK)) for line in child.stdout.splitlines() if line.startswith(_MARK)]
        if child.returncode > 0 or (child.returncode == 0 and len(new) != len(left)):
            raise RuntimeError(f"the child ended with {child.returncode}: {child.stderr[-2000:]}")
        if child.returncode:
            name = signal.Signals(-child.returncode).name
            new.append("hang" if name == "SIGALRM" else name)
        values += new
        left = left[len(new) :]
    return values


def _serve() -> None:
    """Evaluates the expressions that stdin has, and prints a line for each as soon as it is known."""
    expressions = json.load(sys.stdin)
    names = _names()
    for expression in expressions:
        signal.alarm(LIMIT)
        try:
            value = _plain(eval(expression, dict(names)))
        except Exception as error:  # noqa: BLE001 - the message is the value
            value = f"{type(error).__name__}: {str(error)[:200]}"
        print(f"{_MARK}{json.dumps(value)}", flush=True)
    signal.alarm(0)


def _array(value: Any) -> np.ndarray:
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)  # NumPy refuses a bfloat16 scalar itself


def _plain(value: Any) -> float | str:
    if isinstance(value, str | mpmath.mpf):
        return value if isinstance(value, str) else float(value)
    array = _array(value)
    if array.size != 1:
        raise ValueError(f"expected one number, and the shape is {array.shape}")
    number = array.reshape(-1)[0]
    if array.dtype.kind == "c":
        raise ValueError(f"expected a real number or a text, and the value is {number}")
    if array.dtype.kind == "b":
        return str(number)
    if array.dtype.kind in "iu":
        return int(number)
    return float(number) if np.isfinite(number) else {"nan": "NaN"}.get(str(number), str(number))


def _names() -> dict[str, Any]:
    """The names that expressions have; see the docstring of the module."""
    import tensorflow as tf

    mpmath.mp.dps = 60

    def constant(dtype: str) -> Callable[..., Any]:
        return lambda *x: tf.constant(np.asarray(x[0] if len(x) == 1 else x), dtype)

    def grad(f: Callable[..., Any], *xs: Any) -> Any:
        xs = tuple(tf.convert_to_tensor(x) for x in xs)
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = f(*xs)
        found = tape.gradient(y, xs)
        return found[0] if len(xs) == 1 else found

    def graph(f: Callable[..., Any]) -> Callable[..., Any]:
        def run(*xs: Any) -> Any:
            xs = tuple(_array(x) for x in xs)
            with tf.Graph().as_default(), tf.compat.v1.Session() as session:
                places = [tf.compat.v1.placeholder(x.dtype, x.shape) for x in xs]
                return session.run(f(*places), dict(zip(places, xs, strict=True)))

        return run

    short = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
    short |= {"c64": "complex64", "c128": "complex128", "i32": "int32", "i64": "int64"}
    return {
        **{name: constant(dtype) for name, dtype in short.items()},
        "tf": tf,
        "np": np,
        "mp": mpmath.mp,
        "raw": tf.raw_ops,
        "grad": grad,
        "graph": graph,
        "function": tf.function,
        "xla": lambda f: tf.function(f, jit_compile=True),
        "ulp": _ulp,
        "rel": _rel,
        "error": _error,
        "digits": lambda x, n: float(f"{float(x):.{n - 1}e}"),
    }


def _pairs(got: Any, want: Any) -> list[tuple[Any, Any]]:
    gots, wants = _array(got), _array(want)
    wide = np.complex128 if gots.dtype.kind == "c" else np.float64
    gots, wants = np.broadcast_arrays(gots.astype(wide), wants)
    convert = mpmath.mpc if wide == np.complex128 else mpmath.mpf
    return [(convert(a), convert(b)) for a, b in zip(gots.ravel(), wants.ravel(), strict=True)]


def _ulp(got: Any, want: Any) -> float:
    limits = ml_dtypes.finfo(np.abs(_array(got)).dtype)
    smallest = mpmath.mpf(float(limits.smallest_normal))

    def unit(x: Any) -> Any:
        return mpmath.ldexp(1, int(mpmath.floor(mpmath.log(max(abs(x), smallest), 2))) - int(limits.nmant))

    return float(max(abs(a - b) / unit(b) for a, b in _pairs(got, want)))


def _rel(got: Any, want: Any) -> float:
    return float(max(abs(a - b) / abs(b) for a, b in _pairs(got, want)))


def _error(f: Callable[[], Any]) -> str:
    try:
        f()
    except Exception as error:  # noqa: BLE001 - its class is what is asked for
        return type(error).__name__
    return ""


def disagreements(causes: Iterable[dict[str, Any]]) -> list[str]:
    """A line for each number of the causes that is not the value of its expression."""
    numbers = [(cause["id"], *pair) for cause in causes for pair in cause.get("numbers", ())]
    values = evaluated(expression for *_, expression in numbers)
    checked = zip(numbers, values, strict=True)
    return [f"{id}: {text}, and {what} gives {got}" for (id, text, what), got in checked if not agrees(text, got)]


def main() -> int:
    """Checks the causes that the command line names, or all; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.reasons", description=__doc__.split("\n\n")[0])
    parser.add_argument("--cause", action="append", metavar="ID", help="a cause; default: all that have numbers")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        _serve()
        return 0
    causes = [
        {"id": id, **fields}
        for path in files(Path(ROOT, KNOWN)).values()
        for id, fields in tomllib.loads(path.read_text("utf-8")).get("cause", {}).items()
    ]
    if unknown := set(options.cause or ()) - {cause["id"] for cause in causes}:
        parser.error(f"no cause {min(unknown)!r}")
    chosen = [cause for cause in causes if not options.cause or cause["id"] in options.cause]
    wrong = disagreements(chosen)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    count = sum(len(cause.get("numbers", ())) for cause in chosen)
    print(f"{count - len(wrong)} of {count} numbers agree; {described(processor())}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
