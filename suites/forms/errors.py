"""Errors: promises of errors, and of results that nothing documents, as fields of a spec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tf_opdiff.harness.spec.plan import MODES, without_modes
from tf_opdiff.harness.spec.spec import Raises, Side, Undocumented


def raises(code: str, says: str = "", **how: Any) -> Raises:
    """A reference that promises an error, whatever the inputs and the attributes; `how` are the fields of `Raises`."""
    return Raises(code, says, **how)


def undocumented(why: str, *, error: bool | Callable[..., bool] = True) -> Callable[..., Undocumented]:
    """A reference that promises no result, whatever the inputs and the attributes; see `Undocumented`.

    `error` says whether the result may be an error, or is a function of the inputs that says so.
    """
    return lambda *xs, **attrs: Undocumented(why, bool(error(*xs)) if callable(error) else error)


#: The contract of inputs whose shapes do not fit, next to a reference that promises the ValueError of shape inference.
REFUSED_BY_KERNEL: Mapping[str, Side] = {
    "*/eager": Side(
        reference=raises("INVALID_ARGUMENT"),
        why="a graph infers shapes when it is built, and Python raises; an eager op fails in its kernel",
    )
}


#: The promises, as fields of a spec, of arguments that a graph refuses when it is built, and an eager op in its kernel;
#: of arguments that the kernel alone refuses; and of those that a kernel for a CPU does not implement.
WHEN_BUILT: Mapping[str, Any] = {"reference": raises("ValueError"), "contract": REFUSED_BY_KERNEL}
IN_KERNEL: Mapping[str, Any] = {"reference": raises("INVALID_ARGUMENT")}
UNSUPPORTED: Mapping[str, Any] = {"reference": raises("UNIMPLEMENTED")}
#: The promises of attributes that kernels call out of range; of those that a graph refuses when it is built, as well.
OUT_OF_RANGE: Mapping[str, Any] = {"reference": raises("OUT_OF_RANGE")}
OUT_OF_RANGE_WHEN_BUILT: Mapping[str, Any] = {
    "reference": raises("ValueError"),
    "contract": {
        "*/eager": Side(
            reference=raises("OUT_OF_RANGE"),
            why="nothing documents the code of the error; a graph infers shapes, and an eager op fails in its kernel",
        )
    },
}
#: The promise of arguments that a kernel calls wrong, and XLA's translation of the op not implemented.
WRONG_OR_UNSUPPORTED: Mapping[str, Any] = {
    **IN_KERNEL,
    "contract": {
        "*/xla": Side(
            reference=raises("UNIMPLEMENTED"),
            why="nothing documents the code of the error; XLA's translation checks the argument by itself",
        )
    },
}


def unpromised_in(mode: str, why: str, link: str = "") -> dict[str, Any]:
    """The modes and the contract of a spec that promises no result in one mode, which is compared with the others'."""
    return {"modes": MODES, "contract": {f"*/{mode}": Side(reference=undocumented(why), why=why, link=link)}}


#: The promise of values that a kernel refuses. XLA compiles a program before it has values.
REFUSED_VALUES: Mapping[str, Any] = {
    **IN_KERNEL,
    **unpromised_in(
        "xla",
        "programs that XLA compiles raise no errors about values: their assertions do nothing",
        "https://www.tensorflow.org/xla/known_issues",
    ),
}
#: The promise of arguments that a graph refuses when it is built. Eager mode is left out: its kernel does not check
#: them, reads beyond their end, and ends the process or returns anything.
UNCHECKED_IN_EAGER: Mapping[str, Any] = {"reference": raises("ValueError"), "modes": without_modes("eager")}
#: The promise of an op that GraphDef no longer has: an error, whatever the arguments.
REMOVED: Mapping[str, Any] = {
    "reference": raises("NotImplementedError", "It has been removed in version"),
    "contract": {
        "*/eager": Side(
            reference=raises("UNIMPLEMENTED", "It has been removed in version"),
            why="a graph refuses the op when it is built, and Python raises; eager mode refuses it when it runs",
        )
    },
}
