"""Command line page: the verbs and options, as the code adds them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from importlib import import_module

from docs.markdown import code, table
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.run.options import CAMPAIGN, OPTIONS, Option
from tf_opdiff.verbs import VERBS


def command_line() -> Iterator[str]:
    """The targets of the Makefile, the options of pytest, and the verbs with their arguments."""
    yield from ("# Command line", "")
    yield "`python -m harness VERB` in a checkout and `python -m tf_opdiff VERB` anywhere are the same command."
    yield "For the exit statuses, see [Exit status](exit-status.md)."
    yield from ("", "## make", "")
    yield from table(["target", "does"], _targets((ROOT / "Makefile").read_text()))
    yield from ("## pytest", "")
    yield "All options of pytest work as well. These options are ours:"
    yield ""
    yield from table(["option", "meaning"], ([_flag(o), o.settings["help"]] for o in (*OPTIONS, CAMPAIGN)))
    yield "Write `--run-dir=DIR` and `--resume=RUN` with the equals sign: pytest takes a path without it for tests."
    yield ""
    for name, verb in VERBS.items():
        yield from (f"## {name}", "", verb.help, "")
        yield from _verb(name, verb.module)


def _targets(makefile: str) -> Iterator[list[str]]:
    """The targets of the Makefile that say what they do behind `##`."""
    for target, about in re.findall(r"^([a-z]+):[^#\n]*## (.*)$", makefile, re.MULTILINE):
        yield [f"`make {target}`", about[0].upper() + about[1:].rstrip(".") + "."]


def _flag(option: Option) -> str:
    value = option.settings.get("metavar") or "|".join(option.settings.get("choices", ()))
    return code(f"{option.flag} {value}" if value else option.flag)


def _verb(name: str, module: str) -> Iterator[str]:
    """The arguments of a verb, as its module adds them."""
    parser = argparse.ArgumentParser(prog=f"python -m harness {name}", add_help=False)
    import_module(module).add_options(parser)
    actions = [a for a in parser._actions if a.help != argparse.SUPPRESS]
    positional = [a for a in actions if not a.option_strings]
    words = [f"{a.metavar} …" if a.nargs in ("+", "*") else f"[{a.metavar}]" if a.nargs == "?" else f"{a.metavar}"
             for a in positional]  # fmt: skip
    options = " [OPTIONS]" if len(actions) > len(positional) else ""
    yield from ("```", " ".join([parser.prog, *words]) + options, "```", "")
    shared = {option.flag for option in OPTIONS} if name == "campaign" else set()
    rows = []
    for action in actions:
        if shared & set(action.option_strings):
            continue
        flag = ", ".join(action.option_strings) or str(action.metavar)
        value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else "")
        rows.append([code(f"{flag} {value}" if action.option_strings and value else flag), action.help or ""])
    if rows:
        yield from table(["argument", "meaning"], rows)
    if shared:
        yield from ("All options of pytest that stand [above](#pytest) work as well.", "")
    if parser.epilog:
        yield from (parser.epilog, "")
