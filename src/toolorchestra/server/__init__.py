"""Servers of open-weight experts, and of whatever else answers over HTTP, as jobs of a cluster."""
