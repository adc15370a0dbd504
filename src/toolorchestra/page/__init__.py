"""Runs as one HTML file: `python report.py RUN…`."""
