"""Clients of what answers over HTTP: models and searches, their faults and limits."""
