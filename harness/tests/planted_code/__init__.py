"""Suites of two modules, one of which imports a third one."""
