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


def joined(first: int, second: int) -> int:
    """The fingerprint of two fingerprints.

    `FingerprintCat64` of https://github.com/openxla/xla/blob/main/xla/tsl/platform/fingerprint.h
    """
    factor = 0xC6A4A7935BD1E995
    y = (second * factor) & _64
    z = ((first ^ factor ^ (_mixed(y) * factor)) * factor) & _64
    return _mixed((_mixed(z) * factor) & _64)


def _mixed(x: int) -> int:
    return x ^ (x >> 47)


#: The key with which TensorFlow begins the fingerprint of a crossing.
CROSSING_KEY = 0xDECAFCAFFE


def crossed(numbers: list[int], buckets: int) -> int:
    """The bucket of a crossing of whole numbers, which stand for themselves."""
    key = CROSSING_KEY
    for number in numbers:
        key = joined(key, number & _64)
    return key % buckets
