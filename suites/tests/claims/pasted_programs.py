"""Runs programs for readers, each in a fork of one process that has imported TensorFlow, and prints their output.

    python -m tf_opdiff.suites.tests.claims.pasted_programs [--prompt] FILE…

With `--prompt`, each program is typed in line by line, as at a prompt: Python then has no source of its functions.

The last line on standard output is JSON: file → [the text that the program printed, its exit status].
"""

import code
import json
import os
import runpy
import sys
import tempfile
import traceback
from functools import partial


def typed_in(path):
    """Runs a program as at a prompt, without the echo of values; an error ends it with exit status 1."""

    def fail():
        raise SystemExit(1)

    prompt = code.InteractiveConsole()
    prompt.showtraceback = fail
    sys.displayhook = lambda value: None
    with open(path) as lines:
        for line in lines:
            prompt.push(line.removesuffix("\n"))
    prompt.push("")


def printed_by(path, run):
    """The output of a program, run in a child process, and the child's exit status; 0 if it ran to its end."""
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if not child:
            status = 1
            try:
                os.dup2(output.fileno(), 1)
                sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
                run(path)
                status = 0
            finally:
                sys.stdout.flush()
                if status:
                    traceback.print_exc()
                os._exit(status)
        _, status = os.waitpid(child, 0)
        output.seek(0)
        return output.read().decode(), os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    import tensorflow as tf  # noqa: F401  the children find it imported

    files = [argument for argument in sys.argv[1:] if argument != "--prompt"]
    run = typed_in if "--prompt" in sys.argv else partial(runpy.run_path, run_name="__main__")
    print(json.dumps({path: printed_by(path, run) for path in files}))
