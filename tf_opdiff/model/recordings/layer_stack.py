"""Layer stack: the layers of Keras that are at work, and the user's line. Imported in device servers only."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any

from tensorflow.python.eager import record

from tf_opdiff.model.recordings.interpreter import is_users
from tf_opdiff.model.recordings.recorded import Place

#: A line of the user's code in a message of AutoGraph.
_AUTOGRAPH = re.compile(r'File "([^"]+)", line (\d+), in \w+  \*')


class LayerStack:
    """The layers of Keras that are at work, from the outermost to the innermost.

    A custom gradient has the layers of the function that it belongs to.
    """

    def __init__(self) -> None:
        self._layers: list[Any] = []
        self._failed: list[Any] | None = None
        self._users: dict[str, bool] = {}

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Follows calls of layers, and of custom gradients, in its `with` block."""
        with _replaced(record, "record_operation", self._with_layers), self._calls_noted():
            yield

    def place(self, depth: int) -> Place:
        """The innermost layer, and the innermost line of the user's code above `depth` frames."""
        frame: Any = sys._getframe(depth)
        while frame is not None:
            if self._is_user(frame):
                return Place(_path(self._layers), frame.f_code.co_filename, frame.f_lineno)
            frame = frame.f_back
        return Place(_path(self._layers))

    def place_of(self, error: BaseException) -> Place:
        """The innermost layer that an error left, and the innermost line of the user's code in its traceback."""
        layer = _path(self._layers if self._failed is None else self._failed)
        lines = [(f.f_code.co_filename, line) for f, line in _frames(error.__traceback__) if self._is_user(f)]
        # AutoGraph runs copies of the user's functions; its message has the lines of the user's files.
        copied = [(file, int(line)) for file, line in _AUTOGRAPH.findall(str(error)) if is_users(file)]
        return Place(layer, *(copied or lines)[-1]) if copied or lines else Place(layer)

    def _is_user(self, frame: Any) -> bool:
        """Whether a frame belongs to the user's code."""
        file = frame.f_code.co_filename
        if file not in self._users:
            module = str(frame.f_globals.get("__name__"))
            self._users[file] = is_users(file) and not module.startswith("tf_opdiff.")
        return self._users[file]

    @contextlib.contextmanager
    def _calls_noted(self) -> Iterator[None]:
        if "keras" not in sys.modules:
            yield
            return
        import keras

        def noted(original: Callable[..., Any]) -> Callable[..., Any]:
            def call(layer: Any, *arguments: Any, **keywords: Any) -> Any:
                with self._within([*self._layers, layer]):
                    return original(layer, *arguments, **keywords)

            return call

        with _replaced(keras.Layer, "__call__", noted):
            yield

    @contextlib.contextmanager
    def _within(self, layers: Sequence[Any]) -> Iterator[None]:
        """Puts layers to work; notes them if an error leaves them."""
        before, self._layers = self._layers, [*layers]
        try:
            yield
        except BaseException:
            self._failed = self._layers if self._failed is None else self._failed
            raise
        finally:
            self._layers = before

    def _with_layers(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """TensorFlow's `record_operation`; the backward function that it takes has the layers of the forward one."""

        def record_operation(
            op_type: Any, output_tensors: Any, input_tensors: Any, backward_function: Any, forward_function: Any = None
        ) -> Any:
            layers = [*self._layers]

            def placed(*upstream: Any) -> Any:
                with self._within(layers):
                    return backward_function(*upstream)

            return original(op_type, output_tensors, input_tensors, placed, forward_function)

        return record_operation


@contextlib.contextmanager
def _replaced(owner: Any, name: str, change: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Iterator[None]:
    """Changes a function of a module or a class in its `with` block."""
    original = getattr(owner, name)
    setattr(owner, name, change(original))
    try:
        yield
    finally:
        setattr(owner, name, original)


def _path(layers: Sequence[Any]) -> str:
    return "/".join(dict.fromkeys(layer.name for layer in layers))


def _frames(traceback: TracebackType | None) -> Iterator[tuple[Any, int]]:
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next
