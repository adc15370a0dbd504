"""What `report.py` does: one file a command."""
