"""Region: the elements of a result that an entry of known failures is about, as a condition on inputs and results."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.judge.differences.operands import INPUTS, Operands
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.spec.inputs.recipes import is_float


class RegionError(ValueError):
    """A condition that can't be read, or that is not about the elements of a result; the message is one line."""


#: The names that a condition may contain, and their meanings.
NAMES: Mapping[str, str] = {
    "x, y, z": "the element of the first, second and third input",
    "input[i]": "the element of any input, counted from 0",
    "own": "of a gradient: the element of the input that it belongs to",
    "upstream": "of a gradient: the element of the upstream of the first output that has one",
    "upstream[i]": "the element of the upstream of any output, counted from 0",
    "mistaken": "the wrong element that the spec says TensorFlow computes, rounded to the dtype of the result",
    "want": "the promised element, rounded to the dtype of the result",
    "got": "the observed element",
}
_ARITHMETIC: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_COMPARISONS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: np.isin,  # has the shape of the left side
}


def wide(value: Any) -> Any:
    """A number or an array in a dtype in which arithmetic neither wraps nor rounds the elements."""
    array = np.asarray(value)
    if array.dtype.kind in "iub":
        return array.astype(np.longdouble)
    if is_float(array.dtype):
        return array.astype(np.longdouble if array.dtype == np.longdouble else np.float64)
    return array.astype(np.complex128) if array.dtype.kind == "c" else array


def _parts(test: Callable[[np.ndarray], Any]) -> Callable[[Any], Any]:
    """A test of floats, which a complex number passes if one of its parts does, and any other element never."""

    def tested(value: Any) -> Any:
        array = np.asarray(value)
        if array.dtype.kind == "c":
            return test(array.real) | test(array.imag)
        return test(array) if is_float(array.dtype) else np.zeros(array.shape, bool)

    return tested


def _subnormal(x: np.ndarray) -> Any:
    return (x != 0) & (np.abs(x) < ml_dtypes.finfo(x.dtype).smallest_normal)


#: The functions that a condition may call, each with its meaning.
FUNCTIONS: Mapping[str, tuple[Callable[..., Any], str]] = {
    "abs": (lambda v: np.abs(wide(v)), "the magnitude"),
    "real": (lambda v: np.real(v), "the real part"),
    "imag": (lambda v: np.imag(v), "the imaginary part"),
    "round": (lambda v: np.round(wide(v)), "the nearest whole number"),
    "nan": (_parts(np.isnan), "whether the element is NaN; for complex numbers, whether a part is"),
    "inf": (_parts(np.isinf), "whether the element, or a part, is infinite"),
    "subnormal": (_parts(_subnormal), "whether the element, or a part, is subnormal in its dtype"),
    "negative": (_parts(np.signbit), "whether the sign bit of the element, or of a part, is set, as for -0"),
    "any": (np.any, "whether the condition holds for any element of the tensor, or along an axis: any(nan(x), -1)"),
    "all": (np.all, "whether the condition holds for every element of the tensor, or along an axis"),
    "size": (lambda v: np.size(v), "the number of elements of the tensor"),
}


#: The functions that take an axis as well: they are about the elements along it. The axis is left out if the result has
#: fewer axes than the tensor; else its size is 1.
ALONG_AXIS = ("any", "all")


@dataclass(frozen=True)
class Region:
    """A condition that is read; `holds` says for which elements it is true."""

    text: str
    tree: ast.expr

    @classmethod
    def parse(cls, text: str) -> Region:
        """Reads a condition; the empty text holds for every element.

        Raises:
          RegionError: the text is no expression of the names and functions that a condition may have.
        """
        return _parsed(text)

    def holds(self, got: np.ndarray, want: np.ndarray, operands: Operands) -> np.ndarray:
        """The elements for which the condition is true.

        Args:
          got: the observed array.
          want: the promised array, of the shape of `got` and rounded to its dtype.
          operands: the inputs and upstreams. One that can be broadcast to the shape of `got` is seen element by
            element; others only inside `any`, `all` and `size`.

        Returns:
          A bool array of the shape of `got`.

        Raises:
          RegionError: the condition names an array that is absent or has another shape, or does not fit its dtype.
        """
        with np.errstate(all="ignore"):
            try:
                value = _value(self.tree, {"got": got, "want": want}, operands)
                return np.array(np.broadcast_to(np.asarray(value, bool), got.shape))
            except (ValueError, TypeError, LookupError, OverflowError, ReferenceFault) as error:
                raise RegionError(f"where {self.text!r}: {' '.join(str(error).split())}") from error


@cache
def _parsed(text: str) -> Region:
    try:
        tree = ast.parse(text.strip() or "True", mode="eval").body
        _check(tree)
    except (SyntaxError, RegionError) as error:
        expected = f"of {', '.join(NAMES)} and {', '.join(f'{name}()' for name in FUNCTIONS)}"
        raise RegionError(f"where {text!r}: {error.args[0]}; expected a condition {expected}") from error
    return Region(text, tree)


def _check(node: ast.expr) -> None:
    """Refuses a node that a condition may not have."""
    match node:
        case ast.Constant(value=bool() | int() | float() | complex() | bytes()):
            return
        case ast.Name(id=name) if name in (*INPUTS, "got", "want", "own", "upstream", "mistaken"):
            return
        case ast.Subscript(value=ast.Name(id="input" | "upstream"), slice=ast.Constant(value=int())):
            return
        case ast.Call(func=ast.Name(id=name), args=[_], keywords=[]) if name in FUNCTIONS:
            pass
        case ast.Call(func=ast.Name(id=name), args=[_, axis], keywords=[]) if name in ALONG_AXIS and _is_whole(axis):
            pass
        case ast.BoolOp() | ast.UnaryOp(op=ast.Not() | ast.USub()):
            pass
        case ast.BinOp(op=op) if type(op) in _ARITHMETIC:
            pass
        case ast.Compare(ops=ops) if all(type(op) in _COMPARISONS for op in ops):
            pass
        case _:
            raise RegionError(f"{ast.unparse(node)} is not allowed")
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr) and not (isinstance(node, ast.Call) and child is node.func):
            _check(child)


def _is_whole(node: ast.expr) -> bool:
    """Whether a node is a whole number, which may be negative."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) is int


def _value(node: ast.expr, results: Mapping[str, np.ndarray], operands: Operands) -> Any:
    """The value of a checked node: an array, or a number."""

    def value_of(one: ast.expr) -> Any:
        return _value(one, results, operands)

    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            if name == "mistaken":
                return operands.named(name).astype(results["got"].dtype)
            return results[name] if name in results else operands.named(name)
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int(i))):
            return operands.numbered(name, i)
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return FUNCTIONS[name][0](value_of(argument))
        case ast.Call(func=ast.Name(id=name), args=[argument, axis]):
            array = np.asarray(value_of(argument))
            keep = array.ndim == results["got"].ndim
            return FUNCTIONS[name][0](array, axis=int(ast.literal_eval(axis)), keepdims=keep)
        case ast.BoolOp(op=op, values=values):
            joined = operator.and_ if isinstance(op, ast.And) else operator.or_
            each = [np.asarray(value_of(value), bool) for value in values]
            result = each[0]
            for one in each[1:]:
                result = joined(result, one)
            return result
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return ~np.asarray(value_of(operand), bool)
        case ast.UnaryOp(operand=operand):
            return -wide(value_of(operand))
        case ast.BinOp(op=op, left=left, right=right):
            return _ARITHMETIC[type(op)](wide(value_of(left)), wide(value_of(right)))
        case ast.Compare(left=left, ops=ops, comparators=others):
            values = [wide(value_of(one)) for one in (left, *others)]
            pairs = zip(ops, values, values[1:], strict=False)
            return np.logical_and.reduce([_COMPARISONS[type(op)](a, b) for op, a, b in pairs])
    raise AssertionError(ast.dump(node))
