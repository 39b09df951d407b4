"""Sphinx's settings. `make docs` builds the site from docs/ into site/; the site loads nothing from elsewhere."""

project = "tf-opdiff"
copyright = "the authors of tf-opdiff; Apache License 2.0"
extensions = ["myst_parser"]
exclude_patterns = ["tests", "README.md"]

html_theme = "furo"
html_title = "tf-opdiff"
html_copy_source = False
html_show_sphinx = False

# Headings get the anchors that GitHub gives them, so that a link works in both places.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]
# Every reference is checked: `make docs` treats a warning as an error.
nitpicky = True
