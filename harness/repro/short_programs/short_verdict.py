"""Short verdict: the last lines of a short program, which compare one result with the expected one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.repro.discrepancy import Discrepancy
from tf_opdiff.harness.repro.program_text.function_source import Unwritable
from tf_opdiff.harness.repro.script_runs.script_oracle import allowed_errors
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.kinds import KIND, NO_ANSWER


@dataclass(frozen=True)
class ShortVerdict:
    """The lines that print the expected result and exit.

    Attributes:
      may_raise: whether the program catches an error as its result.
      array: whether the result is an array.
    """

    lines: list[str]
    may_raise: bool = False
    array: bool = True


def verdict(discrepancy: Discrepancy, want: Want) -> ShortVerdict:
    """The verdict of a discrepancy from the promise of its quantity.

    Raises:
      Unwritable: it takes more than a comparison of one number.
    """
    kind = discrepancy.kind
    if kind in NO_ANSWER:
        return ShortVerdict([])
    if want.raises is not None:
        wrong = f'type(got).__name__ != "{error_class(want.raises.code)}"'
        return ShortVerdict([f'print("want", "{want.raises.code}")', f"sys.exit({wrong})"], may_raise=True)
    if kind == "status":
        return ShortVerdict(['print("want", "a value")', "sys.exit(isinstance(got, Exception))"], may_raise=True)
    if want.status == "unconnected":
        return ShortVerdict(['print("want", None)', "sys.exit(got is not None)"], array=False)
    if want.status != "value" or want.value is None or want.dtype is None:
        raise Unwritable(f"a short program shows no {want.status}")
    if kind == "gradient_status" and discrepancy.index is None:
        return ShortVerdict(['print("want", "a gradient")', "sys.exit(got is None)"], array=False)
    if kind == "shape":
        return ShortVerdict([f'print("want", {want.value.shape})', f"sys.exit(got.shape != {want.value.shape})"])
    if kind == "dtype":
        return ShortVerdict([f'print("want", "{want.dtype}")', f'sys.exit(got.dtype.name != "{want.dtype}")'])
    if discrepancy.index is None or (not KIND[kind].of_results and kind != "gradient_status") or KIND[kind].itself:
        raise Unwritable(f"a short program shows no {kind}")
    return _of_element(discrepancy, want)


def error_class(code: str) -> str:
    """The class of an error in Python by its code in TensorFlow: `InvalidArgumentError` for `INVALID_ARGUMENT`."""
    return "".join(word.capitalize() for word in code.split("_")) + "Error" if code.isupper() else code


def _of_element(discrepancy: Discrepancy, want: Want) -> ShortVerdict:
    """The verdict about the element of a discrepancy."""
    index = discrepancy.index
    assert want.value is not None and want.dtype is not None and index is not None
    try:
        wide, allowed = allowed_errors(discrepancy, want)
        number = _rounded(wide[index], want.dtype)
        others = [_rounded(np.asarray(other)[index], want.dtype) for other in want.alternatives]
        atol = float(np.broadcast_to(allowed, wide.shape)[index])
    except IndexError as why:
        raise Unwritable("its promise has no such element") from why
    at = f"got[{', '.join(map(str, index))}]" if index else "got[()]"
    expected = _literal(number)
    numeric = is_float(want.dtype) or want.dtype.kind == "c"
    wants = list(dict.fromkeys([expected, *map(_literal, others)]))
    if not numeric:
        wrong = f"{at} not in ({', '.join(wants)})" if len(wants) > 1 else f"{at} != want"
    else:
        parts = "[{0}.real, {0}.imag]" if want.dtype.kind == "c" else "{}"
        came = parts.format(at) if want.dtype.kind == "c" else f"float({at})"
        near = f"np.allclose({came}, {parts}, rtol=0, atol={atol!r}, equal_nan=True)"
        wrong = (
            f"not {near.format('want')}"
            if len(wants) == 1
            else f"not any({near.format('w')} for w in ({', '.join(wants)}))"
        )
        if discrepancy.kind == "signed_zero":
            wrong = _sign(wrong, at, want.dtype, several=len(wants) > 1)
    lines = [f"want = {expected}", 'print("want", want)', f'print(f"at {list(index)}: {{{at}!s}}, {{want}}")']
    return ShortVerdict([*lines, f"sys.exit(bool({wrong}))"])


def _sign(wrong: str, at: str, dtype: np.dtype, *, several: bool) -> str:
    """The condition for a wrong sign of zero, too.

    Raises:
      Unwritable: the promise has several values.
    """
    if several:
        raise Unwritable("zeros of either sign are right")
    if dtype.kind != "c":
        return f"{wrong} or np.signbit(float({at})) != np.signbit(want)"
    parts = " or ".join(f"np.signbit({at}.{p}) != np.signbit(want.{p})" for p in ("real", "imag"))
    return f"{wrong} or {parts}"


def _rounded(number: Any, dtype: np.dtype) -> Any:
    """A promised number, as the dtype has it if it is infinite there; a float is float64 at most."""
    if not (is_float(dtype) or dtype.kind == "c"):
        return number
    near, wide = (complex, complex) if dtype.kind == "c" else (float, float)
    rounded = near(np.asarray(number).astype(dtype)[()])
    return wide(number) if np.isfinite(rounded) and rounded != 0 else rounded


def _literal(number: Any) -> str:
    """A number, or bytes, as text."""
    if isinstance(number, complex):
        return f"complex({_literal(number.real)}, {_literal(number.imag)})"
    if isinstance(number, float):
        return repr(number) if np.isfinite(number) else f'float("{number}")'
    return repr(number.item() if isinstance(number, np.generic) else number)
