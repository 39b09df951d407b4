"""Recordings: the ops that a program ran, with their values, and their replay."""
