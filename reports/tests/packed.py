"""Packed: the page of an op with the part that its script unpacks in a browser."""

from __future__ import annotations

import base64
import gzip
import re


def whole(page: str) -> str:
    """The HTML of a page as its script draws it; any other page stays as it is."""
    data = re.search(r'id="data">(\S+)</script>', page)
    parts = re.fullmatch(r'(.*)<section id="packed">.*</section>\n(</main>.*)', page, re.DOTALL)
    if data is None or parts is None:
        return page
    return parts[1] + gzip.decompress(base64.b64decode(data[1])).decode() + parts[2].replace(data[1], "")
