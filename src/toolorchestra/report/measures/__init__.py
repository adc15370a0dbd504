"""What an evaluation is measured by beside the main table: one measure a file."""
