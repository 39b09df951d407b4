"""Preload: what the fork server imports, so that each device server is a fork with TensorFlow already there."""

import atexit
import os
import shutil
import site
import sys
import sysconfig

_log = os.environ.get("TF_OPDIFF_LOG")
if _log:
    _file = os.open(_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(_file, 1)
    os.dup2(_file, 2)

_owner, _scratch = os.getpid(), os.environ.get("TF_OPDIFF_SCRATCH")


def _tidy() -> None:
    """Deletes the temporary files of this process and of its children, when its parent has ended, and they with it."""
    if _scratch and os.getpid() == _owner:
        shutil.rmtree(_scratch, ignore_errors=True)


atexit.register(_tidy)


def plugins() -> list[str]:
    """Where `import tensorflow` finds plugins of devices: folders, as it searches them, and `$TF_PLUGGABLE_…`.

    https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/api_template.__init__.py
    """
    schemes = [sysconfig.get_path(n, s) for s in sysconfig.get_scheme_names() for n in ("purelib", "platlib")]
    folders = dict.fromkeys([*sys.path, site.getusersitepackages(), *site.getsitepackages(), *schemes])
    plugins = [path for f in folders if f and os.path.isdir(path := os.path.join(f, "tensorflow-plugins"))]
    return plugins + list(filter(None, [os.environ.get("TF_PLUGGABLE_DEVICE_LIBRARY_PATH")]))


# With a plugin, the import asks every driver for its devices, CUDA too, and none of them works in a fork afterwards:
# each server then imports TensorFlow itself, which takes it seconds.
if _log and not plugins():  # the fork server; a test that imports this gets no TensorFlow
    import tf_opdiff.harness.device.server  # noqa: F401
