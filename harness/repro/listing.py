"""Listing: claims and the source of their programs, as pages show them, and hashes by which a verdict is kept."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import cache, partial
from inspect import signature
from typing import Any, NotRequired, TypedDict

from tf_opdiff.harness.device.observation import raw
from tf_opdiff.harness.judge.verdicts.claim import predicting
from tf_opdiff.harness.paths import SUITES
from tf_opdiff.harness.repro.program_text.function_source import outside_names, source_of
from tf_opdiff.harness.repro.program_text.program_digest import digest, hashed
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.spec import Claim, Spec, Topic


class TopicData(TypedDict):
    """A topic in claims.json; see `harness.spec.spec.Topic`."""

    id: str
    title: str
    program: str
    origin: str
    link: str
    says: NotRequired[str]
    restated: NotRequired[str]
    post: NotRequired[str]
    today: NotRequired[str]
    instead: NotRequired[str]
    paste: NotRequired[str]


class ClaimData(TypedDict):
    """One claim about one spec in claims.json; see `claims_data`."""

    id: str
    letter: str
    says: str
    denies: bool
    plans: list[str]
    instead: str
    topic: TopicData
    refuted: dict[str, str]
    spec: str
    modes: list[str]
    listing: str
    files: dict[str, str]
    instead_listing: str
    parameters: NotRequired[list[str]]
    words: NotRequired[dict[str, str]]
    cases: NotRequired[int]
    program: NotRequired[str]
    inputs: NotRequired[str]
    prediction: NotRequired[str]


def claims_data(catalog: Catalog, *, hashes: bool = True) -> list[dict[str, Any]]:
    """Every claim of the catalog as plain data, with its program and the program to write instead.

    `cases` is the program's number of cases, `parameters` the names of its inputs. `program`, `inputs` and `prediction`
    are hashes: a verdict of another run is about this claim if they are the same. They take a second; without `hashes`
    they are left out.

    Raises:
      LookupError: a claim names a spec that does not exist, or an id stands for two sentences.
    """
    specs = catalog.specs
    claims: list[dict[str, Any]] = []
    says: dict[str, str] = {}
    for spec in specs.values():
        of_spec = _hashes_of_spec(spec) if hashes and spec.claims else {}
        for claim in spec.claims:
            if says.setdefault(claim.id, claim.says) != claim.says:
                raise LookupError(f"spec {spec.name}: claim {claim.id} says {claim.says!r}; before, {says[claim.id]!r}")
            if claim.instead and claim.instead not in specs:
                raise LookupError(f"spec {spec.name}: claim {claim.id}: there is no spec {claim.instead!r}")
            claims.append(
                {
                    **{k: getattr(claim, k) for k in ("id", "letter", "says", "denies", "plans", "instead")},
                    "topic": _topic(claim.topic),
                    "refuted": dict(claim.refuted),
                    "words": dict(claim.words),
                    "parameters": _parameters(spec),
                    "spec": spec.name,
                    "modes": spec.modes,
                    "listing": listing(spec),
                    "files": {path.name: path.read_text() for path in spec.files},
                    "instead_listing": listing(specs[claim.instead]) if claim.instead else "",
                    "cases": len(spec.cases()),
                    **({**of_spec, "prediction": _hash_of_prediction(spec, claim)} if hashes else {}),
                }
            )
    return sorted(claims, key=lambda claim: claim["id"])


def _topic(topic: Topic) -> dict[str, str]:
    """A topic as plain data; `paste` is the text of the file."""
    return asdict(topic) | {"paste": topic.paste.read_text() if topic.paste else ""}


def _parameters(spec: Spec) -> list[str]:
    """The names of a program's inputs: its parameters without those that the harness hands over."""
    positional = [p for p in signature(spec.program).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    return [p.name for p in positional][2 if spec.execution.state or spec.execution.sessions else 1 :]


def _hashes_of_spec(spec: Spec) -> dict[str, str]:
    """Hashes of a spec's program and of the inputs of all its cases: all its claims share them."""
    arrays = ((case.id, x.shape, *raw(x)) for case in spec.cases() for x in case.inputs())
    return {"program": digest(spec), "inputs": hashed(*map(repr, arrays))}


def _hash_of_prediction(spec: Spec, claim: Claim) -> str:
    """A hash of a claim's sentence and of the functions that predict its result."""
    predicted = predicting(spec, claim)
    functions = [text for f in (predicted.reference, predicted.derivatives.vjp) if f for text in _texts(f, set())]
    says = repr((claim.says, claim.about, claim.denies, claim.plans, predicted.tolerance.ulp))
    return hashed(*functions, says)


def _texts(value: Any, seen: set[int]) -> Iterator[str]:
    """Texts that identify a value: of a function, its source with the functions, modules and values that it uses."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if inspect.ismodule(value):
        yield inspect.getsource(value) if value.__name__.startswith(SUITES) else value.__name__
    elif inspect.isfunction(value):
        yield source_of(value)
        for name, other in outside_names(value):
            yield name
            yield from _texts(other, seen)
    elif isinstance(value, partial):
        yield repr((value.args, value.keywords))
        yield from _texts(value.func, seen)
    else:
        yield value.__name__ if hasattr(value, "__name__") else repr(value)


def listing(spec: Spec) -> str:
    """The source of a spec's program: the functions of its package that it needs, its state, and itself."""
    parts: dict[str, None] = {}
    for function in filter(None, (spec.execution.state, spec.program)):
        parts.update(dict.fromkeys(map(_source, _needed(function, set()))))
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


_source = cache(inspect.getsource)  # programs share functions


def _needed(function: Any, seen: set[str]) -> Iterator[Callable[..., Any]]:
    """The functions of its own package that a function names, theirs before, and the function itself."""
    seen.add(function.__name__)
    for name, other in outside_names(function):
        if inspect.isfunction(other) and _package(other) == _package(function) and name not in seen:
            yield from _needed(other, seen)
    yield function


def _package(function: Any) -> str:
    return function.__module__.rpartition(".")[0]
