"""Verbs: the commands that read runs and print or write what they find."""
