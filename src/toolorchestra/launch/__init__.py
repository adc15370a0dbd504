"""Where a run lives on disk, and how it is found again."""
