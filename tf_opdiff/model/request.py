"""Model request: the user's module, name and inputs, as every process of an analysis takes it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelRequest:
    """A program of the user.

    Attributes:
      folder: where the module is imported from.
      module: the module.
      name: the function, the model or the builder in it.
      inputs: the file of the inputs: `np.savez` with an array for each parameter, in order.
    """

    folder: str
    module: str
    name: str
    inputs: str
