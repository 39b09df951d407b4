"""Scripts: the text of a page's scripts, and the hashes by which its content policy admits them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path

from markupsafe import Markup


def script(path: Path) -> Markup:
    """A script of ours or of a library, after a check that a page can hold it.

    Raises:
      ValueError: the script would end its own element.
    """
    text = path.read_text().partition("\n//# sourceMappingURL")[0]
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError(f"{path}: expected a script without </script and <!--, which would end its element in a page")
    return Markup(text)


def enclosed(scripts: Iterable[Markup]) -> Markup:
    """Scripts as one script, in a scope of its own."""
    return Markup("(() => {\n%s\n})();") % Markup("\n").join(scripts)


def hash_of(script: str) -> str:
    """The hash of a script as a content policy writes it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
