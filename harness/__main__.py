"""`python -m harness VERB` in a checkout: the command line."""

import sys

from tf_opdiff.command_line import run

if __name__ == "__main__":
    sys.exit(run())
