"""Sphinx settings. `make docs` builds the site from the documents of this repository; it loads nothing from elsewhere.

The source folder is the root of the repository, so that documents there, such as CONTRIBUTING.md, are pages as well.
"""

from pathlib import Path
from typing import Any

project = "tf-opdiff"
copyright = "the authors of tf-opdiff; Apache License 2.0"
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = ["docs/**", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "NOTICE.md"]
exclude_patterns = [".*", "runs", "night", "site"]

html_theme = "furo"
html_title = "tf-opdiff"
html_copy_source = False
html_show_sphinx = False
html_extra_path = ["site"]  # index.html, which leads to docs/index.html

# Headings get the anchors that GitHub gives them, so that a link works in both places.
myst_heading_anchors = 4
# Every reference is checked: `make docs` treats a warning as an error.
nitpicky = True


def setup(app: Any) -> None:
    """Writes the page of the atlas, which is not stored, and its pictures in the same folder."""

    def write_page(app: Any) -> None:
        from tf_opdiff.reports.data.figures import atlas, searched
        from tf_opdiff.reports.text.atlases.atlas import document
        from tf_opdiff.reports.verbs.atlas import DOCUMENT, FOLDER, PUBLISHED

        DOCUMENT.write_text(document(atlas.load(FOLDER), PUBLISHED, searched.load(FOLDER)))

    def write_pictures(app: Any, failed: Exception | None) -> None:
        from tf_opdiff.reports.data.figures import atlas
        from tf_opdiff.reports.pages.op_pages import atlas_page
        from tf_opdiff.reports.verbs.atlas import FOLDER

        if failed is None:
            Path(app.outdir, "docs", "atlas-pictures.html").write_text(atlas_page.html(atlas.load(FOLDER)))

    app.connect("builder-inited", write_page)
    app.connect("build-finished", write_pictures)
