"""Text: records and runs in words, for terminals and Markdown."""
