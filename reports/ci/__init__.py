"""Continuous integration: JUnit, GitHub, badges, issues, the matrix of jobs and the night."""
