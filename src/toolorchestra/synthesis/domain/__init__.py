"""A domain of ToolScale, written by models and tested by code (section 3.3): a stage a file."""
