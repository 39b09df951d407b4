"""A suite that can't be imported: it says whether its process has started the fork server."""

from multiprocessing import forkserver

raise RuntimeError(f"fork server: {forkserver._forkserver._forkserver_pid}")
