"""Promised: shows which cases ask or promise something else than before a change of the code, without TensorFlow.

    python -m bench.promised FOLDER --write [MODULE ...]
    python -m bench.promised FOLDER [MODULE ...]
    python -m bench.promised FOLDER --recordings recordings [MODULE ...]

The first command writes a file for each module of the suites: for each case, digests of everything that decides a
result. The second one computes them again, and lists the differences. The third one also gives the recordings in a
folder the new digests of programs of which only the source changed, so that nobody needs to record their cases again.
A MODULE is a module or a package of the suites, such as `ops.math.reductions.scan`; without any, all modules.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np

from bench.recorded_programs import write_again
from bench.traced import Untraceable, traced
from tf_opdiff.harness.device.repeat import self_checks_of
from tf_opdiff.harness.judge.promises.expectation import Expectation, expectation, widened
from tf_opdiff.harness.judge.promises.reference import ReferenceFault, without_tensorflow
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.judge.verdicts import claim
from tf_opdiff.harness.repro.program_text.program_digest import digest, text_of
from tf_opdiff.harness.spec.spec import Case, Spec
from tf_opdiff.harness.spec.suite_modules import modules_with_specs
from tf_opdiff.harness.spec.tolerances.by_mode import ByMode
from tf_opdiff.harness.store.formats.plain_values import encode

_SUITES = "tf_opdiff.suites"
#: The digest of a program's source, by which recordings know it.
SOURCE = "source"
#: The fields of a spec that are compared by their values.
_FIELDS = (
    *("ops", "evidence", "elementwise", "batch", "steps", "only_gradients", "unknown_shapes", "constant", "sessions"),
    *("names", "attrs", "sweepable"),
)
#: The fields of an expectation's promises that hold arrays, or arrays by family of modes.
_ARRAYS = ("value", "indices", "bound", "plain", "alternatives", "bounds", "ceiling", "ceilings")


def _hash(*parts: object) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part if isinstance(part, bytes) else repr(part).encode())
        digest.update(b"\0")
    return digest.hexdigest()


def _bytes(value: Any) -> bytes:
    """The bytes of an array, of several, or of a value by family of modes."""
    if isinstance(value, ByMode):
        return b"by mode" + _bytes((value.eager, value.xla))
    return encode(value)


def _want(want: Want) -> str:
    parts = (_bytes(getattr(want, name)) for name in _ARRAYS)
    fields = (want.status, str(want.dtype), want.shape, want.groups, _bytes(want.raises), want.unsigned_zeros)
    return _hash(*fields, *parts)


@np.errstate(all="ignore")
def _loose(case: Case, quantity: str, inputs: tuple[np.ndarray, ...]) -> str:
    """The elements at which a wide bound is allowed, and the reason; empty if there are none."""
    loose = case.spec.tolerance.loose_of(quantity)
    if loose is None:
        return ""
    relative = (loose.last, loose.dtype, loose.size, loose.roundings)
    return _hash(loose.reason, relative, _bytes(np.asarray(loose(*map(widened, inputs), **case.keywords))))


def _expected(case: Case, expected: Expectation, inputs: tuple[np.ndarray, ...]) -> Iterator[object]:
    for quantity, want in expected.wants.items():
        budgets = [case.spec.tolerance.ulps(quantity, case.dtype, mode) for mode in ("eager", "xla")]
        yield quantity, _want(want), budgets, _loose(case, quantity, inputs)
    yield _bytes(expected.upstreams), expected.state, _bytes(expected.tangents)


def _promises(case: Case, inputs: tuple[np.ndarray, ...]) -> Iterator[object]:
    """The promises of a case: by its reference, on each side of its contract, and by its claims."""
    for pattern in ("", *case.spec.contract):
        side = case.spec.contract.get(pattern)
        yield pattern, side and (side.why, side.link, side.unless)
        try:
            yield from _expected(case, expectation(case, inputs, side), inputs)
        except ReferenceFault as why:
            yield str(why).replace(case.id, "CASE")
    yield bool(case.spec.second)
    for each in case.spec.claims:
        yield _hash(*(getattr(each, name) for name in ("id", "says", "about", "denies", "ulp", "plans", "refuted")))
    for name, wants in claim.predictions(case, inputs).items():
        yield name, [(quantity, _want(want)) for quantity, want in wants.items()]


@cache
def _text(functions: tuple[Any, ...]) -> str:
    return _hash(text_of(functions))


def _program(case: Case, inputs: tuple[np.ndarray, ...]) -> str:
    try:
        with without_tensorflow():  # as a program may import a part of it
            return "calls " + _hash(traced(case, inputs))
    except Untraceable:
        return "source " + _text(tuple(filter(None, (case.spec.program, case.spec.execution.state))))


def _fields(spec: Spec) -> str:
    files = [_hash(path.read_bytes()) for path in spec.files]
    values = {**vars(spec), **vars(spec.execution), "sweepable": spec.sweepable}
    return _hash(*(values[name] for name in _FIELDS), files)


def described(module: str) -> dict[str, dict[str, str]]:
    """The digests of each case of a module, by id."""
    return of_specs(import_module(f"{_SUITES}.{module}").SPECS)


def of_specs(specs: Iterable[Spec]) -> dict[str, dict[str, str]]:
    """The digests of each case of some specs, by id."""
    cases = {}
    for spec in specs:
        fields, source = _fields(spec), digest(spec)
        for case in spec.cases():
            inputs = case.inputs()
            cases[case.id] = {
                "tier": spec.tier,
                "modes": " ".join(spec.modes),
                "fields": fields,
                "inputs": _hash(*map(_bytes, inputs), self_checks_of(spec, inputs)),
                "promises": _hash(*_promises(case, inputs)),
                "program": _program(case, inputs),
                SOURCE: source,
            }
    return cases


def _file(folder: Path, module: str) -> Path:
    return folder / f"{module}.json"


def _modules(names: list[str]) -> list[str]:
    wanted = [f"{_SUITES}.{name}" for name in names] or [_SUITES]
    return [module.removeprefix(f"{_SUITES}.") for name in wanted for module in modules_with_specs(name)]


def differences(old: Mapping[str, Mapping[str, str]], new: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """A line for each case that is new, gone, or differs, and a line if the order of the cases changed.

    The source of a program may change where its calls do not.
    """
    for case in dict.fromkeys((*old, *new)):
        if case not in new or case not in old:
            yield f"{case}: {'is gone' if case in old else 'is new'}"
        elif changed := [name for name in new[case] if new[case][name] != old[case].get(name) and name != SOURCE]:
            yield f"{case}: {', '.join(changed)}"
    if list(old) != list(new) and set(old) == set(new):
        yield "the order of the cases changed"


def in_other_words(
    old: Mapping[str, Mapping[str, str]], new: Mapping[str, Mapping[str, str]]
) -> dict[str, tuple[str, str]]:
    """The digests of a program's source before and now, by case, if they differ, but nothing else that is compared.

    If a case differs, no case that had its program before is among them.
    """
    differ = {case for case in old if {**old[case], SOURCE: ""} != {**new.get(case, {}), SOURCE: ""}}
    doubtful = {old[case][SOURCE] for case in differ}
    pairs = {case: (old[case][SOURCE], new[case][SOURCE]) for case in old if case not in differ}
    return {case: pair for case, pair in pairs.items() if pair[0] != pair[1] and pair[0] not in doubtful}


def main() -> int:
    """Writes or compares the files that the command line names; returns 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="python -m bench.promised", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the folder of the files")
    parser.add_argument("module", nargs="*", help="modules or packages of the suites; default: all")
    parser.add_argument("--write", action="store_true", help="write the files")
    parser.add_argument("--workers", type=int, default=1, help="processes; default: 1")
    parser.add_argument("--recordings", type=Path, metavar="DIR", help="the folder of recordings to write again")
    options = parser.parse_intermixed_args()
    modules, count = _modules(options.module), 0
    renamed: dict[str, tuple[str, str]] = {}
    options.folder.mkdir(parents=True, exist_ok=True)
    with Pool(options.workers, maxtasksperchild=1) as pool:  # a program may leave something behind in its process
        for module, cases in zip(modules, pool.imap(described, modules), strict=True):
            path = _file(options.folder, module)
            if options.write:
                path.write_text(json.dumps(cases, indent=0))
            else:
                old = json.loads(path.read_text()) if path.exists() else {}
                lines = [*differences(old, cases)]
                count += len(lines)
                renamed |= in_other_words(old, cases)
                sources = sum(cases[case][SOURCE] != old[case][SOURCE] for case in cases if case in old)
                kinds = Counter(line.partition(": ")[2] for line in lines)
                print(*(f"{module}: {line}" for line in lines[:20]), sep="\n", end="\n" if lines else "")
                print(
                    f"{module}: {len(cases)} cases, {dict(kinds) or 'no difference'}, {sources} other sources",
                    flush=True,
                )
    if options.recordings:
        for name, number in write_again(options.recordings, renamed).items():
            print(f"{name}: {number} cases have the new digest of their program")
    assert "tensorflow" not in sys.modules
    return int(bool(count))


if __name__ == "__main__":
    sys.exit(main())
