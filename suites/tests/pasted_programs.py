"""Runs programs for readers, each in a fork of one process that has imported TensorFlow, and prints their output.

    python -m tf_opdiff.suites.tests.pasted_programs FILE…

The last line on standard output is JSON: file → [the text that the program printed, its exit status].
"""

import json
import os
import runpy
import sys
import tempfile
import traceback


def printed_by(path):
    """The output of a program, run in a child process, and the child's exit status; 0 if it ran to its end."""
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if not child:
            status = 1
            try:
                os.dup2(output.fileno(), 1)
                sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
                runpy.run_path(path, run_name="__main__")
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

    print(json.dumps({path: printed_by(path) for path in sys.argv[1:]}))
