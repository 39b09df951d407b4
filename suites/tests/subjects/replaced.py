"""TensorFlow, or a module or an object of it, with other functions in the place of some."""


class Replaced:
    """A module or an object, with other attributes in the place of some, by their paths; a path may have dots."""

    def __init__(self, real, others, path=""):
        self._real, self._others, self._path = real, others, path

    def __getattr__(self, name):
        path = f"{self._path}{name}"
        if path in self._others:
            return self._others[path]
        value = getattr(self._real, name)
        inside = any(other.startswith(f"{path}.") for other in self._others)
        return Replaced(value, self._others, f"{path}.") if inside else value
