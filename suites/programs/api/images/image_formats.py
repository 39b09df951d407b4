"""Image files, written byte by byte as their formats say: the references of the decoders of `tf.image`."""

import struct
import zlib
from collections.abc import Iterable

import numpy as np


def png(pixels: np.ndarray) -> bytes:
    """A PNG of pixels of uint8 (rows, columns, 3), without filters: https://www.w3.org/TR/png-3/."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (_chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(rows)), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def bmp(pixels: np.ndarray) -> bytes:
    """A BMP of pixels of uint8 (rows, columns, 3): the last row comes first, blue before green, rows of whole words.

    https://learn.microsoft.com/en-us/windows/win32/gdi/bitmap-storage
    """
    height, width, _ = pixels.shape
    rows = b"".join(row[:, ::-1].tobytes() + bytes(-3 * width % 4) for row in pixels[::-1])
    info = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(rows), 2835, 2835, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + len(rows), 0, 0, 54) + info + rows


def gif(places: np.ndarray, palette: np.ndarray) -> bytes:
    """A GIF of one picture of places in a palette of four colours; each place follows a code that clears the table.

    https://www.w3.org/Graphics/GIF/spec-gif89a.txt
    """
    height, width = places.shape
    clear, end = 4, 5
    codes = [code for place in places.ravel() for code in (clear, int(place))]
    data = packed((code, 3) for code in (*codes, end))
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x91, 0, 0) + palette.astype(np.uint8).tobytes()
    picture = b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02"
    return head + picture + bytes([len(data)]) + data + b"\0;"


def webp(height: int, width: int, colour: Iterable[int]) -> bytes:
    """A lossless WebP of one colour: each of its five codes has one symbol, so that no pixel takes a bit.

    https://developers.google.com/speed/webp/docs/webp_lossless_bitstream_specification
    """
    red, green, blue = colour
    bits = [(0x2F, 8), (width - 1, 14), (height - 1, 14), (0, 1), (0, 3), (0, 1), (0, 1), (0, 1)]
    for symbol in (green, red, blue, 255):
        bits += [(1, 1), (0, 1), (1, 1), (symbol, 8)]
    data = packed([*bits, (1, 1), (0, 1), (0, 1), (0, 1)])
    data += bytes(len(data) % 2)
    return b"RIFF" + struct.pack("<I", 12 + len(data)) + b"WEBPVP8L" + struct.pack("<I", len(data)) + data


def jpeg(grey: int) -> bytes:
    """A JPEG of 8 × 8 pixels of one grey from 132 to 135, which is its mean alone.

    The mean's difference to 128 takes three bits. https://www.w3.org/Graphics/JPEG/itu-t81.pdf
    """

    def segment(marker: int, data: bytes) -> bytes:
        return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data

    def table(kind: int, symbol: int) -> bytes:
        return segment(0xC4, bytes([kind, 1, *[0] * 15, symbol]))

    steps = segment(0xDB, b"\0" + b"\x08" * 64)
    frame = segment(0xC0, struct.pack(">BHHBBBB", 8, 8, 8, 1, 1, 0x11, 0))
    scan = segment(0xDA, bytes([1, 1, 0, 0, 63, 0]))
    mean = bytes([(grey - 128) << 4 | 0b111])
    return b"\xff\xd8" + steps + frame + table(0, 3) + table(0x10, 0) + scan + mean + b"\xff\xd9"


def packed(numbers: Iterable[tuple[int, int]]) -> bytes:
    """Pairs (number, count of bits) as bytes; the lowest bits come first."""
    bits = [number >> i & 1 for number, count in numbers for i in range(count)]
    return np.packbits(np.array(bits, np.uint8), bitorder="little").tobytes()
