"""A plugin for pytest: shards and logs of any size are compressed; the run's directory is in a folder like runs/."""

from tf_opdiff.harness.run.sessions import session_hooks
from tf_opdiff.harness.store.shards import compressed

compressed.LEAST = compressed.LEAST_LOG = 0


def pytest_opdiff_report(directory):
    session_hooks.ROOT = directory.parent.parent
