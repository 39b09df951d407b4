"""gather out of range."""
