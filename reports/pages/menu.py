"""Menu: the links at the top of the pages of a run, and their search box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tf_opdiff.reports.data.names.op_names import FOLDER, LIST

#: The pages that every run has, by their files in its folder.
INDEX, DISCREPANCIES, OPS, SEARCH = "index.html", "discrepancies.html", f"{FOLDER}/{LIST}", "search.html"


@dataclass(frozen=True)
class Menu:
    """The menu of one page.

    Attributes:
      here: the file of the page, in the folder of the run.
      extra: the further pages of the run: their files, and words for the links.
    """

    here: str
    extra: Sequence[tuple[str, str]] = ()

    @property
    def root(self) -> str:
        """The address of the folder of the run, from this page."""
        return "../" * self.here.count("/")

    @property
    def links(self) -> list[tuple[str, str]]:
        """The file of each page, and the words of its link."""
        return [(INDEX, "Run"), (DISCREPANCIES, "Discrepancies"), (OPS, "Ops"), *self.extra]
