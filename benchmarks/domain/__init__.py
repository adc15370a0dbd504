"""Calls of a domain's functions in the sandbox against the same in this process."""
