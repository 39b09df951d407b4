"""Dtypes of XLA: those that XLA copies and compares, and for which other kernels are rare."""

from typing import Any

from tf_opdiff.suites.forms.part import Part, part

#: Floats of 8 bits that some kernels of a CPU copy.
FLOAT8_OF_CPU = ("float8_e4m3fn", "float8_e5m2")
#: Floats of 8 bits and integers of 4 bits that XLA alone copies.
OF_XLA = ("float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz", "int4", "uint4")
NIBBLES = OF_XLA[3:]
#: All floats of 8 bits.
SMALL_FLOATS = (*FLOAT8_OF_CPU, *OF_XLA[:3])
#: The dtypes that a CPU copies and XLA lacks.
OF_CPU = ("bytes", "int2", "uint2", "float4_e2m1fn")


def of_xla(dtypes: tuple[str, ...], **fields: Any) -> Part:
    """A part: dtypes for which XLA alone has a kernel."""
    return part("-of-xla", dtypes=dtypes, modes=("xla",), tier="full", **fields)
