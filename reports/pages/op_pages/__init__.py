"""Op pages: the pages of ops, and the pictures of their errors."""
