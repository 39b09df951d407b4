"""Attribution: the setting of TensorFlow on which a discrepancy depends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

#: In place of a variant: the discrepancy is there under each of them, so that a kernel or a lowering causes it.
NONE = "none"


@dataclass(frozen=True)
class Attribution:
    """The setting that a discrepancy depends on.

    Attributes:
      id: the id of the discrepancy, as in the run's report.
      case, device, mode, against, quantity: those of the record that stands for it.
      switch: the variant with which it vanishes; `none` if it is there under all variants that were tried; empty if its
        program did not show it, or failed under a variant.
      tried: variant → the status of the program under it; the empty name is that of the device as it is.
    """

    id: str
    case: str
    device: str
    mode: str
    against: str
    quantity: str
    switch: str
    tried: Mapping[str, str]
