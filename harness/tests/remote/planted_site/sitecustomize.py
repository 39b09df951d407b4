"""A second environment, planted: TensorFlow says that it is version 2.18.9."""

import sys
from importlib.machinery import PathFinder


class _Renamed(PathFinder):
    """Finds TensorFlow, and changes its version after its import."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        spec = super().find_spec(name, path, target) if name == "tensorflow" else None
        if spec is not None:
            run = spec.loader.exec_module

            def renamed(module):
                run(module)
                module.__version__ = "2.18.9"

            spec.loader.exec_module = renamed
        return spec


sys.meta_path.insert(0, _Renamed)
