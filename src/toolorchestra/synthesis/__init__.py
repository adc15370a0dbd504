"""What models write for training and evaluation: descriptions of tools."""
