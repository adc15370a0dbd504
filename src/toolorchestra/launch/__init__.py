"""Sweeps: submitted, watched, and told as one table."""
