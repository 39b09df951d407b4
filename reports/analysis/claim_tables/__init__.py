"""Claim tables: the verdicts on claims, with their programs and evidence."""
