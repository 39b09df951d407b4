"""Shown: whether what a script printed is the result of its record."""

from __future__ import annotations

import re

from tf_opdiff.harness.repro.script_runs.outcome import end_words, status_of
from tf_opdiff.harness.repro.short_programs.short_verdict import error_class
from tf_opdiff.harness.spec.kinds import NO_ANSWER, OF_ARRAYS
from tf_opdiff.harness.store.records.record import Record

#: A result that a script printed: an error by its code, nothing, indices and values, or an array.
_GOT = re.compile(
    r"^got +(?:(?P<code>[A-Za-z_]\w*): |(?P<nothing>None)$|(?P<sparse>\()|(?P<dtype>\w+)\[(?P<shape>[\d, ]*)\] )",
    re.MULTILINE,
)
#: The element that a script shows, of both arrays.
_ELEMENT = re.compile(r"^(?:they differ in \d+ of \d+ elements, such as|at) \[[\d, ]*\]: (.*)$", re.MULTILINE)
#: The result in an example: `input 0.5, got 1.0, want 2.0`.
_EXAMPLE = re.compile(r"(?:^|, )got (.*?),? (?:want|in|after) ")
#: A zero with a sign: records of quantities whose signs of zero are open have zeros without one.
_NEGATIVE_ZERO = re.compile(r"-0\.0(?![\d.e])")
#: The last line of a traceback.
_ERROR = re.compile(r"[A-Za-z_][\w.]*(Error|Exception)\b")
#: Kinds whose difference is that of two statuses.
_STATUSES = ("status", "error_code", "gradient_status")


def judged(exit_name: str, record: Record, output: str) -> tuple[str, str]:
    """The status of a script that ended so, and why it does not show the finding; `reproduced` needs the same result.

    `outcome.status_of` takes any difference for the discrepancy, also one with another result.
    """
    status = status_of(exit_name, record, output)
    if status == "reproduced":
        why = other_result(record, output) if exit_name == "EXIT 1" and record.kind not in NO_ANSWER else ""
        return ("not reproduced", why) if why else (status, "")
    if status == "failed":
        errors = [line for line in output.splitlines() if _ERROR.match(line)]
        return status, f"it failed with {errors[-1][:200]}" if errors else f"it ended with {end_words(exit_name)[1:-1]}"
    if exit_name == "EXIT 0":
        return status, "it shows no difference in a process of its own"
    ended = "" if exit_name == "EXIT 1" else f"it ended with {end_words(exit_name)[1:-1]}"
    return status, ended or other_result(record, output) or "it shows another difference"


def other_result(record: Record, output: str) -> str:
    """The result that a script printed, in words, if it is not that of its record; empty if it is.

    Of a script that ended with the exit status of a discrepancy. Numbers are compared as text: the same kernel gives
    the same bits. Crashes and time-outs are not printed; see `outcome.status_of`.
    """
    *_, match = [None, *_GOT.finditer(output)]
    if match is None:
        return "it printed no result"
    status = match["code"] or ("unconnected" if match["nothing"] else "sparse" if match["sparse"] else "value")
    if record.kind in _STATUSES:
        return "" if status in _statuses(record) else f"it got {status}, not {record.got}"
    if match["code"] or match["nothing"]:
        return f"it got {status}, and no array"
    if record.kind == "shape":
        shape = str(tuple(int(n) for n in re.findall(r"\d+", match["shape"] or "")))
        return "" if shape == record.got else f"it got the shape {shape}, not {record.got}"
    if record.kind == "dtype":
        return "" if match["dtype"] == record.got else f"it got {match['dtype']}, not {record.got}"
    return "" if record.kind in OF_ARRAYS else _other_element(record, output)


def _statuses(record: Record) -> tuple[str, ...]:
    """The statuses that are that of a record: the code or class of its error, `unconnected`, or some values."""
    first, _, code = record.got.partition(" ")
    if record.kind == "error_code":
        return first, error_class(first)
    if first == "error":
        return code, error_class(code)
    return (first,) if first in ("value", "sparse", "unconnected") else ("value", "sparse")


def results_of(record: Record) -> list[str]:
    """The results of the elements that a record shows: the worst one, and that of its example."""
    example = _EXAMPLE.search(record.example)
    return [record.got, *([example[1]] if example else [])]


def _other_element(record: Record, output: str) -> str:
    """The element that a script printed, if it is neither that of the record's example nor its worst one."""
    element, expected = _ELEMENT.search(output), results_of(record)
    if element is None:
        return "it printed no element that differs"
    printed = element[1]
    if record.kind != "signed_zero":  # neither side of another difference is known by the sign of its zero
        printed, expected = _NEGATIVE_ZERO.sub("0.0", printed), [_NEGATIVE_ZERO.sub("0.0", text) for text in expected]
    if any(printed.startswith(f"{text}, ") for text in expected):
        return ""
    return f"it printed {element[1]} for got and want, not {expected[-1]}"
