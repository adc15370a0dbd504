"""Measurements of speed and memory, each a ratio of two things measured in one run."""
