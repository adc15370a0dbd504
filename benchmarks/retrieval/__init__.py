"""The search server under many clients at once, and what approximate indices miss."""
