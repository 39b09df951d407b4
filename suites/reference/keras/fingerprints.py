"""Fingerprints: FarmHash's Fingerprint64 of short texts, by which layers hash categories.

https://github.com/google/farmhash/blob/master/src/farmhash.cc, `farmhashna::HashLen0to16`.
"""

from __future__ import annotations

_K0, _K2 = 0xC3A5C85C97CB3127, 0x9AE16A3B2F90404F
_64 = 2**64 - 1


def fingerprint(text: bytes) -> int:
    """The fingerprint of a text of 1 to 3 bytes.

    Raises:
      ValueError: the text has another length.
    """
    if not 1 <= len(text) <= 3:
        raise ValueError(f"fingerprint: expected 1 to 3 bytes, got {text!r}")
    y = text[0] + (text[len(text) >> 1] << 8)
    z = len(text) + (text[-1] << 2)
    mixed = ((y * _K2) ^ (z * _K0)) & _64
    return ((mixed ^ (mixed >> 47)) * _K2) & _64
