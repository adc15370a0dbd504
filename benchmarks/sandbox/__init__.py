"""Calls of the code interpreter with and without interpreters that wait warm."""
