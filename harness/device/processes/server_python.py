"""Server Python: the interpreter that runs device servers. By default it is this process's own.

Another one can run in an emulator of another processor: the processor that TensorFlow sees is then that one, while
references are computed and results judged here, at full speed.
"""

from __future__ import annotations

import os
import sys
from multiprocessing import spawn
from typing import Any

from tf_opdiff.harness.paths import ROOT

#: The environment variable that names another interpreter.
VARIABLE = "TF_OPDIFF_PYTHON"


def other_python() -> str:
    """The path of another interpreter for device servers; empty if this process's own runs them."""
    return os.environ.get(VARIABLE, "")


def import_path() -> dict[str, str]:
    """The environment in which another interpreter finds the modules that this process imports from outside packages.

    It is empty for this process's own interpreter, to which multiprocessing hands `sys.path`.
    """
    if not other_python():
        return {}
    installed = tuple(os.path.join(prefix, "") for prefix in {sys.prefix, sys.base_prefix})
    folders = [str(ROOT), *(folder for folder in sys.path if folder and not folder.startswith(installed))]
    return {"PYTHONPATH": os.pathsep.join(dict.fromkeys([*folders, *filter(None, [os.environ.get("PYTHONPATH")])]))}


def use(python: str) -> None:
    """Makes multiprocessing start processes by another interpreter, without this one's path of imports.

    Raises:
      OSError: there is no such program.
    """
    if not os.access(python, os.X_OK) or os.path.isdir(python):
        raise OSError(f"{VARIABLE}: expected the path of a Python, got {python}")
    spawn.set_executable(python)
    module: Any = spawn
    module.get_preparation_data = _without_path


def _without_path(name: str) -> dict[str, Any]:
    return {key: value for key, value in _preparation_data(name).items() if key != "sys_path"}


_preparation_data = spawn.get_preparation_data
