"""Pages: HTML files that open offline."""
