"""`python -m tf_opdiff VERB`: the command line."""

import sys

from tf_opdiff.command_line import run

if __name__ == "__main__":
    sys.exit(run())
