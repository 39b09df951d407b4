"""Toy: `python -m tf_opdiff.harness.tests.toy FOLDER` installs the plugin of the device TOY in FOLDER, a folder of
packages.

Its name has to hold `site-packages`, and it has to be on PYTHONPATH, for TensorFlow to find the plugin there, as it
finds those that vendors' packages install.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tf_opdiff.harness.spec.spec import Unavailable
from tf_opdiff.suites.forms.programs.compiled_library import OPTIONS, library, run

SOURCE = Path(__file__).with_name("toy.cc")


def install(folder: Path) -> Path:
    """Builds the plugin, unless that has been done, and copies it to where TensorFlow looks for it.

    Raises:
      ValueError: TensorFlow would not look there.
      Unavailable: there is no C++ compiler.
      RuntimeError: the compiler fails.
    """
    if "site-packages" not in str(folder):
        raise ValueError(f"{folder}: expected a folder whose path holds site-packages, such as /tmp/toy/site-packages")
    import tensorflow as tf

    def make(made: Path, compiler: str, headers: list[str], linked: list[str]) -> None:
        run([compiler, *OPTIONS, *headers, "-shared", str(SOURCE), *linked, "-o", str(made)])

    built = library(tf, "toy", [SOURCE], make, [OPTIONS])
    plugins = folder / "tensorflow-plugins"
    plugins.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(built, plugins / "libtoy.so"))


if __name__ == "__main__":
    try:
        if len(sys.argv) != 2:
            raise ValueError("python -m tf_opdiff.harness.tests.toy: expected one FOLDER")
        print(install(Path(sys.argv[1]).resolve()))
    except (ValueError, OSError, RuntimeError, Unavailable) as error:
        sys.exit(str(error))
